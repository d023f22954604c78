// reads-entry.mjs SCALE: the two readers of reads.mjs, inside the scanner's namespace. One line of JSON, milliseconds.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeKey, prepareFolder, saveIdentity } from '@rollcall/collector/link/identity';
import { ScriptedServer, SITE } from '@rollcall/collector/testing/scripted-server';
import { PROTOCOL_VERSION } from '@rollcall/shared/protocol';
import { cpuOf } from './rivals.mjs';

/** Of few devices what a program takes for itself would count. */
const DEVICES = Math.min(1_000, Math.max(500, Math.round(10_000 * Number(process.argv[2]))));
/** A device is read so often by our collector: the most often that a site may set is 5 s. */
const SNMP_MS = 20_000;
const MEASURED_MS = 60_000;
/** Scrapes at once, and of each device. */
const AT_ONCE = 16;
const TIMES = 3;
const addressOf = (n) => `198.18.${1 + (n >> 8)}.${n & 255}`;
const folder = mkdtempSync(join(tmpdir(), 'rollcall-reads-'));
const children = [];
const start = (...command) => {
  const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] });
  children.push(child);
  return child;
};

/** Milliseconds of a core for one device. */
async function ours() {
  const server = await ScriptedServer.start();
  const state = join(folder, 'state');
  prepareFolder(state);
  makeKey(state);
  saveIdentity(state, {
    ...{
      format: 1,
      server: server.url,
      path: '/api/collectors/link',
      name: 'bench',
      site: SITE,
      generation: 0,
    },
    collector: '0192f0c0-0000-7000-8000-0000000000c0',
  });
  writeFileSync(join(folder, 'collector.yaml'), 'log: warn\ntraps: { port: 0 }\n');
  const program = fileURLToPath(
    new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
  );
  const collector = start(
    process.execPath,
    program,
    'run',
    '--state',
    state,
    '--config',
    join(folder, 'collector.yaml'),
  );
  const peer = await server.peer();
  peer.challenge(PROTOCOL_VERSION);
  const { epoch } = await peer.hear('hello');
  peer.welcome({ state: -1, event: -1, sample: -1 }, 1, { version: PROTOCOL_VERSION });
  await peer.hear('working');
  let reads = 0;
  peer.onMessage = (message) => {
    if (message.type === 'heartbeat') peer.send({ type: 'heartbeat', time: Date.now(), echo: message.time });
    if (message.type !== 'observations') return;
    peer.ack(epoch, message.stream, message.from + message.items.length - 1);
    reads += message.items.filter(({ kind, ports }) => kind === 'samples' && ports).length;
    // Kept by the test's peer for its own waiting; here it would only grow.
    setImmediate(() => {
      peer.heard.length = 0;
    });
  };
  const credential = { id: '0192f0c0-0000-7000-8000-0000000000c1', version: 'v2c', community: 'public' };
  for (let from = 0; from < DEVICES; from += 4000)
    peer.send({
      ...{
        type: 'watch',
        revision: from / 4000 + 1,
        full: from === 0,
        more: from + 4000 < DEVICES,
        remove: [],
        port: 161,
      },
      set: Array.from({ length: Math.min(4000, DEVICES - from) }, (_, i) => ({
        deviceId: `0192f0c0-0000-7000-8000-${String(from + i).padStart(12, '0')}`,
        address: addressOf(from + i),
        credentialId: credential.id,
      })),
      ...{ credentials: [credential], intervals: { icmpMs: 3_600_000, snmpMs: SNMP_MS } },
    });
  // What each agent has is learnt by its first reading, and what has grown is known with the second.
  await sleep(SNMP_MS * 3);
  reads = 0;
  const before = cpuOf(collector.pid);
  await sleep(MEASURED_MS);
  const each = ((cpuOf(collector.pid) - before) * 1000) / reads;
  if (reads === 0) throw new Error('the collector told no reading');
  await server.stop();
  return { each, reads };
}

/** The module of the package's documentation: what https://github.com/prometheus/snmp_exporter generates for if_mib. */
const COLUMNS = {
  '1.3.6.1.2.1.2.2.1': {
    3: 'ifType',
    4: 'ifMtu',
    5: 'ifSpeed',
    7: 'ifAdminStatus',
    8: 'ifOperStatus',
    10: 'ifInOctets',
    11: 'ifInUcastPkts',
    12: 'ifInNUcastPkts',
    13: 'ifInDiscards',
    14: 'ifInErrors',
    16: 'ifOutOctets',
    17: 'ifOutUcastPkts',
    18: 'ifOutNUcastPkts',
    19: 'ifOutDiscards',
    20: 'ifOutErrors',
  },
  '1.3.6.1.2.1.31.1.1.1': {
    2: 'ifInMulticastPkts',
    3: 'ifInBroadcastPkts',
    4: 'ifOutMulticastPkts',
    5: 'ifOutBroadcastPkts',
    6: 'ifHCInOctets',
    7: 'ifHCInUcastPkts',
    8: 'ifHCInMulticastPkts',
    9: 'ifHCInBroadcastPkts',
    10: 'ifHCOutOctets',
    11: 'ifHCOutUcastPkts',
    12: 'ifHCOutMulticastPkts',
    13: 'ifHCOutBroadcastPkts',
    15: 'ifHighSpeed',
  },
};
function moduleText() {
  const metrics = Object.entries(COLUMNS).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, name]) => ({
      ...{
        name,
        oid: `${table}.${column}`,
        type: /Status|Type|Mtu|Speed/.test(name) ? 'gauge' : 'counter',
        help: name,
      },
      indexes: [{ labelname: 'ifIndex', type: 'gauge' }],
      lookups: [
        ['ifDescr', '1.3.6.1.2.1.2.2.1.2'],
        ['ifName', '1.3.6.1.2.1.31.1.1.1.1'],
        ['ifAlias', '1.3.6.1.2.1.31.1.1.1.18'],
      ].map(([labelname, oid]) => ({ labels: ['ifIndex'], labelname, oid, type: 'DisplayString' })),
    })),
  );
  const walk = Object.keys(COLUMNS).map((table) => table.slice(0, -2));
  const module = {
    walk,
    get: ['1.3.6.1.2.1.1.3.0'],
    metrics,
    version: 2,
    max_repetitions: 25,
    auth: { community: 'public' },
  };
  // JSON is YAML.
  return JSON.stringify({ if_mib: module });
}

async function exporter() {
  writeFileSync(join(folder, 'snmp.yml'), moduleText());
  const child = start(
    '/usr/bin/prometheus-snmp-exporter',
    `--config.file=${folder}/snmp.yml`,
    '--web.listen-address=127.0.0.1:9116',
    '--log.level=error',
  );
  const scrape = async (n) => {
    const answer = await fetch(`http://127.0.0.1:9116/snmp?target=${addressOf(n)}&module=if_mib`);
    const text = await answer.text();
    if (!answer.ok || !text.includes('ifHCInOctets{'))
      throw new Error(`${addressOf(n)}: ${answer.status} ${text.slice(0, 200)}`);
  };
  for (
    let tries = 0;
    !(await scrape(0).then(
      () => true,
      (error) => tries > 50 && Promise.reject(error),
    ));
    tries++
  )
    await sleep(100);
  const before = cpuOf(child.pid);
  const targets = Array.from({ length: DEVICES * TIMES }, (_, i) => i % DEVICES);
  const lane = async () => {
    for (let n = targets.pop(); n !== undefined; n = targets.pop()) await scrape(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { each: ((cpuOf(child.pid) - before) * 1000) / (DEVICES * TIMES) };
}

try {
  const mine = await ours();
  const theirs = await exporter();
  console.log(
    JSON.stringify({ devices: DEVICES, reads: mine.reads, ours: mine.each, exporter: theirs.each }),
  );
} finally {
  for (const child of children) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
