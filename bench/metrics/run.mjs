// run.mjs [--scale 1] [--minutes 60] [--days 365] [--database URL] [--without-backlog] [--without-collector] [--check] [--json]
//
// Measurements of 10,000 devices with 24 ports (times --scale), once a minute: 40,000 values a second. The same values go
// into the server's code on PostgreSQL, and by remote write into the Debian packages of VictoriaMetrics and Prometheus on this
// machine: processor time until everything is stored and rolled up, octets on disk with indexes. Then the same questions to each:
// a port's day, a port's year (a device of its own with --days), the busiest 20 ports now. Then collectors that were cut off
// for an hour deliver it to the server's program (--without-backlog leaves that out). At last a collector reads the agents of
// bench/sweep (root, Linux) and Debian's prometheus-snmp-exporter reads the same by its module if_mib.
// --check ends with status 1 when a bound of docs/speed.md is missed.
import '../../scripts/usage.mjs';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readPresent } from '@rollcall/server/incidents/conditions/store';
import { writeRequest } from '@rollcall/server/measurements/engine/write-request';
import { readMeasurements } from '@rollcall/server/measurements/read';
import { rollUp } from '@rollcall/server/measurements/rollup';
import { storeSamples } from '@rollcall/server/measurements/samples';
import { readTop } from '@rollcall/server/measurements/top';
import { METRIC_DAYS } from '@rollcall/server/platform/ops/config';
import { freshDatabase, percentile, pino } from '../installation.mjs';
import { postgresOf } from '../postgres.mjs';
import { cpuOf, rivals, startRival } from './rivals.mjs';
import { MINUTE, makeWorld, observe, PORTS, rowOf } from './world.mjs';

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '60' },
    days: { type: 'string', default: '365' },
    database: { type: 'string' },
    'without-backlog': { type: 'boolean', default: false },
    'without-collector': { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const [minutes, days] = [options.minutes, options.days].map(Number);
const count = Math.max(10, Math.round(10_000 * Number(options.scale)));
/** Ours, of the better rival's, as docs/speed.md has them. */
const BOUNDS = { cpu: 3, octets: 0.5, day: 5, year: 10, top: 2, read: 0.5 };
/** How long what happens meanwhile may wait behind an hour of measurements, of all collectors; p95. */
const NEWS_MS = 1_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Begin of the measured hour. */
const START = Date.UTC(2026, 10, 20, 9);
/** Devices of one transaction, as a batch of a collector has them, and of one request. */
const BATCH = 100;
const ASKED = 50;
/** Ports of the device that has a history, and how often it was measured. */
const HISTORY = { ports: 4, overMs: 5 * MINUTE };
const say = (text) => process.stderr.write(`${(performance.now() / 1000).toFixed(0)} s: ${text}\n`);
const chunks = (all) =>
  Array.from({ length: Math.ceil(all.length / BATCH) }, (_, i) => all.slice(i * BATCH, (i + 1) * BATCH));

const postgres = await postgresOf(options.database);
const database = await freshDatabase(postgres.url, 'rollcall_bench_metrics');
const { db } = database;
const log = pino({ level: 'error' });
const [{ folder }] = await db.query('SELECT setting AS folder FROM pg_settings WHERE name = $1', [
  'data_directory',
]);
const postmaster = Number(readFileSync(`${folder}/postmaster.pid`, 'latin1').split('\n')[0]);
/** Processor seconds of all processes of PostgreSQL so far. */
const postgresCpu = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce(
      (sum, pid) => {
        try {
          const isChild =
            Number(
              readFileSync(`/proc/${pid}/stat`, 'latin1')
                .replace(/^.*\) /, '')
                .split(' ')[1],
            ) === postmaster;
          return isChild ? sum + cpuOf(pid) : sum;
        } catch {
          return sum; // It has just ended.
        }
      },
      cpuOf(postmaster, true),
    );

let ownCpu = 0;
let now = START;
const clock = { now: () => now };
/** Counts the processor time of what the server does, not of what makes up the samples. */
async function timed(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  ownCpu += (user + system) / 1e6;
  return result;
}
const foldAll = () =>
  timed(async () => {
    while ((await rollUp({ db, clock, log })) > 0);
  });

/** Intervals in the order of time: the history of one device, the hour of all, and five minutes more that are of now. */
function* intervals(devices, part) {
  if (part === 'history') {
    const last = devices.at(-1);
    for (let at = START - days * DAY; at < START - 2 * HOUR; at += HOUR)
      yield Array.from({ length: HOUR / HISTORY.overMs }, (_, i) => [
        last,
        observe(last, at + (i + 1) * HISTORY.overMs, HISTORY),
      ]);
    return;
  }
  const [from, to] = part === 'hour' ? [1, minutes] : [minutes + 1, minutes + 5];
  for (let minute = from; minute <= to; minute++)
    for (const some of chunks(devices.slice(0, -1)))
      yield some.map((device) => [device, observe(device, START + minute * MINUTE)]);
}

async function feedOurs(devices, part) {
  let day = 0;
  for (const some of intervals(devices, part)) {
    const measured = some.map(([, observation]) => ({ at: observation.at, observation }));
    const { siteId } = some[0][0];
    now = Math.max(...measured.map(({ at }) => at));
    await timed(() =>
      db.transaction((sql) =>
        storeSamples(sql, measured, {
          siteId,
          collectorId: siteId,
          now,
          toEngine: false,
          sampleDays: METRIC_DAYS.samples,
          readPresent,
        }),
      ),
    );
    if (part === 'history' && Math.floor(now / DAY) !== day) {
      day = Math.floor(now / DAY);
      await foldAll();
    }
  }
}

async function feedRival(rival, devices, part) {
  for (const some of intervals(devices, part))
    await rival.write(writeRequest(some.map(([device, observation]) => rowOf(device, observation))));
}

/** p95 of the milliseconds of the same question, asked again and again. */
async function asked(question) {
  const times = [];
  for (let i = 0; i < ASKED; i++) {
    const begun = performance.now();
    await question();
    times.push(performance.now() - begun);
  }
  return percentile(times, 95);
}

const results = { devices: count, ports: count * PORTS, minutes, rows: [] };
let failed = 0;
try {
  const devices = await makeWorld(db, count + 1);
  const old = devices.at(-1);
  const end = START + (minutes + 5) * MINUTE;
  const values = count * PORTS * 10 * minutes;

  say(`${values.toLocaleString('en')} values into our server and database …`);
  await feedOurs(devices, 'history');
  const size = async () =>
    Number((await db.query("SELECT pg_total_relation_size('sample_chunks')::text AS n"))[0].n);
  const [before, cpuBefore] = [await size(), postgresCpu()];
  ownCpu = 0;
  let begun = performance.now();
  await feedOurs(devices, 'hour');
  now = START + minutes * MINUTE + 6 * MINUTE;
  await foldAll();
  const stored = [
    {
      name: 'ours',
      cpu: ownCpu + postgresCpu() - cpuBefore,
      octets: ((await size()) - before) / values,
      seconds: (performance.now() - begun) / 1000,
      of: `server ${ownCpu.toFixed(1)} s`,
    },
  ];
  now = START + minutes * MINUTE;
  await feedOurs(devices, 'now');
  await db.query('VACUUM ANALYZE samples');
  now = end;
  const to = Math.floor(START / 1000) - 7200;
  const ask = (metrics, from, step) =>
    asked(() =>
      readMeasurements(
        db,
        { deviceId: [old.id], interfaceId: [old.ports[0]], metrics, from, to, step, aggregate: 'avg' },
        { scope: null, now, days: METRIC_DAYS },
      ),
    );
  const answers = [
    {
      name: 'ours',
      day: await ask(['in', 'out'], to - 86_400, 300),
      year: await ask(['in', 'out'], to - days * 86_400, 86_400),
      top: await asked(() => readTop(db, { metric: 'in', limit: 20 }, { scope: null, now })),
    },
  ];

  for (const name of rivals()) {
    say(`the same into ${name} …`);
    const rival = await startRival(name);
    try {
      // Prometheus is not made for what is a year old.
      const hasHistory = name === 'victoria-metrics';
      if (hasHistory) await feedRival(rival, devices, 'history');
      if (hasHistory) await rival.settle();
      const [kept, cpu] = [hasHistory ? rival.kept() : 0, rival.cpu()];
      begun = performance.now();
      await feedRival(rival, devices, 'hour');
      await rival.settle();
      stored.push({
        ...{ name, cpu: rival.cpu() - cpu, octets: (rival.kept() - kept) / values },
        seconds: (performance.now() - begun) / 1000,
      });
      await feedRival(rival, devices, 'now');
      if (hasHistory) await rival.settle();
      const range = (direction, from, step) =>
        rival.ask('query_range', {
          query: `avg_over_time(rollcall_interface_${direction}_bytes_per_second{interface_id="${old.ports[0]}"}[${step}s])`,
          ...{ start: String(from), end: String(to), step: String(step) },
        });
      const both = (from, step) =>
        asked(() => Promise.all(['receive', 'transmit'].map((one) => range(one, from, step))));
      answers.push({
        name,
        day: hasHistory ? await both(to - 86_400, 300) : null,
        year: hasHistory ? await both(to - days * 86_400, 86_400) : null,
        top: await asked(() =>
          rival.ask('query', {
            query: 'topk(20, rollcall_interface_receive_bytes_per_second)',
            time: String(end / 1000),
          }),
        ),
      });
    } finally {
      await rival.stop();
    }
  }
  Object.assign(results, { stored, answers });
} catch (error) {
  failed = 1;
  console.error(error);
} finally {
  await database.drop();
  postgres.stop({ keep: false });
}

/** What a program beside this one says at its end, as JSON. */
function told(program, ...args) {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, [path, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1)) : undefined;
}
if (!failed && !options['without-backlog']) {
  say('an hour at once …');
  const named = options.database ? ['--database', options.database] : [];
  results.backlog = told('backlog.mjs', options.scale, ...named);
}
if (!failed && !options['without-collector']) results.reads = told('reads.mjs', options.scale);

/** Ours beside the best of the others. */
const times = (rows, key) => {
  const [ours, ...others] = rows ?? [];
  const best = Math.min(...others.map((one) => one[key] ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(best) ? ours[key] / best : null;
};
const factors = {
  ...{ cpu: times(results.stored, 'cpu'), octets: times(results.stored, 'octets') },
  ...{
    day: times(results.answers, 'day'),
    year: times(results.answers, 'year'),
    top: times(results.answers, 'top'),
  },
  read: results.reads ? results.reads.ours / results.reads.exporter : null,
};
const missed = Object.entries(factors).flatMap(([what, factor]) =>
  factor !== null && factor > BOUNDS[what] ? [`${what} × ${factor.toFixed(2)}, bound ${BOUNDS[what]}`] : [],
);
const { backlog } = results;
if (!backlog && !options['without-backlog']) missed.push('the hour at once');
if (backlog?.lost) missed.push(`${backlog.lost} minutes lost`);
if (backlog && backlog.newsMs.p95 > NEWS_MS)
  missed.push(`news after ${backlog.newsMs.p95.toFixed(0)} ms, bound ${NEWS_MS}`);
if (options.json) console.log(JSON.stringify({ ...results, factors, missed }));
else {
  const shown = (number) => (number === null ? '–' : number.toFixed(number < 10 ? 2 : 0));
  console.log(
    `\n${results.devices} devices, ${results.ports} ports, ${minutes} minutes; load ${readFileSync('/proc/loadavg', 'latin1').split(' ')[0]}`,
  );
  for (const { name, cpu, octets, seconds, of = '' } of results.stored ?? [])
    console.log(
      `  ${name.padEnd(18)} ${shown(cpu)} s of a core ${of && `(${of})`}, ${shown(octets)} octets a value, ${shown(seconds)} s`,
    );
  for (const { name, day, year, top } of results.answers ?? [])
    console.log(
      `  ${name.padEnd(18)} p95: a port's day ${shown(day)} ms, year ${shown(year)} ms, busiest 20 ${shown(top)} ms`,
    );
  if (backlog)
    console.log(
      `  an hour at once    ${backlog.observed} minutes of devices in ${shown(backlog.seconds)} s, lost ${backlog.lost}; news acknowledged after ${shown(backlog.newsMs.p95)} ms (p95), ${shown(backlog.newsMs.most)} ms at most`,
    );
  if (results.reads)
    console.log(
      `  reading a device: ours ${shown(results.reads.ours)} ms of a core, snmp_exporter ${shown(results.reads.exporter)}`,
    );
  console.log(
    `  ours × : ${Object.entries(factors)
      .map(([what, factor]) => `${what} ${shown(factor)}`)
      .join(', ')}`,
  );
  if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`);
}
process.exit(failed || (options.check && missed.length > 0) ? 1 : 0);
