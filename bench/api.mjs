// api.mjs [--devices 100000] [--events 10000000] [--rounds 40] [--only WORDS] [--database URL] [--keep] [--check]
//
// The REST API over HTTP on PostgreSQL with 100,000 devices, 5 interfaces each, 10,000,000 events and 100,000 cases: each
// list in its default form, with each filter, at page 1 and deep, and each single read. Beside it, in the same run, the same
// question as SQL that a person would write, through pg on one connection: the rows, and the exact count. Each round asks
// with other values, and the other side first.
//
// Bounds of p95: 50 ms for default lists and single reads; 200 ms for a filter that matches up to 100,000 rows, and for
// pages up to 10,000 rows deep; 1 s for the rest. With more devices than 100,000 nothing is bounded, only reported.
// --check ends with status 1 when a bound is missed; --only asks the questions whose name has one of the words, separated
// by commas; --events 0 asks nothing about events.
//
// The database is made next to the one that --database (or DATABASE_URL, TEST_DATABASE_URL) names; where none is named,
// on a PostgreSQL of its own in the temporary folder, which it says. Everything is removed at the end unless --keep; what
// was kept is used again.
import '../scripts/usage.mjs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { catalogHandlers } from '@rollcall/server/catalog/feature';
import { incidentHandlers } from '@rollcall/server/incidents/handlers';
import { openLive } from '@rollcall/server/live/live';
import { openAuthenticator } from '@rollcall/server/platform/access/auth';
import { mintToken } from '@rollcall/server/platform/access/token';
import { openDatabase } from '@rollcall/server/platform/db/db';
import { migrate } from '@rollcall/server/platform/db/migrate';
import { compactTallies } from '@rollcall/server/platform/db/tally';
import { restApp } from '@rollcall/server/platform/http/http';
import { FLEET_VERSION, fillFleet, fleetSites } from '@rollcall/server/testing/fleet';
import { operations } from '@rollcall/shared/api/index';
import { systemClock as clock } from '@rollcall/shared/clock';
import { openClient } from './api-client.mjs';
import { questionsOf, turn } from './api-questions.mjs';
import { ownPostgres } from './postgres.mjs';

const require = createRequire(fileURLToPath(new URL('../packages/server/package.json', import.meta.url)));
const pg = require('pg');
const { pino } = require('pino');
const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    events: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '40' },
    only: { type: 'string' },
    database: { type: 'string' },
    keep: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
const size = {
  devices: Number(options.devices),
  interfaces: 5,
  events: Number(options.events),
  cases: 100_000,
};
/** Most devices of an installation that the bounds are for. */
const BOUNDED_DEVICES = 100_000;
const sites = fleetSites(size);
const log = pino({ level: process.env.LOG_LEVEL ?? 'error' });
const named = options.database ?? process.env.DATABASE_URL ?? process.env.TEST_DATABASE_URL;
const own = named ? undefined : await ownPostgres(join(tmpdir(), 'rollcall-bench-postgres'));
console.error(own ? `no database was named: ${own.what}` : `on the PostgreSQL that is named`);
const base = named || own.url;

// ── The database ──

const name = `rollcall_bench_api_${size.devices}_${size.events}`;
const url = Object.assign(new URL(base), { pathname: `/${name}` }).href;
const admin = new pg.Client({ connectionString: base });
await admin.connect();
const wanted = `fleet ${FLEET_VERSION}`;
const found = await admin.query(
  `SELECT shobj_description(oid, 'pg_database') AS stamp FROM pg_database WHERE datname = $1`,
  [name],
);
if (found.rows[0]?.stamp !== wanted) {
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  await load();
  await admin.query(`COMMENT ON DATABASE ${name} IS '${wanted}'`);
} else {
  const db = await openDatabase({ url }, log);
  await migrate(db);
  await db.close();
}

async function load() {
  const start = performance.now();
  const db = await openDatabase({ url }, log);
  await migrate(db);
  const client = new pg.Client({
    connectionString: url,
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
  await db.close();
  console.error(`${Math.round((performance.now() - start) / 1000)} s  loaded`);
}

// ── The server ──

// Only what answers the questions: the other features would work on the installation meanwhile.
const db = await openDatabase({ url }, log);
const auth = await openAuthenticator({ db, clock, log });
const live = await openLive({ db, clock, log, watch: auth.watch });
const unused = () => Promise.reject(new Error('not part of this benchmark'));
const handlers = {
  ...catalogHandlers({
    db,
    clock,
    identity: { merge: unused, split: unused, reclassify: unused },
    events: { onMonitoringStopped: unused, onDevicesDeleted: unused },
  }),
  ...incidentHandlers({ db, clock }),
  ...live.handlers,
};
const mounted = Object.fromEntries(Object.entries(operations).filter(([id]) => id in handlers));
const server = createServer(restApp({ handlers, operations: mounted, auth, log }));
// The one connection lies idle while a question is asked by hand.
server.keepAliveTimeout = 60_000;
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
/** A question by hand that takes longer is given up, and counted as that long. */
const HAND_MOST_MS = 5_000;
const hand = new pg.Client({
  connectionString: url,
  // As the server's own connections are, so that the questions differ and nothing else.
  options: `-c TimeZone=UTC -c jit=off -c statement_timeout=${HAND_MOST_MS}`,
});
await hand.connect();
const { plaintext: token, hash } = mintToken();
await hand.query('DELETE FROM api_tokens');
await hand.query(
  `INSERT INTO api_tokens (id, user_id, name, hash, hint) SELECT gen_random_uuid(), id, 'bench', $1, '0000' FROM users WHERE name = 'user-0'`,
  [hash],
);

// ── The measurement ──

const at = (numbers, share) =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
/** Bound of p95 in ms: of a default list or single read, of a filter with few rows at a page near the first, of the rest. */
function boundOf(kind, total, path) {
  if (size.devices > BOUNDED_DEVICES) return Number.POSITIVE_INFINITY;
  if (kind === 'default') return 50;
  const page = Number(new URL(path, 'http://localhost').searchParams.get('page') ?? 1);
  return total <= 100_000 && page * 25 <= 10_000 ? 200 : 1_000;
}
/** Time that one question by hand may take in all. */
const HAND_MS = 3_000;
/** Fast questions are asked more often, up to this long and this often. */
const FAST_MS = 400;
const ROUNDS_MOST = 400;
/** Before the first measured one. */
const WARM_MS = 400;
const WARM_MOST = 300;
const ms = (value) => (value === undefined ? '' : value.toFixed(value < 10 ? 1 : 0)).padStart(8);

const client = openClient(server.address().port, token);
async function ask(path) {
  const start = performance.now();
  const { status, body } = await client.get(path);
  const took = performance.now() - start;
  if (status !== 200) throw new Error(`${path}: ${status} ${body.slice(0, 300)}`);
  return [took, JSON.parse(body)];
}
/** What a request costs that asks the database nothing: one that is refused once its caller is known. */
async function floorOf() {
  const times = [];
  for (let i = 0; i < 500; i++) {
    const start = performance.now();
    await client.get('/api/devices?page=0');
    times.push(performance.now() - start);
  }
  return at(times.slice(250), 0.5);
}
async function askByHand(statements) {
  const start = performance.now();
  const results = [];
  try {
    for (const [sql, params] of statements) results.push(await hand.query(sql, params));
  } catch (error) {
    if (error.code !== '57014') throw error;
  }
  return [performance.now() - start, results];
}

console.log(
  `${size.devices} devices, ${size.devices * size.interfaces} interfaces, ${size.events} events, ${size.cases} cases, ${sites} sites; ${ROUNDS} rounds; ms`,
);
console.log(
  `${'question'.padEnd(32)}${'count'.padStart(10)}${['p50', 'p95', 'p99', 'bound', 'hand p50', 'hand p95', 'ratio'].map((word) => word.padStart(9)).join('')}`,
);
const floor = await floorOf();
console.log(
  `HTTP, caller and parsing alone: ${floor.toFixed(2)} ms, in every time of ours and in no time by hand`,
);
/** As a server that has been running: both sides' code compiled, both connections planned. Other values than measured. */
async function warm(path, byHand) {
  const until = performance.now() + WARM_MS;
  for (let i = 0; i === 0 || (i < WARM_MOST && performance.now() < until); i++) {
    turn(5000 + i);
    await ask(path());
    if (byHand) await askByHand(byHand());
  }
}

const missed = [];
let asked = 0;
for (const [what, kind, path, byHand] of questionsOf(size, sites)) {
  if (options.only && !options.only.split(',').some((word) => what.includes(word))) continue;
  if (size.events === 0 && what.startsWith('event')) continue;
  const ours = [];
  const theirs = [];
  let total;
  asked += 1;
  await warm(path, byHand);
  for (let round = 0; round < ROUNDS || (sum(ours) < FAST_MS && round < ROUNDS_MOST); round++) {
    turn(round);
    // A slow hand-written question is asked a few times only.
    const sides = byHand && (theirs.length === 0 || sum(theirs) < HAND_MS) ? ['ours', 'hand'] : ['ours'];
    // Whoever asks first finds pages outside the cache that the other finds in it.
    if (round % 2 === 1) sides.reverse();
    let count;
    for (const side of sides)
      if (side === 'ours') {
        const [took, body] = await ask(path());
        ours.push(took);
        total = body.totalCount;
      } else {
        const [took, results] = await askByHand(byHand());
        theirs.push(took);
        count = results.length === 2 ? Number(results[1].rows[0].count) : undefined;
      }
    if (count !== undefined && total !== undefined && count !== total)
      throw new Error(`${path()}: ${total} counted, ${count} there are`);
  }
  const ratio = at(ours, 0.5) / at(theirs, 0.5);
  const bound = boundOf(kind, total ?? 0, path());
  const bad = at(ours, 0.95) > bound;
  if (bad) missed.push(what);
  console.log(
    `${what.padEnd(32)}${String(total ?? '').padStart(10)} ${ms(at(ours, 0.5))} ${ms(at(ours, 0.95))} ${ms(at(ours, 0.99))} ${ms(Number.isFinite(bound) ? bound : undefined)} ${ms(at(theirs, 0.5))} ${ms(at(theirs, 0.95))} ${(Number.isNaN(ratio) ? '' : ratio.toFixed(2)).padStart(8)}  ${bad ? 'FAIL' : 'PASS'}`,
  );
}
console.log(`${asked - missed.length} of ${asked} questions within their bounds of p95`);
if (missed.length > 0) console.log(`missed: ${missed.join('; ')}`);

await hand.end();
client.close();
server.close();
server.closeAllConnections();
await live.close();
await auth.close();
await db.close();
if (!options.keep) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
await admin.end();
own?.stop({ keep: options.keep });
process.exit(options.check && missed.length > 0 ? 1 : 0);
