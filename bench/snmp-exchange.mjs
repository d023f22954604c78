// snmp-exchange.mjs [--count N] [--window N] [--rounds N]
//
// What our request engine costs per exchange, against a bare loop on one socket with a ready-made request that
// believes every answer. Both ask one responder on loopback (a process of its own with a canned answer) for the
// system group; the figure to look at is the ratio. Needs a build (`npm run build`).
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { parseArgs } from 'node:util';
import { systemClock } from '@rollcall/shared/clock';
import { Secret } from '@rollcall/shared/secret';
import { SYSTEM_OIDS } from '@rollcall/snmp/discover';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { Query } from '@rollcall/snmp/engine/query';
import { decodeCommunityMessage, encodeCommunityMessage } from '@rollcall/snmp/message/message';

const ADDRESS = '127.0.0.1';
const credential = { id: 'bench', version: 'v2c', community: new Secret('public') };

if (process.send) respond();
else await measure();

/** Answers everything with the system group of one device; only the request id is the asker's. */
function respond() {
  const query = new Query(credential, { type: 'get', oids: SYSTEM_OIDS });
  const idIn = offsetOfId(query.message(0x7a7a7a7a));
  const texts = { 1: 'Linux bench 6.1.0-40-amd64 x86_64', 4: 'noc@example.net', 5: 'bench', 6: 'Rack 7' };
  const varbinds = SYSTEM_OIDS.map((oid, i) => {
    const text = texts[i + 1];
    if (text) return { oid, type: 'octets', value: Buffer.from(text) };
    return i === 1
      ? { oid, type: 'oid', value: '1.3.6.1.4.1.8072.3.2.10' }
      : { oid, type: 'timeticks', value: 72 };
  });
  const answer = encodeCommunityMessage({
    version: 'v2c',
    community: Buffer.from('public'),
    pdu: { type: 'response', requestId: 0x7a7a7a7a, errorStatus: 0, errorIndex: 0, varbinds },
  });
  const idOut = offsetOfId(answer);
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, found) => found(null, host, 4) });
  socket.on('message', (bytes, from) => {
    const copy = Buffer.from(answer);
    bytes.copy(copy, idOut, idIn, idIn + 4);
    socket.send(copy, 0, copy.length, from.port, from.address);
  });
  socket.bind(0, ADDRESS, () => {
    socket.setRecvBufferSize(8 << 20);
    process.send(socket.address().port);
  });
  process.on('disconnect', () => process.exit());
}

function offsetOfId(message) {
  return message.indexOf(Buffer.of(2, 4, 0x7a, 0x7a, 0x7a, 0x7a)) + 2;
}

async function measure() {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '50000' },
      window: { type: 'string', default: '256' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const [count, window, rounds] = [values.count, values.window, values.rounds].map(Number);
  const responder = fork(new URL(import.meta.url));
  const port = await new Promise((resolve) => responder.once('message', resolve));
  const results = { bare: [], engine: [] };
  for (let round = 0; round < rounds; round++) {
    results.bare.push(await timed(() => bareLoop(port, count, window)));
    results.engine.push(await timed(() => engineLoop(port, count, window)));
  }
  responder.disconnect();
  const bare = median(results.bare);
  const engine = median(results.engine);
  for (const [name, { seconds, cpu }] of [
    ['bare loop', bare],
    ['engine', engine],
  ]) {
    const each = ((cpu / count) * 1e6).toFixed(1);
    console.log(`${name.padEnd(10)} ${Math.round(count / seconds)} exchanges/s  ${each} µs of CPU each`);
  }
  console.log(
    `ratio      time ${(engine.seconds / bare.seconds).toFixed(2)}  CPU ${(engine.cpu / bare.cpu).toFixed(2)}`,
  );
}

async function timed(work) {
  const start = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
}

function median(list) {
  return list.toSorted((a, b) => a.seconds - b.seconds)[list.length >> 1];
}

/** A window of requests on one socket; every answer is decoded and nothing is checked. */
async function bareLoop(port, count, window) {
  const request = new Query(credential, { type: 'get', oids: SYSTEM_OIDS }).message(0x7a7a7a7a);
  const at = offsetOfId(request);
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, found) => found(null, host, 4) });
  await new Promise((resolve) => socket.bind(0, resolve));
  socket.setRecvBufferSize(8 << 20);
  let sent = 0;
  let answered = 0;
  const send = () => {
    const bytes = Buffer.from(request);
    bytes.writeUInt32BE(0x0100_0000 + sent++, at);
    socket.send(bytes, 0, bytes.length, port, ADDRESS);
  };
  await new Promise((resolve) => {
    socket.on('message', (bytes) => {
      decodeCommunityMessage(bytes);
      if (++answered === count) resolve();
      else if (sent < count) send();
    });
    while (sent < Math.min(window, count)) send();
  });
  socket.close();
}

async function engineLoop(port, count, window) {
  const engine = await SnmpEngine.open({ clock: systemClock });
  const query = new Query(credential, { type: 'get', oids: SYSTEM_OIDS });
  const target = { address: ADDRESS, port };
  let left = count;
  await Promise.all(
    Array.from({ length: window }, async () => {
      while (left-- > 0) {
        const answer = await engine.ask(target, query, { timeoutMs: 1000, tries: 3 });
        if (!answer.ok) throw new Error(answer.code);
      }
    }),
  );
  await engine.close();
}
