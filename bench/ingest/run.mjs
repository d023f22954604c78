// run.mjs [--devices 50000] [--interfaces 24] [--sites 10] [--collectors 2] [--changed 1] [--database URL] [--check] [--json]
//
// First discovery of so many devices: simulated collectors in a process of their own speak the real protocol to the
// server's program on PostgreSQL. Then the same world again with --changed percent of the devices altered. The raw limit
// of the same run: pg puts the same rows into an empty database of the same schema with unnest. The batches are made
// before each pass, so that the collectors' own cost is measured apart. At last every device is monitored and its status
// is reported twice; the second report is the one that comes every five minutes.
// Started as root it sets kernel.sched_autogroup_enabled to 0 while it runs: services of systemd are scheduled like that.
// --check ends with status 1 when a bound of docs/speed.md is missed.
import '../../scripts/usage.mjs';
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { enrolled } from '@rollcall/server/testing/scripted-collector';
import { uuidv7 } from '@rollcall/shared/uuid';
import { freshDatabase, percentile, pg, scheduleAsServices, startProgram } from '../installation.mjs';
import { postgresOf } from '../postgres.mjs';
import { rawUpsert, rowsOf } from './raw.mjs';

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '50000' },
    interfaces: { type: 'string', default: '24' },
    sites: { type: 'string', default: '10' },
    collectors: { type: 'string', default: '2' },
    changed: { type: 'string', default: '1' },
    database: { type: 'string' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const postgres = await postgresOf(options.database);
const [interfaces, sites, each, changedPercent] = [
  options.interfaces,
  options.sites,
  options.collectors,
  options.changed,
].map(Number);
/** The questions are asked so long before anything is measured. */
const WARM_MS = 5_000;
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

/** Bytes of the write-ahead log so far. */
async function walOf(db) {
  const [{ wal }] = await db.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal`);
  return wal;
}

/** `work` with a server's program of its own on an empty database. */
async function onServer(work) {
  const database = await freshDatabase(postgres.url, 'rollcall_bench_ingest');
  const server = await startProgram(database.url);
  try {
    return await work(database, server);
  } finally {
    await server.stop();
    await database.drop();
  }
}

/** Simulated collectors that report so many devices, in a process of their own. */
async function startCollectors({ db }, server, devices) {
  const collectors = await makeCollectors(db, devices);
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

async function measured(devices, database, server) {
  const { collectors, tell, stop } = await startCollectors(database, server, devices);
  const pass = async (number, watch) => {
    const made = await tell(watch ? { watch } : { make: number });
    const cpu = server.cpuSeconds();
    const machine = machineSeconds();
    const before = await walOf(database.db);
    const [sent, times] = await asked(server, () => tell({ pass: number }));
    const serverCpu = server.cpuSeconds() - cpu;
    return {
      ...sent,
      made,
      restCpu: machineSeconds() - machine - serverCpu - sent.cpuSeconds,
      walBytes: (await walOf(database.db)) - before,
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
  // The first report of each changes its status; the second finds nothing new, as the later ones do.
  await pass(1, watch);
  const watched = await pass(1, watch);
  const [, idle] = await asked(server, () => new Promise((resolve) => setTimeout(resolve, 15_000)));
  const result = {
    devices,
    first,
    rescan,
    watched,
    idleApiMs: [50, 95, 99].map((p) => percentile(idle, p)),
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

async function makeCollectors(db, devices) {
  const collectors = [];
  const perSite = Math.ceil(devices / sites);
  for (let site = 0; site < sites; site++) {
    const siteId = uuidv7();
    await db.query(`INSERT INTO sites (id, name, networks, exclude) VALUES ($1, $2, '{}', '{}')`, [
      siteId,
      `site ${site}`,
    ]);
    for (let i = 0; i < each; i++) {
      const disk = await enrolled(db, siteId, `site ${site} collector ${i}`);
      const [from, to] = [i, i + 1].map((k) =>
        Math.min(Math.floor((perSite * k) / each), devices - site * perSite),
      );
      collectors.push({
        site: site,
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

async function limit(database) {
  const empty = await freshDatabase(postgres.url, 'rollcall_bench_raw');
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
  const { devices, first, rescan, watched, raw, idleApiMs } = result;
  const rowsPerSecond = first.rows / first.seconds;
  const bounds = [
    ['rows/s of the first discovery ÷ raw limit', rowsPerSecond / raw.rowsPerSecond, '≥', 0.5],
    ['devices/s of the rescan ÷ first discovery', rescan.devicesPerSecond / first.devicesPerSecond, '≥', 4],
    ['API p95 during first discovery ÷ idle', first.apiMs[1] / idleApiMs[1], '≤', 3],
    ['API p95 during rescan ÷ idle', rescan.apiMs[1] / idleApiMs[1], '≤', 3],
    ['server memory at most, MB', Math.max(first.rssMb, rescan.rssMb), '≤', 400],
  ];
  say(`\n${devices} devices × ${interfaces} interfaces, ${sites} sites, ${sites * each} collectors`);
  say(
    `making the batches, before    ${first.made.seconds.toFixed(1)} s (${first.made.cpuSeconds.toFixed(1)} s of processor), ${(first.made.bytes / 1e6).toFixed(0)} MB in ${first.made.batches} batches`,
  );
  for (const [name, pass] of [
    ['first discovery', first],
    ['rescan', rescan],
    ['a status report each', watched],
  ])
    say(
      `${name.padEnd(30)}${pass.seconds.toFixed(1)} s, ${pass.devicesPerSecond.toFixed(0)} devices/s; processor: server ${pass.serverCpu.toFixed(1)} s, collectors ${pass.cpuSeconds.toFixed(1)} s, all else ${pass.restCpu.toFixed(1)} s; WAL ${(pass.walBytes / 1e6).toFixed(0)} MB; API p50/p95/p99 ${pass.apiMs.map((ms) => ms.toFixed(1)).join(' / ')} ms; ${pass.rssMb.toFixed(0)} MB`,
    );
  say(`idle afterwards               API p50/p95/p99 ${idleApiMs.map((ms) => ms.toFixed(1)).join(' / ')} ms`);
  say(
    `raw limit                     ${raw.seconds.toFixed(1)} s for ${raw.rows} rows, ${raw.rowsPerSecond.toFixed(0)} rows/s (${raw.tables.map(({ table, rows, seconds }) => `${table} ${rows}: ${seconds.toFixed(1)} s`).join(', ')})`,
  );
  say(`rows/s of the first discovery ${rowsPerSecond.toFixed(0)}`);
  let missed = 0;
  for (const [name, value, sign, bound] of bounds) {
    const met = sign === '≥' ? value >= bound : value <= bound;
    if (!met) missed += 1;
    say(`${met ? 'met   ' : 'MISSED'}  ${name}: ${value.toFixed(2)} (${sign} ${bound})`);
  }
  return missed;
}

say(scheduleAsServices());
const devices = Number(options.devices);
const result = await onServer((database, server) => measured(devices, database, server));
const missed = report(result);
if (options.json) console.log(JSON.stringify(result));
postgres.stop({ keep: false });
process.exit(options.check && missed > 0 ? 1 : 0);
