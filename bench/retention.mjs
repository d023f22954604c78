// retention.mjs [--rows 300000] [--database URL] [--json]
//
// What forgetting by age costs, against what it would with partitions by time: a table of so many rows, half of them too
// old, is tidied by the server's own rounds of DELETE; beside it, in the same run, the same rows stand in two partitions
// with the same indexes, of which the older is dropped. The audit log and events, which have the most indexes. Seconds,
// WAL, and what is left on the disk, before and after VACUUM; and what it took to store the half that goes.
import '../scripts/usage.mjs';
import { parseArgs } from 'node:util';
import { createForgetting } from '@rollcall/server/incidents/retention';
import { forget, RULES } from '@rollcall/server/service/retention';
import { systemClock as clock } from '@rollcall/shared/clock';
import { freshDatabase, pg, postgresOf } from './installation.mjs';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '300000' },
    database: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);
const DAYS = RULES.find(({ table }) => table === 'audit').days;
const START = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
const ago = (days) => `timestamptz '${START}' - interval '${days} days'`;

const database = await freshDatabase(postgresOf(options.database), 'rollcall_bench_retention');
const { db } = database;
const forgetEvents = createForgetting({
  db,
  clock,
  log: { info: () => undefined },
  audit: async () => undefined,
});
const client = new pg.Client({ connectionString: database.url });
await client.connect();
try {
  const results = {
    audit: await compare('audit', {
      time: 'at',
      columns: 'id, at, actor, action, subject, detail',
      values: `gen_random_uuid(), t, 'somebody', 'token.create', 'token ' || n, '{"name":"a token of somebody"}'`,
      round: async () => Object.keys(await forget({ db, clock })).length,
    }),
    events: await compare('events', {
      time: 'timestamp',
      columns:
        'site_id, id, device_id, kind, source, severity, status, message, dedup_key, first_seen, timestamp, closed_at, close_reason',
      values: `md5((n % 10)::text)::uuid, gen_random_uuid(), md5('d' || n % 3000)::uuid, 'interface.down', 'snmp', 3, 2,
        'Gi1/0/' || n % 48 || ' is down', 'interface.down:' || n, t, t, t, 'cleared'`,
      round: async () => (await forgetEvents(DAYS)).events,
    }),
  };
  for (const [table, result] of Object.entries(results))
    if (options.json) console.log(JSON.stringify({ table, rows, forgotten: rows / 2, ...result }));
    else report(table, result);
} finally {
  await client.end();
  await database.drop();
}

/** Half of a table is forgotten; beside it, the older of two partitions with the same rows is dropped. */
async function compare(table, { time, columns, values, round }) {
  const fill = (from, days) =>
    client.query(
      `INSERT INTO ${table} (${columns}) SELECT ${values} FROM generate_series(${from}, ${from + rows / 2 - 1}) n,
       LATERAL (SELECT ${ago(days)} - ${2 / rows} * n * interval '1 day' AS t) x`,
    );
  await fill(0, 1);
  const inserted = await measured([table], () => fill(rows / 2, DAYS + 1));
  await client.query(
    `CREATE TABLE kept (LIKE ${table} INCLUDING DEFAULTS) PARTITION BY RANGE ("${time}");
     CREATE TABLE kept_old PARTITION OF kept FOR VALUES FROM (MINVALUE) TO (${ago(DAYS)});
     CREATE TABLE kept_new PARTITION OF kept FOR VALUES FROM (${ago(DAYS)}) TO (MAXVALUE);
     INSERT INTO kept SELECT * FROM ${table};`,
  );
  const { rows: indexes } = await client.query(
    'SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = $1',
    [table],
  );
  for (const { name, definition } of indexes)
    await client.query(
      definition
        .replace('CREATE UNIQUE', 'CREATE')
        .replace(` ${name} `, ` kept_${name} `)
        .replace(`public.${table} `, 'public.kept '),
    );
  await client.query('VACUUM ANALYZE');
  const deleted = await measured([table], async () => {
    while ((await round()) > 0);
  });
  const dropped = await measured(['kept_old', 'kept_new'], () => client.query('DROP TABLE kept_old'));
  await client.query('DROP TABLE kept');
  return { inserted, deleted, dropped };
}

async function measured(tables, work) {
  const size = async () => {
    const { rows: found } = await client.query(
      'SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::float8 AS bytes FROM pg_class WHERE relname = ANY($1)',
      [tables],
    );
    return found[0].bytes;
  };
  const wal = async () =>
    (await client.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS at`)).rows[0].at;
  const before = { bytes: await size(), wal: await wal(), at: performance.now() };
  await work();
  const seconds = (performance.now() - before.at) / 1000;
  const walBytes = (await wal()) - before.wal;
  const bytes = await size();
  const vacuum = { wal: await wal(), at: performance.now() };
  await client.query('VACUUM');
  return {
    seconds,
    walBytes,
    bytesBefore: before.bytes,
    bytesAfter: bytes,
    vacuumSeconds: (performance.now() - vacuum.at) / 1000,
    vacuumWalBytes: (await wal()) - vacuum.wal,
    bytesVacuumed: await size(),
  };
}

function report(table, { inserted, deleted, dropped }) {
  const forgotten = rows / 2;
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(`${table}: ${forgotten} of ${rows} rows forgotten`);
  for (const [name, is] of [
    ['as they came, by INSERT', inserted],
    ['by DELETE, as it is', deleted],
    ['by dropping a partition', dropped],
  ])
    console.log(
      `${name.padEnd(26)}${is.seconds.toFixed(3)} s, WAL ${mb(is.walBytes)}; disk ${mb(is.bytesBefore)} → ${mb(is.bytesAfter)}; ` +
        `VACUUM ${is.vacuumSeconds.toFixed(3)} s, WAL ${mb(is.vacuumWalBytes)}, then ${mb(is.bytesVacuumed)}`,
    );
  console.log(
    `DELETE ÷ DROP: ${(deleted.seconds / dropped.seconds).toFixed(0)} × the time; ${(forgotten / deleted.seconds).toFixed(0)} rows/s`,
  );
}
