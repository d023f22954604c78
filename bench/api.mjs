// api.mjs [--devices 100000] [--events 10000000] [--endpoints 10000000] [--rounds 40] [--only WORDS] [--database URL] [--keep] [--check]
//
// The REST API over HTTP on PostgreSQL with 100,000 devices, 5 interfaces each, 10,000,000 events and 100,000 cases: each
// list in its default form, with each filter, at page 1 and deep, and each single read; and, with 10,000,000 intervals in which
// tables had hardware addresses, the one search. Each round asks with other values.
//
// Bounds of p95: 50 ms for default lists and single reads; 200 ms for a filter that matches up to 100,000 rows, and for
// pages up to 10,000 rows deep; 1 s for the rest. The first line is the raw limit: one row by its key. With more than 100,000 devices nothing is bounded, only reported.
// --check ends with status 1 when a bound is missed; --only asks the questions whose name has one of the words, separated
// by commas; --events 0 asks nothing about events, --endpoints 0 nothing about endpoints and no search.
//
// The database is made beside the one that --database (or DATABASE_URL, TEST_DATABASE_URL) names; where none is named,
// on a temporary PostgreSQL. It is removed at the end unless --keep; a kept one is used again.
import '../scripts/usage.mjs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { catalogHandlers } from '@rollcall/server/catalog/feature';
import { endpointHandlers } from '@rollcall/server/endpoints/feature';
import { findEndpoints } from '@rollcall/server/endpoints/list';
import { openMakers } from '@rollcall/server/endpoints/makers';
import { incidentHandlers } from '@rollcall/server/incidents/handlers';
import { openLive } from '@rollcall/server/live/live';
import { openAuthenticator } from '@rollcall/server/platform/access/auth';
import { mintToken } from '@rollcall/server/platform/access/token';
import { compactTallies } from '@rollcall/server/platform/db/tally';
import { restApp } from '@rollcall/server/platform/http/http';
import { searchHandlers } from '@rollcall/server/search/feature';
import { FLEET_NOW, FLEET_VERSION, fillFleet, fleetId, fleetSites } from '@rollcall/server/testing/fleet';
import { operations } from '@rollcall/shared/api/index';
import { systemClock as clock } from '@rollcall/shared/clock';
import { questionsOf, setRound } from './api-questions.mjs';
import { freshDatabase, percentile, pg, pino } from './installation.mjs';
import { postgresOf } from './postgres.mjs';

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    events: { type: 'string', default: '10000000' },
    endpoints: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '40' },
    only: { type: 'string' },
    database: { type: 'string' },
    keep: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
/** Fast questions are asked more often, for so long and so often at most. */
const FAST_MS = 400;
const ROUNDS_MOST = 400;
/** Each question is asked so long, and so often at most, before it is measured. */
const WARM_MS = 400;
const WARM_MOST = 300;
/** The largest installation that the bounds are for. */
const BOUNDED_DEVICES = 100_000;
const size = {
  devices: Number(options.devices),
  interfaces: 5,
  events: Number(options.events),
  cases: 100_000,
  endpoints: Number(options.endpoints),
};
const sites = fleetSites(size);
const log = pino({ level: process.env.LOG_LEVEL ?? 'error' });

// ── The database ──

const postgres = await postgresOf(options.database);
const database = await freshDatabase(
  postgres.url,
  `rollcall_bench_api_${size.devices}_${size.events}_${size.endpoints}`,
  {
    keep: options.keep,
    stamp: `fleet ${FLEET_VERSION}`,
  },
);
const { db } = database;
if (!database.kept) await load();

async function load() {
  const start = performance.now();
  const client = new pg.Client({
    connectionString: database.url,
    options: '-c TimeZone=UTC -c maintenance_work_mem=1GB -c work_mem=256MB',
  });
  await client.connect();
  const sql = { query: async (text, params) => (await client.query(text, params)).rows };
  let last = 0;
  await fillFleet(sql, size, (what) => {
    if (performance.now() - last < 5000) return;
    last = performance.now();
    console.error(`${Math.round((last - start) / 1000)} s  ${what}`);
  });
  await compactTallies(db);
  await client.query('VACUUM (ANALYZE)');
  await client.query('CHECKPOINT');
  await client.end();
  await database.finished();
  console.error(`${Math.round((performance.now() - start) / 1000)} s  loaded`);
}

// ── The server ──

// Only the features that answer the questions: the background work of the others would disturb the measurement.
const auth = await openAuthenticator({ db, clock, log });
const live = await openLive({ db, clock, log, watch: auth.watch });
const unused = () => Promise.reject(new Error('not part of this benchmark'));
const makers = openMakers(fileURLToPath(new URL('../rules/catalogue/makers.txt', import.meta.url)));
const handlers = {
  ...catalogHandlers({
    db,
    // Ports that were not read for long are not called free.
    clock: { ...clock, now: () => FLEET_NOW },
    identity: { merge: unused, split: unused, reclassify: unused },
    events: { onMonitoringStopped: unused, onDevicesDeleted: unused },
    makerOf: () => null,
  }),
  ...incidentHandlers({ db, clock }),
  ...endpointHandlers({ db, makers, clock }),
  ...searchHandlers({
    db,
    findEndpoints: (text, within) =>
      findEndpoints(db, text, { ...within, makers, now: Math.floor(clock.now() / 1000) }),
  }),
  ...live.handlers,
};
const mounted = Object.fromEntries(Object.entries(operations).filter(([id]) => id in handlers));
const server = createServer(restApp({ handlers, operations: mounted, auth, log }));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { plaintext: token, hash } = mintToken();
await db.query('DELETE FROM api_tokens');
await db.query(
  `INSERT INTO api_tokens (id, user_id, name, hash, hint) SELECT gen_random_uuid(), id, 'bench', $1, '0000' FROM users WHERE name = 'user-0'`,
  [hash],
);

// ── The measurement ──

const url = `http://127.0.0.1:${server.address().port}`;
const headers = { Authorization: `Bearer ${token}` };
async function ask(path) {
  const start = performance.now();
  const response = await fetch(url + path, { headers });
  const body = await response.text();
  const took = performance.now() - start;
  if (!response.ok) throw new Error(`${path}: ${response.status} ${body.slice(0, 300)}`);
  return [took, JSON.parse(body).totalCount ?? 0];
}

/** Compiles and plans what the question needs, with other values than are measured. */
async function warm(path) {
  const until = performance.now() + WARM_MS;
  for (let i = 0; i === 0 || (i < WARM_MOST && performance.now() < until); i++) {
    setRound(5000 + i);
    await ask(path());
  }
}

/** Milliseconds of every answer, and the last total. */
async function measure(path) {
  await warm(path);
  const times = [];
  let total = 0;
  let spent = 0;
  for (let round = 0; round < ROUNDS || (spent < FAST_MS && round < ROUNDS_MOST); round++) {
    setRound(round);
    const [took, count] = await ask(path());
    times.push(took);
    spent += took;
    total = count;
  }
  return { times, total };
}

/** What no answer can be faster than: a row by its key, through the same connections, without HTTP. */
async function rawLimit() {
  const times = [];
  for (let n = 0; n < 2 * ROUNDS_MOST; n++) {
    const start = performance.now();
    await db.query('SELECT name FROM devices WHERE site_id = $1::uuid AND id = $2::uuid', [
      fleetId('site', n % sites),
      fleetId('device', n),
    ]);
    if (n >= ROUNDS_MOST) times.push(performance.now() - start);
  }
  line('(a row by its key, no HTTP)', 1, times, Number.POSITIVE_INFINITY, '');
}

/** Bound of p95 in ms. */
function boundOf(kind, total, path) {
  if (size.devices > BOUNDED_DEVICES) return Number.POSITIVE_INFINITY;
  if (kind === 'default') return 50;
  const page = Number(new URL(path, 'http://localhost').searchParams.get('page') ?? 1);
  return total <= 100_000 && page * 25 <= 10_000 ? 200 : 1_000;
}

const ms = (value) => (Number.isFinite(value) ? value.toFixed(value < 10 ? 1 : 0) : '').padStart(9);
console.log(
  `${size.devices} devices, ${size.devices * size.interfaces} interfaces, ${size.events} events, ${size.cases} cases, ${size.endpoints} intervals of endpoints, ${sites} sites; ${ROUNDS} rounds; ms`,
);
console.log(
  `${'question'.padEnd(32)}${'count'.padStart(10)}${['p50', 'p95', 'p99', 'bound'].map((word) => word.padStart(9)).join('')}`,
);
const line = (what, total, times, bound, verdict) =>
  console.log(
    `${what.padEnd(32)}${String(total).padStart(10)}${[...[50, 95, 99].map((p) => percentile(times, p)), bound].map(ms).join('')}  ${verdict}`,
  );
await rawLimit();
const missed = [];
let asked = 0;
for (const [what, kind, path] of questionsOf(size, sites)) {
  if (options.only && !options.only.split(',').some((word) => what.includes(word))) continue;
  if (size.events === 0 && what.startsWith('event')) continue;
  if (size.endpoints === 0 && /^(endpoint|search)/.test(what)) continue;
  asked += 1;
  const { times, total } = await measure(path);
  const bound = boundOf(kind, total, path());
  const isMissed = percentile(times, 95) > bound;
  if (isMissed) missed.push(what);
  line(what, total, times, bound, isMissed ? 'FAIL' : 'PASS');
}
console.log(`${asked - missed.length} of ${asked} questions within their bounds of p95`);
if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`);

server.close();
server.closeAllConnections();
await live.close();
await auth.close();
await database.drop();
postgres.stop({ keep: options.keep });
process.exit(options.check && missed.length > 0 ? 1 : 0);
