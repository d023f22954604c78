// partitions.mjs [--events 1000000] [--rounds 30] [--splits month,quarter,half,closed] [--database URL]
//
// What the API's questions cost when events are partitioned by time, against the one table that they are: the same rows,
// 24 months of them, in databases side by side; each question in turn at each, by the server's own handlers; median and p95.
// Splits: by range of the id (a UUIDv7, in the order of time) of so many months each; `closed`: open events apart, the
// closed ones by month.
import '../scripts/usage.mjs';
import { parseArgs } from 'node:util';
import { catalogHandlers } from '@rollcall/server/catalog/feature';
import { incidentHandlers } from '@rollcall/server/incidents/handlers';
import { compactTallies } from '@rollcall/server/platform/db/tally';
import { FLEET_NOW, fillFleet, fleetId } from '@rollcall/server/testing/fleet';
import { asCaller, caller } from '@rollcall/server/testing/rows';
import { systemClock as clock } from '@rollcall/shared/clock';
import { freshDatabase, pg, postgresOf } from './installation.mjs';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '30' },
    splits: { type: 'string', default: 'month,quarter,half,closed' },
    database: { type: 'string' },
  },
});
const EVENTS = Number(options.events);
const ROUNDS = Number(options.rounds);
const MONTHS = 24;
const SPLITS = { month: 1, quarter: 3, half: 6, year: 12, closed: 1 };
/** The fleet's events are of 90 days. */
const STRETCH = 8;
const DEVICES = 20_000;

const base = postgresOf(options.database);
const databases = {};
try {
  for (const name of ['one', ...options.splits.split(',')]) {
    if (name !== 'one' && !SPLITS[name])
      throw new Error(`no split ${name}: ${Object.keys(SPLITS).join(', ')}`);
    databases[name] = await prepare(name);
    console.error(`${name}: filled`);
  }
  await ask(databases);
} finally {
  for (const { drop } of Object.values(databases)) await drop();
}

async function prepare(name) {
  const { url, db, drop } = await freshDatabase(base, `rollcall_bench_partitions_${name}`);
  const client = new pg.Client({
    connectionString: url,
    options: '-c TimeZone=UTC -c synchronous_commit=off',
  });
  await client.connect();
  const query = async (text, params) => (await client.query(text, params)).rows;
  const size = { devices: DEVICES, interfaces: 1, events: EVENTS, cases: Math.ceil(EVENTS / 50) };
  await fillFleet({ query }, size);
  await spread(query);
  if (name !== 'one') await split(query, name);
  await client.end();
  await compactTallies(db);
  await db.ingest.query('VACUUM (ANALYZE)');
  return { db, drop };
}

/** Over all the months, with ids of their time, and cases of neighbours in time. */
async function spread(query) {
  const now = `timestamptz '${new Date(FLEET_NOW).toISOString()}'`;
  const older = (column) => `(${now} - ${STRETCH} * (${now} - ${column}))`;
  const columns = await columnsOf(query);
  const others = {
    id: `(substr(ms, 1, 8) || '-' || substr(ms, 9, 4) || '-7' || substr(r, 1, 3) || '-8' || substr(r, 4, 3) || '-' || substr(r, 7, 12))::uuid`,
    first_seen: older('first_seen'),
    timestamp: older('"timestamp"'),
    closed_at: older('closed_at'),
    case_id: `CASE WHEN case_id IS NOT NULL THEN (SELECT c.id FROM numbered c WHERE c.k = e.n / 50) END`,
  };
  await query(
    'CREATE TABLE numbered AS SELECT row_number() OVER (ORDER BY id) - 1 AS k, id FROM cases; CREATE UNIQUE INDEX ON numbered (k)',
  );
  await query(
    `CREATE TABLE moved AS SELECT ${columns.map((each) => `${others[each] ?? `"${each}"`} AS "${each}"`).join(', ')}
     FROM (SELECT e.*, row_number() OVER (ORDER BY id) - 1 AS n, md5(e.id::text) AS r,
       lpad(to_hex((extract(epoch FROM ${older('first_seen')}) * 1000)::bigint), 12, '0') AS ms FROM events e) e ORDER BY "timestamp"`,
  );
  const definitions = await indexesOf(query);
  await query('TRUNCATE events; ALTER TABLE events DROP CONSTRAINT events_pkey');
  for (const { name } of definitions) await query(`DROP INDEX IF EXISTS "${name}"`);
  await query('INSERT INTO events SELECT * FROM moved; DROP TABLE moved, numbered');
  for (const { definition } of definitions) await query(definition);
}

const columnsOf = async (query) =>
  (
    await query(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    )
  ).map(({ name }) => name);
const indexesOf = (query) =>
  query(`SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = 'events'`);

async function split(query, name) {
  const definitions = await indexesOf(query);
  const closed = name === 'closed';
  await query(
    `ALTER TABLE events RENAME TO whole; CREATE TABLE events (LIKE whole INCLUDING DEFAULTS) PARTITION BY RANGE (${closed ? 'status' : 'id'})`,
  );
  if (closed)
    await query(
      `CREATE TABLE events_live PARTITION OF events FOR VALUES FROM (MINVALUE) TO (2);
       CREATE TABLE events_closed PARTITION OF events FOR VALUES FROM (2) TO (MAXVALUE) PARTITION BY RANGE (id)`,
    );
  const above = closed ? 'events_closed' : 'events';
  const newest = new Date(FLEET_NOW);
  const idOf = (month) => {
    const ms = Date.UTC(newest.getUTCFullYear(), newest.getUTCMonth() + month, 1)
      .toString(16)
      .padStart(12, '0');
    return `'${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000'`;
  };
  const step = SPLITS[name];
  for (let month = -MONTHS; month <= 2; month += step)
    await query(
      `CREATE TABLE events_${month + MONTHS} PARTITION OF ${above} FOR VALUES FROM (${idOf(month)}) TO (${idOf(month + step)})`,
    );
  await query(`CREATE TABLE events_rest PARTITION OF ${above} DEFAULT`);
  await query('INSERT INTO events SELECT * FROM whole; DROP TABLE whole');
  for (const { definition } of definitions) {
    // What is about open events need only be where they are; a key that does not hold what is split by cannot be unique.
    const open = closed && /status (< 2|= 1)/.test(definition);
    const held = open || (!closed && !definition.includes('events_live_key'));
    const text = held ? definition : definition.replace('UNIQUE ', '');
    await query(open ? text.replace('public.events ', 'public.events_live ') : text);
  }
}

async function ask(databases) {
  const unused = () => Promise.reject(new Error('not part of this benchmark'));
  const asked = {};
  for (const [name, { db }] of Object.entries(databases)) {
    const deps = {
      ...{ db, clock, identity: { merge: unused, split: unused, reclassify: unused } },
      events: { onMonitoringStopped: unused, onDevicesDeleted: unused },
    };
    const handlers = { ...catalogHandlers(deps), ...incidentHandlers(deps) };
    const ids = await db.query('SELECT id FROM events TABLESAMPLE SYSTEM (5) LIMIT 300');
    asked[name] = {
      event: (i) => ids[i % ids.length]?.id,
      all: asCaller(handlers, caller('viewer', 'all')),
      one: asCaller(handlers, caller('viewer', [fleetId('site', 3)])),
    };
  }
  const device = (i) => fleetId('device', (77 + 311 * i) % DEVICES);
  const day = (i) => FLEET_NOW / 1000 - 86_400 * (20 + 11 * i);
  const events = (name, query, who = 'all') => [
    name,
    (at, i) => at[who]('events.list', { query: typeof query === 'function' ? query(i) : query }),
  ];
  const single = (id, of) => [id, (at, i) => at.all(id, { params: { id: of(at, i) } })];
  const questions = [
    events('events', {}),
    events('events of one site', {}, 'one'),
    events('events, deep', (i) => ({ page: String(Math.floor(EVENTS / 50) + i) })),
    events('events that are open', { Status: '0,1' }),
    events('events of severity 1', { Severity: '1' }),
    events('events of a day', (i) => ({ from: String(day(i)), to: String(day(i) + 86_400) })),
    events('events of a device', (i) => ({ Device: device(i) })),
    single('events.get', (at, i) => at.event(i)),
    ['devices', (at) => at.all('devices.list', { query: {} })],
    single('devices.get', (_, i) => device(i)),
    single('devices.history', (_, i) => device(i)),
    single('devices.explain', (_, i) => device(i)),
    ['cases', (at) => at.all('cases.list', { query: {} })],
    ['cases, a later page', (at, i) => at.all('cases.list', { query: { page: String(10 + i) } })],
    single('cases.get', (_, i) => fleetId('case', 7 + i)),
  ];
  const names = Object.keys(asked);
  console.log(`${'median (p95), ms'.padEnd(28)}${names.map((name) => name.padStart(18)).join('')}`);
  for (const [what, put] of questions) {
    const times = Object.fromEntries(names.map((name) => [name, []]));
    // The first ones: connections come to keep their plans.
    for (let i = -8; i < ROUNDS; i++)
      for (const name of names) {
        const begun = performance.now();
        await put(asked[name], Math.abs(i));
        if (i >= 0) times[name].push(performance.now() - begun);
      }
    const shown = names.map((name) => {
      const sorted = times[name].sort((a, b) => a - b);
      const part = (share) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
      return `${part(0.5).toFixed(2)} (${part(0.95).toFixed(1)})`.padStart(18);
    });
    console.log(what.padEnd(28) + shown.join(''));
  }
}
