// run.mjs [--devices 50000, with --scale 100000] [--interfaces 24] [--sites 10] [--collectors 2] [--changed 1]
//         [--soak MINUTES] [--scale] [--by-site] [--database URL] [--check] [--json]
//
// First discovery of so many devices through the real wire: collectors that speak the protocol (a process of their own)
// → the server's program → PostgreSQL. Then the same world again with --changed percent of the devices altered. Beside
// it, in the same run, the raw limit: the very rows that ingest left, put into an empty database of the same schema by
// pg with unnest. The collectors' own cost is measured apart: their batches are made before each pass. Then each device
// is watched, and its watch tells of it twice: the second word is what comes every five minutes.
// --soak reports the world for so many minutes more and prints the slope of the server's memory.
// --by-site partitions the tables by site first, as deploy/examples/partition-by-site.sql does; the raw limit stays that of
// plain tables.
// --scale instead lets one warm server discover worlds of 1, 10 and 100 hundredths of the devices one after the other into
// one database, the smaller ones before and after the largest, and draws seconds per device into bench/results/.
// Every other run leaves what a device costs (processor, wire, disk) in bench/results/costs.json, for scaling.mjs.
// Started as root it sets kernel.sched_autogroup_enabled to 0 while it runs: services of systemd are scheduled like that.
// --check ends with status 1 when a bound of the project is missed.
import '../../scripts/usage.mjs';
import { fork } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { enrolled } from '@rollcall/server/testing/scripted-collector';
import { uuidv7 } from '@rollcall/shared/uuid';
import {
  freshDatabase,
  percentile,
  pg,
  postgresOf,
  scheduleAsServices,
  startProgram,
} from '../installation.mjs';
import { rawUpsert, rowsOf } from './raw.mjs';

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string' },
    interfaces: { type: 'string', default: '24' },
    sites: { type: 'string', default: '10' },
    collectors: { type: 'string', default: '2' },
    changed: { type: 'string', default: '1' },
    soak: { type: 'string', default: '0' },
    scale: { type: 'boolean', default: false },
    'by-site': { type: 'boolean', default: false },
    database: { type: 'string' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const base = postgresOf(options.database);
const [interfaces, sites, each, changedPercent] = [
  options.interfaces,
  options.sites,
  options.collectors,
  options.changed,
].map(Number);
/** Devices that make a server warm; after 2,000 it still took half as much again for each. */
const WARM = 10_000;
/** The questions are asked so long before anything is measured. */
const WARM_MS = 5_000;
const PARTITION = new URL('../../deploy/examples/partition-by-site.sql', import.meta.url);
const say = (text) => options.json || console.log(text);

/** The same few questions, over and over, while `work` goes on; milliseconds of each answer. */
async function asked(server, work) {
  const paths = ['/api/devices', '/api/events', '/api/cases', '/api/devices?class=switch&pageSize=50'];
  const times = [];
  let over = false;
  const asking = (async () => {
    for (let i = 0; !over; i++) {
      const start = performance.now();
      const response = await fetch(server.url + paths[i % paths.length], {
        headers: { Authorization: `Bearer ${server.token}` },
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${paths[i % paths.length]}: ${response.status}`);
      times.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  try {
    return [await work(), times];
  } finally {
    over = true;
    await asking;
  }
}

/** Processor seconds of the whole machine so far: what is neither the server's nor the collectors' is PostgreSQL's. */
function machineSeconds() {
  const fields = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  const idle = fields[3] + fields[4];
  return (fields.slice(0, 8).reduce((sum, each) => sum + each, 0) - idle) / 100;
}

/** Bytes and rows of every table, its indexes and what is stored out of line included. */
async function sizesOf(db) {
  const rows = await db.query(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes FROM pg_class c
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
  );
  const [{ wal }] = await db.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal`);
  return { tables: Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes])), wal };
}

/** `work` with a server's program of its own on an empty database. */
async function onServer(work) {
  const database = await freshDatabase(base, 'rollcall_bench_ingest');
  if (options['by-site']) await database.db.query(readFileSync(PARTITION, 'utf8'));
  const server = await startProgram(database.url);
  try {
    return await work(database, server);
  } finally {
    await server.stop();
    await database.drop();
  }
}

/** Simulated collectors that report so many devices, in a process of their own; their sites are counted from `site`. */
async function startCollectors({ db }, server, devices, site = 0) {
  const collectors = await makeCollectors(db, devices, site);
  const child = fork(fileURLToPath(new URL('./collectors.mjs', import.meta.url)));
  const died = new Promise((_, reject) =>
    child.on('exit', (code) => reject(new Error(`collectors: exit ${code}`))),
  );
  died.catch(() => undefined);
  const tell = (message) => {
    child.send(message);
    return Promise.race([new Promise((resolve) => child.once('message', resolve)), died]);
  };
  await tell({ url: server.url.replace('http', 'ws'), collectors, interfaces, changedPercent });
  const stop = () => {
    child.removeAllListeners('exit');
    child.kill();
  };
  return { collectors, tell, stop };
}

/** Mean seconds of the first discoveries of worlds of each of these sizes, beside those before it; the first makes warm. */
async function discoverEach(warm, ...sizes) {
  return onServer(async (database, server) => {
    const seconds = new Map();
    for (const [i, devices] of [warm, ...sizes].entries()) {
      const { collectors, tell, stop } = await startCollectors(database, server, devices, i * sites);
      await tell({ make: 0 });
      const took = (await tell({ pass: 0 })).seconds;
      if (i > 0) seconds.set(devices, [...(seconds.get(devices) ?? []), took]);
      stop();
      // What a collector may send ahead is less where more of them may come back.
      const ids = collectors.map(({ disk }) => disk.id);
      await database.db.query(`UPDATE collectors SET status = 'revoked' WHERE id = ANY($1::uuid[])`, [ids]);
      say(`${devices} devices: ${took.toFixed(1)} s`);
    }
    return [...seconds].map(([devices, each]) => ({
      devices,
      seconds: each.reduce((sum, one) => sum + one, 0) / each.length,
    }));
  });
}

async function measured(devices, database, server) {
  const { collectors, tell, stop } = await startCollectors(database, server, devices);
  const pass = async (number, watch) => {
    const made = await tell(watch ? { watch } : { make: number });
    const cpu = server.cpuSeconds();
    const machine = machineSeconds();
    const before = await sizesOf(database.db);
    const [sent, times] = await asked(server, () => tell({ pass: number }));
    const serverCpu = server.cpuSeconds() - cpu;
    const after = await sizesOf(database.db);
    return {
      ...sent,
      made,
      restCpu: machineSeconds() - machine - serverCpu - sent.cpuSeconds,
      walBytes: after.wal - before.wal,
      tables: after.tables,
      devicesPerSecond: devices / sent.seconds,
      serverCpu,
      rssMb: server.memory().peak / 2 ** 20,
      apiMs: [50, 95, 99].map((p) => percentile(times, p)),
    };
  };
  // As a server that has been running, and as it is when idle is measured: what is asked is compiled and planned.
  await asked(server, () => new Promise((resolve) => setTimeout(resolve, WARM_MS)));
  const first = await pass(0);
  first.rows = await rowsOf(database.db);
  const rescan = await pass(1);
  const watch = await watchAll(database.db, collectors);
  // The first word of each finds that it answers; what comes every five minutes from then on finds nothing new.
  await pass(1, watch);
  const watched = await pass(1, watch);
  const [, idle] = await asked(server, () => new Promise((resolve) => setTimeout(resolve, 15_000)));
  const soaked = await soak(server, (number) => tell({ pass: number, streaming: true }));
  const result = {
    devices,
    first,
    rescan,
    watched,
    idleApiMs: [50, 95, 99].map((p) => percentile(idle, p)),
    soak: soaked,
    raw: await limit(database),
  };
  stop();
  return result;
}

/** Marks every device as watched; the ids of each collector's share. */
async function watchAll(db, collectors) {
  // As ingest: for a person's statement there are too many.
  await db.ingest.query('UPDATE devices SET monitor = true');
  await db.query('VACUUM ANALYZE');
  const rows = await db.query('SELECT id, collector_id FROM devices');
  return collectors.map(({ disk }) =>
    rows.flatMap(({ id, collector_id }) => (collector_id === disk.id ? [id] : [])),
  );
}

async function makeCollectors(db, devices, firstSite) {
  const collectors = [];
  const perSite = Math.ceil(devices / sites);
  for (let site = 0; site < sites; site++) {
    const siteId = uuidv7();
    await db.query(`INSERT INTO sites (id, name, networks, exclude) VALUES ($1, $2, '{}', '{}')`, [
      siteId,
      `site ${firstSite + site}`,
    ]);
    for (let i = 0; i < each; i++) {
      const disk = await enrolled(db, siteId, `site ${firstSite + site} collector ${i}`);
      const [from, to] = [i, i + 1].map((k) =>
        Math.min(Math.floor((perSite * k) / each), devices - site * perSite),
      );
      collectors.push({
        site: firstSite + site,
        from: Math.max(0, from),
        to: Math.max(0, to),
        disk: {
          ...disk,
          key: undefined,
          secret: disk.key.secret.export({ format: 'pem', type: 'pkcs8' }),
          raw: disk.key.raw.toString('hex'),
        },
      });
    }
  }
  return collectors;
}

/** Resident memory while the same world is reported again and again; the slope by least squares over the second half. */
async function soak(server, again) {
  const until = performance.now() + Number(options.soak) * 60_000;
  if (Number(options.soak) === 0) return undefined;
  const points = [];
  const timer = setInterval(
    () => points.push([performance.now() / 60_000, server.memory().now / 2 ** 20]),
    1000,
  );
  for (let number = 2; performance.now() < until; number++) await again(number);
  clearInterval(timer);
  const half = points.slice(points.length >> 1);
  const [mx, my] = [0, 1].map((i) => half.reduce((sum, point) => sum + point[i], 0) / half.length);
  const slope =
    half.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) /
    half.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  return {
    minutes: Number(options.soak),
    meanMb: my,
    slopeMbPerMinute: slope,
    peakMb: server.memory().peak / 2 ** 20,
  };
}

async function limit(database) {
  const empty = await freshDatabase(base, 'rollcall_bench_raw');
  const [from, to] = [database.url, empty.url].map(
    (url) => new pg.Client({ connectionString: url, options: '-c TimeZone=UTC' }),
  );
  await Promise.all([from.connect(), to.connect()]);
  for (const table of ['sites', 'collectors']) {
    const { rows } = await from.query(`SELECT * FROM ${table}`);
    await to.query(`INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1)`, [
      JSON.stringify(
        rows.map((row) => ({
          ...row,
          ...(row.public_key ? { public_key: `\\x${row.public_key.toString('hex')}` } : {}),
        })),
      ),
    ]);
  }
  const tables = await rawUpsert(from, to);
  await Promise.all([from.end(), to.end()]);
  await empty.drop();
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const seconds = tables.reduce((sum, table) => sum + table.seconds, 0);
  return { tables, rows, seconds, rowsPerSecond: rows / seconds };
}

function report(result) {
  const { devices, first, rescan, watched, raw, idleApiMs, soak: soaked } = result;
  const rowsPerSecond = first.rows / first.seconds;
  const bounds = [
    ['rows/s of the first discovery ÷ raw limit', rowsPerSecond / raw.rowsPerSecond, '≥', 0.5],
    ['devices/s of the rescan ÷ first discovery', rescan.devicesPerSecond / first.devicesPerSecond, '≥', 4],
    ['API p95 during first discovery ÷ idle', first.apiMs[1] / idleApiMs[1], '≤', 3],
    ['API p95 during rescan ÷ idle', rescan.apiMs[1] / idleApiMs[1], '≤', 3],
    ['server memory at most, MB', Math.max(first.rssMb, rescan.rssMb, soaked?.peakMb ?? 0), '≤', 400],
    ...(soaked ? [['slope of the memory, MB/min', soaked.slopeMbPerMinute, '≤', 0.5]] : []),
  ];
  say(`\n${devices} devices × ${interfaces} interfaces, ${sites} sites, ${sites * each} collectors`);
  say(
    `making the batches, before    ${first.made.seconds.toFixed(1)} s (${first.made.cpuSeconds.toFixed(1)} s of processor), ${(first.made.bytes / 1e6).toFixed(0)} MB in ${first.made.batches} batches`,
  );
  for (const [name, pass] of [
    ['first discovery', first],
    ['rescan', rescan],
    ['a summary of the watch each', watched],
  ])
    say(
      `${name.padEnd(30)}${pass.seconds.toFixed(1)} s, ${pass.devicesPerSecond.toFixed(0)} devices/s; processor: server ${pass.serverCpu.toFixed(1)} s, collectors ${pass.cpuSeconds.toFixed(1)} s, all else ${pass.restCpu.toFixed(1)} s; WAL ${(pass.walBytes / 1e6).toFixed(0)} MB; API p50/p95/p99 ${pass.apiMs.map((ms) => ms.toFixed(1)).join(' / ')} ms; ${pass.rssMb.toFixed(0)} MB`,
    );
  say(`idle afterwards               API p50/p95/p99 ${idleApiMs.map((ms) => ms.toFixed(1)).join(' / ')} ms`);
  say(
    `raw limit                     ${raw.seconds.toFixed(1)} s for ${raw.rows} rows, ${raw.rowsPerSecond.toFixed(0)} rows/s (${raw.tables.map(({ table, rows, seconds }) => `${table} ${rows}: ${seconds.toFixed(1)} s`).join(', ')})`,
  );
  say(`rows/s of the first discovery ${rowsPerSecond.toFixed(0)}`);
  if (soaked)
    say(
      `soak of ${soaked.minutes} minutes          ${soaked.meanMb.toFixed(0)} MB on average, slope ${soaked.slopeMbPerMinute.toFixed(2)} MB/min`,
    );
  let missed = 0;
  for (const [name, value, sign, bound] of bounds) {
    const met = sign === '≥' ? value >= bound : value <= bound;
    if (!met) missed += 1;
    say(`${met ? 'met   ' : 'MISSED'}  ${name}: ${value.toFixed(2)} (${sign} ${bound})`);
  }
  return missed;
}

// A world of 500 takes a second, too short to time.
const total = Number(options.devices ?? (options.scale ? 100_000 : 50_000));
const folder = fileURLToPath(new URL('../results/', import.meta.url));
mkdirSync(folder, { recursive: true });
say(scheduleAsServices());
let missed;
if (options.scale) {
  const [small, middle] = [100, 10].map((part) => Math.round(total / part));
  const worlds = await discoverEach(WARM, small, small, middle, total, middle, small, small);
  writeFileSync(`${folder}ingest-scale.svg`, plot(worlds));
  missed = reportScale(worlds);
  say(`drawn: ${folder}ingest-scale.svg`);
  if (options.json) console.log(JSON.stringify(worlds));
} else {
  const result = await onServer((database, server) => measured(total, database, server));
  missed = report(result);
  writeFileSync(`${folder}costs.json`, `${JSON.stringify(costs(result), null, 2)}\n`);
  if (options.json) console.log(JSON.stringify(result));
}
process.exit(options.check && missed > 0 ? 1 : 0);

/** What one device of so many interfaces costs; seconds of processor, bytes. */
function costs({ devices, first, rescan, watched }) {
  const each = (pass) => ({
    serverSeconds: pass.serverCpu / devices,
    databaseSeconds: pass.restCpu / devices,
    wireBytes: pass.bytes / devices,
    walBytes: pass.walBytes / devices,
  });
  const { interfaces: ports, events, event_tally: _, ...others } = first.tables;
  const inventory = ['devices', 'sightings', 'evidence', 'device_addresses', 'device_facts', 'entities'];
  return {
    interfacesPerDevice: interfaces,
    changedPercent,
    first: each(first),
    rescan: each(rescan),
    summary: each(watched),
    deviceBytes: inventory.reduce((sum, table) => sum + (others[table] ?? 0), 0) / devices,
    interfaceBytes: ports / devices / interfaces,
    eventBytes: events / devices,
  };
}

function reportScale(worlds) {
  const cost = worlds.map(({ devices, seconds }) => (seconds * 1000) / devices);
  const middle = cost[cost.length >> 1];
  const most = Math.max(...cost.map((ms) => Math.abs(ms / middle - 1)));
  for (const [i, { devices }] of worlds.entries())
    say(`${String(devices).padEnd(30)}${cost[i].toFixed(2)} ms a device`);
  say(
    `${most <= 0.2 ? 'met   ' : 'MISSED'}  seconds per device, furthest from the middle: ${most.toFixed(2)} (≤ 0.2)`,
  );
  return most <= 0.2 ? 0 : 1;
}

/** Milliseconds per device over the number of devices, with the band of ± 20 % about the middle size. */
function plot(points) {
  const cost = points.map(({ devices, seconds }) => [devices, (seconds * 1000) / devices]);
  const middle = cost[cost.length >> 1][1];
  const top = Math.max(...cost.map(([, ms]) => ms), middle * 1.2) * 1.15;
  const x = (n) => 80 + (560 * Math.log10(n / cost[0][0])) / Math.log10(cost.at(-1)[0] / cost[0][0]);
  const y = (ms) => 320 - (280 * ms) / top;
  const dots = cost.map(
    ([n, ms]) =>
      `<circle cx="${x(n).toFixed(1)}" cy="${y(ms).toFixed(1)}" r="5"/><text x="${x(n).toFixed(1)}" y="${(y(ms) - 12).toFixed(1)}">${ms.toFixed(2)} ms</text><text x="${x(n).toFixed(1)}" y="345">${n}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="380" font-family="sans-serif" font-size="13" text-anchor="middle">
<rect width="720" height="380" fill="#fff"/><rect x="80" width="560" y="${y(middle * 1.2).toFixed(1)}" height="${(y(middle * 0.8) - y(middle * 1.2)).toFixed(1)}" fill="#dde8f5"/>
<polyline points="${cost.map(([n, ms]) => `${x(n).toFixed(1)},${y(ms).toFixed(1)}`).join(' ')}" fill="none" stroke="#1c6dd0" stroke-width="2"/>
<g fill="#123">${dots.join('')}<text x="360" y="24">First discovery: milliseconds per device (band: ± 20 % of the middle)</text><text x="360" y="368">devices</text></g>
<line x1="80" y1="320" x2="640" y2="320" stroke="#123"/></svg>`;
}
