// storm.mjs [--events 50000] [--rate 2500] [--devices 2500] [--sites 1] [--database URL] [--check]
//
// A storm of events through the real way: observations → ingest → conditions → events → cases, on PostgreSQL, with the
// same timers as the server, in threads as there. Every observation is one event: ports that go down, agents that fall silent, traps.
// Observations are offered at --rate per second (0: as fast as they are taken). Prints what was taken per second, how
// far behind grouping was (the age of the oldest undecided condition, sampled), the statements by time, and the memory
// of the process over time. Beside it, in the same run, the raw limit: the same rows of events through one INSERT each
// batch, with no deciding at all. --check ends with status 1 where a bound of the project is missed.
import '../scripts/usage.mjs';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { createRecorder } from '@rollcall/server/incidents/record';
import { createIngest } from '@rollcall/server/ingest/ingest';
import { openDatabase } from '@rollcall/server/platform/db/db';
import { migrate } from '@rollcall/server/platform/db/migrate';
import { systemClock as clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { timing } from './storm-timing.mjs';

const require = createRequire(fileURLToPath(new URL('../packages/server/package.json', import.meta.url)));
const pg = require('pg');
const { pino } = require('pino');
const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '50000' },
    rate: { type: 'string', default: '2500' },
    devices: { type: 'string', default: '2500' },
    sites: { type: 'string', default: '1' },
    batch: { type: 'string', default: '500' },
    tend: { type: 'string', default: '50' },
    database: { type: 'string' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log(
    'usage: node bench/storm.mjs [--events N] [--rate PER_SECOND] [--devices N] [--sites N] [--batch N] [--tend MS] [--database URL] [--check]',
  );
  process.exit(0);
}
const [EVENTS, RATE, DEVICES, SITES, BATCH, TEND_MS] = [
  'events',
  'rate',
  'devices',
  'sites',
  'batch',
  'tend',
].map((name) => Number(options[name]));
const BOUNDS = { perSecond: 2_000, behindMs: 200, slopeKiBPerSecond: 1_024 };
const log = pino({ level: process.env.LOG_LEVEL ?? 'error' });
const base = options.database ?? process.env.DATABASE_URL ?? process.env.TEST_DATABASE_URL;
if (!base) {
  console.error('storm.mjs: name a PostgreSQL: --database URL, DATABASE_URL or TEST_DATABASE_URL');
  process.exit(2);
}

// ── A database of its own ──

const name = `rollcall_bench_storm_${process.pid}`;
const admin = new pg.Client({ connectionString: base });
await admin.connect();
await admin.query(`CREATE DATABASE ${name}`);
const url = Object.assign(new URL(base), { pathname: `/${name}` }).href;
const db = await openDatabase({ url }, log);
const quantile = (values, q) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))] ?? 0;
let missed = false;
try {
  await migrate(db);
  await run();
} finally {
  await db.close();
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
}
process.exit(missed && options.check ? 1 : 0);

async function run() {
  const timed = timing(db);
  const recorder = createRecorder({ db: timed.db, clock });
  const ingest = createIngest({
    db: timed.db,
    clock,
    log,
    rules: () => ({ id: 'bench', classify: () => ({}) }),
    applyOutcomes: async () => undefined,
    applyJobEnd: async () => undefined,
    record: recorder.record,
  });
  const sites = [];
  for (let i = 0; i < SITES; i++) sites.push(await makeSite(i));
  await db.query('ANALYZE');
  console.log(
    `storm: ${EVENTS} events, ${DEVICES} devices, ${SITES} site(s), ${RATE === 0 ? 'as fast as taken' : `${RATE}/s offered`}`,
  );

  const raw = await rawLimit(sites[0]);

  const tender = new Worker(new URL('storm-tender.mjs', import.meta.url), {
    workerData: { url, everyMs: TEND_MS },
  });
  const failed = once(tender, 'error').then(([error]) => Promise.reject(error));
  // Awaited when the storm is over; until then a rejection that nobody awaits would end the process with its servers running.
  failed.catch(() => undefined);
  const behind = [];
  const memory = [];
  let sampling = true;
  const began = performance.now();
  const sampler = (async () => {
    while (sampling) {
      // The least of an index: the sampler itself costs next to nothing.
      const [row] = await db.query(
        'SELECT coalesce(extract(epoch FROM (clock_timestamp() - min(due_at))) * 1000, 0)::float8 AS ms FROM conditions WHERE due_at IS NOT NULL',
      );
      behind.push(Math.max(0, row.ms));
      memory.push({ at: (performance.now() - began) / 1000, rss: process.memoryUsage().rss / 1024 });
      await clock.sleep(50);
    }
  })();

  // ── The storm ──
  const acceptTimes = [];
  const perSite = Math.ceil(EVENTS / SITES);
  await Promise.all(
    sites.map(async (site) => {
      for (let from = 0; from < perSite; from += BATCH) {
        const due = RATE === 0 ? 0 : (from / (RATE / SITES)) * 1000;
        const wait = due - (performance.now() - began);
        if (wait > 0) await clock.sleep(wait);
        const items = Array.from({ length: Math.min(BATCH, perSite - from) }, (_, i) =>
          site.observation(from + i),
        );
        const start = performance.now();
        await ingest.accept({
          collectorId: site.collector,
          siteId: site.id,
          epoch: site.epoch,
          stream: 'event',
          from,
          items,
          clockOffsetMs: 0,
        });
        acceptTimes.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  // Until every hold has ended and everything is decided.
  for (let i = 0; i < 1200; i++) {
    const held = await db.query(
      "SELECT 1 FROM conditions WHERE due_at IS NOT NULL AND state = 'held' LIMIT 1",
    );
    if (held.length === 0) break;
    await clock.sleep(100);
  }
  sampling = false;
  await sampler;
  tender.postMessage('stop');
  const [tended] = await Promise.race([once(tender, 'message'), failed]);

  const [events] = await db.query(
    'SELECT count(*)::int AS n, count(case_id)::int AS placed, coalesce(sum(count), 0)::int AS occurrences FROM events',
  );
  const [cases] = await db.query('SELECT count(*)::int AS n FROM cases');
  const rate = EVENTS / seconds;
  // The second half: the first fills caches and the heap.
  const steady = memory.slice(memory.length >> 1);
  const slope = slopeOf(steady.map(({ at, rss }) => [at, rss]));
  const p95 = quantile(behind, 0.95);
  const say = (label, value, bound) =>
    console.log(`${label.padEnd(34)} ${value}${bound === undefined ? '' : bound ? '   ok' : '   MISSED'}`);
  const paced = RATE === 0 ? rate >= BOUNDS.perSecond : rate >= Math.min(RATE, BOUNDS.perSecond) * 0.98;
  missed = !paced || p95 > BOUNDS.behindMs || slope > BOUNDS.slopeKiBPerSecond;
  say('ingested per second', `${rate.toFixed(0)} (bound ${BOUNDS.perSecond})`, paced);
  say('raw limit, rows of events per second', `${raw.toFixed(0)} (ratio ${(rate / raw).toFixed(2)})`);
  say(
    'accept of a batch, p50 / p95 ms',
    `${quantile(acceptTimes, 0.5).toFixed(0)} / ${quantile(acceptTimes, 0.95).toFixed(0)}`,
  );
  say(
    'grouping behind, p50 / p95 / max ms',
    `${quantile(behind, 0.5).toFixed(0)} / ${p95.toFixed(0)} / ${Math.max(...behind).toFixed(0)} (bound ${BOUNDS.behindMs})`,
    p95 <= BOUNDS.behindMs,
  );
  say('a round of tending, p95 ms', quantile(tended.rounds, 0.95).toFixed(0));
  say(
    'memory (RSS) first / last MiB',
    `${(memory[0].rss / 1024).toFixed(0)} / ${((memory.at(-1)?.rss ?? 0) / 1024).toFixed(0)}`,
  );
  say(
    'memory slope, second half KiB/s',
    `${slope.toFixed(0)} (bound ${BOUNDS.slopeKiBPerSecond})`,
    slope <= BOUNDS.slopeKiBPerSecond,
  );
  say('events / occurrences / in cases', `${events.n} / ${events.occurrences} / ${events.placed}`);
  say('cases', cases.n);
  console.log('\nstatements by time: seconds, calls, ms each');
  const statements = [...timed.statements(), ...tended.statements].sort((a, b) => b.ms - a.ms);
  for (const { text, ms, calls } of statements.slice(0, 20))
    console.log(
      `${(ms / 1000).toFixed(1).padStart(7)} ${String(calls).padStart(6)} ${(ms / calls).toFixed(1).padStart(7)}  ${text}`,
    );
}

/** Devices in a tree: a core, access switches, what hangs on them; each with ports. */
async function makeSite(number) {
  const id = uuidv7();
  const collector = uuidv7();
  const count = Math.ceil(DEVICES / SITES);
  await db.query("INSERT INTO sites (id, name, networks, exclude) VALUES ($1::uuid, $2, '{}', '{}')", [
    id,
    `storm ${number}`,
  ]);
  await db.query(
    "INSERT INTO collectors (id, site_id, name, public_key) VALUES ($1::uuid, $2::uuid, 'c', ''::bytea)",
    [collector, id],
  );
  const ports = Math.ceil(((EVENTS / SITES) * 0.85) / count);
  const ids = Array.from({ length: count }, () => uuidv7());
  const address = (i) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  const seen = '2026-01-01T00:00:00Z';
  const load = (table, rows) =>
    db.query(
      `INSERT INTO ${table} (${Object.keys(rows[0])
        .map((c) => `"${c}"`)
        .join(', ')}) SELECT ${Object.keys(rows[0])
        .map((c) => `"${c}"`)
        .join(', ')} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
      [JSON.stringify(rows)],
    );
  await load(
    'devices',
    ids.map((device, i) => ({
      site_id: id,
      id: device,
      name: `d${i}`,
      address: address(i),
      class: 'switch',
      status: 'up',
      monitor: true,
      icmp_reachable: true,
      snmp_reachable: true,
      interface_count: ports,
      first_seen: seen,
      search_text: `d${i}`,
    })),
  );
  await load(
    'sightings',
    ids.map((device) => ({ site_id: id, device_id: device, last_seen: seen, received: {} })),
  );
  await load(
    'device_addresses',
    ids.map((device, i) => ({
      site_id: id,
      device_id: device,
      address: address(i),
      origin: 'table',
      first_seen: seen,
      last_seen: seen,
    })),
  );
  // Forty to an access switch, access switches on the core.
  await load(
    'neighbours',
    ids.slice(1).map((device, i) => ({
      site_id: id,
      device_id: ids[i + 1 <= 60 ? 0 : 1 + ((i + 1) % 60)],
      remote_device_id: device,
      protocol: 'lldp',
      key: `n${i}`,
      addresses: [],
      first_seen: seen,
      last_seen: seen,
    })),
  );
  for (let from = 0; from < count; from += 500)
    await load(
      'interfaces',
      ids.slice(from, from + 500).flatMap((device) =>
        Array.from({ length: ports }, (_, p) => ({
          site_id: id,
          id: uuidv7(),
          device_id: device,
          if_index: p + 1,
          name: `Gi${p + 1}`,
          admin_status: 1,
          oper_status: 1,
          first_seen: seen,
          last_seen: seen,
        })),
      ),
    );
  const observation = (n) => {
    const at = Date.now();
    const device = n % count;
    const turn = Math.floor(n / count);
    if (turn < ports)
      return {
        kind: 'watch',
        at,
        deviceId: ids[device],
        interfaces: [{ ifIndex: turn + 1, adminStatus: 1, operStatus: 2 }],
      };
    if (turn === ports) return { kind: 'watch', at, deviceId: ids[device], snmp: 'timeout' };
    return {
      kind: 'trap',
      at,
      address: address(device),
      snmpVersion: 'v2c',
      trapOid: `1.3.6.1.4.1.9.9.${turn}`,
      varbinds: [{ oid: '1.3.6.1.4.1.9.9.1.1', type: 'OctetString', value: 'fan 1 failed' }],
    };
  };
  return { id, collector, epoch: uuidv7(), observation };
}

/** The same rows through bare INSERTs of the same size, in a table like `events` with its indexes and without triggers. */
async function rawLimit(site) {
  await db.query('CREATE TABLE raw_events (LIKE events INCLUDING ALL)');
  const rows = Math.min(EVENTS, 20_000);
  const began = performance.now();
  for (let from = 0; from < rows; from += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, i) => ({
      site_id: site.id,
      id: uuidv7(),
      kind: 'interface.down',
      source: 'snmp',
      severity: 3,
      status: 0,
      message: `Gi1 of d${from + i} is down`,
      details: {},
      dedup_key: `interface.down:${from + i}`,
      count: 1,
      first_seen: new Date().toISOString(),
      timestamp: new Date().toISOString(),
    }));
    await db.query(
      'INSERT INTO raw_events (site_id, id, kind, source, severity, status, message, details, dedup_key, count, first_seen, timestamp) SELECT site_id, id, kind, source, severity, status, message, details, dedup_key, count, first_seen, timestamp FROM jsonb_populate_recordset(NULL::raw_events, $1::jsonb)',
      [JSON.stringify(batch)],
    );
  }
  const perSecond = rows / ((performance.now() - began) / 1000);
  await db.query('DROP TABLE raw_events');
  return perSecond;
}

/** Least squares. */
function slopeOf(points) {
  const n = points.length || 1;
  const [mx, my] = [0, 1].map((k) => points.reduce((sum, point) => sum + point[k], 0) / n);
  const over = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  return over === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / over;
}
