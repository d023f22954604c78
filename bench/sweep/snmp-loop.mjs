// snmp-loop.mjs FIRST COUNT WINDOW TRIES TIMEOUT_MS
// The raw limit of Node: one ready-made request for the system group is sent from one socket to COUNT addresses from FIRST
// on, WINDOW at once; answers are decoded and not checked. Prints the addresses that answered, and the time of the loop on
// standard error.
import { createSocket } from 'node:dgram';
import { decodeCommunityMessage, encodeCommunityMessage } from '../../packages/snmp/dist/message/message.js';

const [first = '', ...numbers] = process.argv.slice(2);
const [count = 0, window = 256, tries = 2, timeoutMs = 1000] = numbers.map(Number);
const base = first.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
const addressOf = (i) => [24, 16, 8, 0].map((shift) => ((base + i) >>> shift) & 255).join('.');
const oids = [1, 2, 3, 4, 5, 6, 7].map((object) => `1.3.6.1.2.1.1.${object}.0`);
const answered = [];

/** Runs `ask` for every host, WINDOW at a time. */
const everyHost = (ask) => {
  let next = 0;
  const lane = async () => {
    while (next < count) await ask(next++);
  };
  return Promise.all(Array.from({ length: Math.min(window, count) }, lane));
};

async function bare() {
  const started = performance.now();
  const request = encodeCommunityMessage({
    version: 'v2c',
    community: Buffer.from('public'),
    pdu: {
      type: 'get',
      requestId: 0x7a7a7a7a,
      errorStatus: 0,
      errorIndex: 0,
      varbinds: oids.map((oid) => ({ oid, type: 'null', value: null })),
    },
  });
  const idAt = request.indexOf(Buffer.of(2, 4, 0x7a, 0x7a, 0x7a, 0x7a)) + 2;
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, found) => found(null, host, 4) });
  await new Promise((resolve) => socket.bind(0, resolve));
  socket.setRecvBufferSize(8 << 20);
  const waiting = new Map();
  socket.on('message', (bytes, from) => {
    const { requestId } = decodeCommunityMessage(bytes).pdu;
    const resolve = waiting.get(requestId);
    if (!resolve) return;
    waiting.delete(requestId);
    answered.push(from.address);
    resolve(true);
  });
  const ids = (i, attempt) => 0x0100_0000 + attempt * count + i;
  await everyHost(async (i) => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const id = ids(i, attempt);
      const bytes = Buffer.from(request);
      bytes.writeUInt32BE(id, idAt);
      const heard = new Promise((resolve) => waiting.set(id, resolve));
      socket.send(bytes, 0, bytes.length, 161, addressOf(i));
      const timer = setTimeout(() => waiting.get(id)?.(false), timeoutMs);
      const ok = await heard;
      clearTimeout(timer);
      waiting.delete(id);
      if (ok) return;
    }
  });
  socket.close();
  return performance.now() - started;
}

const sweepMs = await bare();
process.stdout.write(`${answered.join('\n')}\n`);
console.error(JSON.stringify({ sweepMs }));
