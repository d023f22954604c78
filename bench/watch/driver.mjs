// driver.mjs OPTIONS (JSON): the scripted server and the measurements of main.mjs, inside the scanner's namespace.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeKey, prepareFolder, saveIdentity } from '@rollcall/collector/link/identity';
import { ScriptedServer, SITE } from '@rollcall/collector/testing/scripted-server';

const options = JSON.parse(process.argv[2]);
const DEVICES = Number(options.devices);
const SECONDS = Number(options.seconds);
const INTERVALS = { icmpMs: 15_000, snmpMs: 60_000 };
const COLLECTOR = fileURLToPath(
  new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
);
const CREDENTIAL = { id: '0192f0c0-0000-7000-8000-0000000000c1', version: 'v2c', community: 'public' };
/** Hosts that are taken off the network. */
const DARK = 100;
/** Bounds of the project: share of one core, MB, intervals. */
const BOUNDS = { core: 0.6, rss: 250, intervals: 1.5 };

const tell = (text) => process.stderr.write(`${(performance.now() / 1000).toFixed(0)} s: ${text}\n`);
const addressOf = (n) => `198.18.${1 + (n >> 8)}.${n & 255}`;
const idOf = (n) => `0192f0c0-0000-7000-8000-${String(n).padStart(12, '0')}`;
const numbers = Array.from({ length: DEVICES }, (_, n) => n);

// ── the collector ──────────────────────────────────────────────────────────────────────────────────────────────────

const folder = mkdtempSync(join(tmpdir(), 'rollcall-watch-'));
const state = join(folder, 'state');
const server = await ScriptedServer.start();
prepareFolder(state);
makeKey(state);
saveIdentity(state, {
  format: 1,
  server: server.url,
  path: '/api/collectors/link',
  collector: '0192f0c0-0000-7000-8000-0000000000c0',
  name: 'bench',
  site: SITE,
  generation: 0,
});
const config = join(folder, 'collector.yaml');
writeFileSync(config, 'log: warn\ntraps: { port: 0 }\n');
const collector = spawn(process.execPath, [COLLECTOR, 'run', '--state', state, '--config', config], {
  stdio: 'inherit',
});

/** Device and what of it → when it was told first since the notes were cleared. */
const heard = new Map();
let observations = 0;
let bytes = 0;
/** How far each stream was acknowledged. */
const through = { state: -1, event: -1 };
let peer;

const note = (message, epoch) => {
  through[message.stream] = message.from + message.items.length - 1;
  peer.ack(epoch, message.stream, through[message.stream]);
  observations += message.items.length;
  bytes += JSON.stringify(message).length;
  const now = performance.now();
  for (const { kind, deviceId, icmp, interfaces = [] } of message.items) {
    if (kind !== 'watch') continue;
    const ports = interfaces.map((port) => `${deviceId} ${port.ifIndex} ${port.operStatus}`);
    for (const fact of [`${deviceId} ${icmp}`, ...ports]) if (!heard.has(fact)) heard.set(fact, now);
  }
};

/** Serves one connection after the other: a machine that stalls breaks links, here as anywhere. */
let connections = 0;
const serve = async () => {
  peer = await server.peer();
  connections += 1;
  const { epoch } = await peer.greet(through, connections);
  peer.onMessage = (message) => {
    if (message.type === 'observations') note(message, epoch);
    else if (message.type === 'heartbeat')
      peer.send({ type: 'heartbeat', time: Date.now(), echo: message.time });
    // Kept by the test's peer for its own waiting; here it would only grow.
    setImmediate(() => {
      peer.heard.length = 0;
    });
  };
  peer.socket.once('close', () => void serve());
};
await serve();
const ping = setInterval(() => peer.socket.ping(), 10_000);

let revision = 0;
const hand = (snmp) => {
  for (let from = 0; from < DEVICES; from += 4000) {
    revision += 1;
    peer.send({
      type: 'watch',
      revision,
      full: from === 0,
      more: from + 4000 < DEVICES,
      set: numbers.slice(from, from + 4000).map((n) => ({
        deviceId: idOf(n),
        address: addressOf(n),
        ...(snmp ? { credentialId: CREDENTIAL.id } : {}),
      })),
      remove: [],
      credentials: [CREDENTIAL],
      intervals: INTERVALS,
      port: 161,
    });
  }
};

// ── measurements ───────────────────────────────────────────────────────────────────────────────────────────────────

const TICKS = 100; // USER_HZ
const cpuOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
};
const memory = (name) =>
  Number(
    new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${collector.pid}/status`, 'latin1'))?.[1],
  ) / 1024;

/** Share of one core that processes take over some seconds. */
const shares = async (seconds, ...pids) => {
  const before = pids.map(cpuOf);
  const begun = performance.now();
  await sleep(seconds * 1000);
  const took = (performance.now() - begun) / 1000;
  return pids.map((pid, i) => (cpuOf(pid) - before[i]) / took);
};

const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** Does something to the network and waits until every fact was told; delays in seconds. */
const seen = async (name, act, facts, withinMs) => {
  heard.clear();
  const begun = performance.now();
  act();
  const done = performance.now();
  const missing = () => facts.filter((fact) => !heard.has(fact));
  while (missing().length > 0 && performance.now() - begun < withinMs * 1.5) await sleep(200);
  const delays = facts.filter((fact) => heard.has(fact)).map((fact) => (heard.get(fact) - begun) / 1000);
  const row = {
    name,
    changes: facts.length,
    seen: delays.length,
    median: percentile(delays, 0.5),
    worst: Math.max(0, ...delays),
    bound: withinMs / 1000,
    took: (done - begun) / 1000,
  };
  tell(
    `${name}: ${row.seen} of ${row.changes}, the last after ${row.worst.toFixed(1)} s (bound ${row.bound.toFixed(1)} s)`,
  );
  return row;
};

const dark = numbers.filter((n) => n % Math.floor(DEVICES / DARK) === 3).slice(0, DARK);
const routes = (verb) => {
  const lines = dark.map((n) => `route ${verb} blackhole ${addressOf(n)}/32`).join('\n');
  // A local route of the whole block stands in the table `local`, which is asked first.
  spawnSync('ip', ['-n', process.env.LAB_SITE, '-batch', '-'], {
    input: lines.replaceAll('/32', '/32 table local'),
  });
};
const pull = () => process.kill(Number(readFileSync(join(options.dir, 'agents.pid'), 'utf8')), 'SIGUSR1');
const cabled = numbers.filter((n) => (n & 255) === 7);

const results = { devices: DEVICES, interfaces: Number(options.interfaces), rows: [] };
try {
  tell('pings alone …');
  hand(false);
  await sleep(INTERVALS.icmpMs + 3000);
  let fping;
  if (options.fping) {
    const list = join(folder, 'addresses');
    writeFileSync(list, `${numbers.map(addressOf).join('\n')}\n`);
    fping = spawn('fping', ['-q', '-i', '1', '-p', String(INTERVALS.icmpMs), '-l', '-f', list], {
      stdio: 'ignore',
    });
    await sleep(1000);
  }
  const [icmp, other] = await shares(SECONDS, collector.pid, ...(fping ? [fping.pid] : []));
  fping?.kill('SIGKILL');
  Object.assign(results, { icmp, fping: other ?? null });

  tell('pings and readings …');
  hand(true);
  await sleep(INTERVALS.snmpMs + 10_000);
  observations = 0;
  bytes = 0;
  const [whole] = await shares(SECONDS, collector.pid);
  Object.assign(results, {
    whole,
    perMinute: (observations / SECONDS) * 60,
    kilobytesPerMinute: (bytes / SECONDS) * 0.06,
  });

  const hosts = (what) => dark.map((n) => `${idOf(n)} ${what}`);
  const ports = (what) => cabled.map((n) => `${idOf(n)} 1 ${what}`);
  const within = (ms) => ms * BOUNDS.intervals;
  results.rows.push(
    await seen('hosts go dark', () => routes('add'), hosts('down'), within(INTERVALS.icmpMs)),
    await seen('hosts come back', () => routes('del'), hosts('up'), within(INTERVALS.icmpMs)),
    await seen('cables pulled', pull, ports(2), within(INTERVALS.snmpMs)),
    await seen('cables put back', pull, ports(1), within(INTERVALS.snmpMs)),
  );
  Object.assign(results, { rss: memory('VmRSS'), peak: memory('VmHWM') });
} finally {
  clearInterval(ping);
  if (collector.exitCode === null && collector.signalCode === null) {
    const ended = new Promise((resolve) => collector.once('exit', resolve));
    collector.kill('SIGTERM');
    await ended;
  }
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

const percent = (share) => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);
const missed = [
  ...(results.whole > BOUNDS.core
    ? [`${percent(results.whole)} of a core, bound ${percent(BOUNDS.core)}`]
    : []),
  ...(results.peak > BOUNDS.rss ? [`${results.peak.toFixed(0)} MB, bound ${BOUNDS.rss}`] : []),
  ...results.rows
    .filter((row) => row.seen < row.changes || row.worst > row.bound)
    .map(({ name }) => `${name}: too late or never`),
];
if (options.json) console.log(JSON.stringify({ ...results, missed }));
else {
  console.log(`
${DEVICES} devices × ${results.interfaces} interfaces, ping every 15 s, SNMP every 60 s
  pings alone            ${percent(results.icmp)} of one core
  fping, the same pings  ${percent(results.fping)}${results.fping ? `  (ours × ${(results.icmp / results.fping).toFixed(2)})` : ''}
  pings and readings     ${percent(results.whole)}  (bound ${percent(BOUNDS.core)})
  memory                 ${results.rss.toFixed(0)} MB, peak ${results.peak.toFixed(0)} MB  (bound ${BOUNDS.rss} MB)
  told while nothing happens  ${results.perMinute.toFixed(0)} observations, ${results.kilobytesPerMinute.toFixed(0)} kB a minute
`);
  console.log('  change             seen        median   worst   bound');
  for (const { name, seen: count, changes, median, worst, bound } of results.rows)
    console.log(
      `  ${name.padEnd(18)} ${`${count}/${changes}`.padEnd(10)} ${(median ?? 0).toFixed(1).padStart(6)} s ${worst.toFixed(1).padStart(6)} s ${bound.toFixed(1).padStart(6)} s`,
    );
  if (missed.length > 0) console.log(`\nmissed: ${missed.join('; ')}`);
}
process.exit(options.check && missed.length > 0 ? 1 : 0);
