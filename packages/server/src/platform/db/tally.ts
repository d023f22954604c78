/**
 * Exact counts of large tables without counting: triggers append what each statement changed, sums are read
 * (prisma/migrations: `device_tally`, `event_tally`, `endpoint_tally`). This compacts what was appended into one settled row per
 * combination, so that sums stay short.
 */
import type { Database } from './db.ts';
import { tryLock } from './lock.ts';
import type { Sql } from './sql.ts';

/** Table → the columns that name a combination. */
export const TALLIES = {
  device_tally: ['site_id', 'class', 'monitor', 'status', 'collector_id'],
  event_tally: ['site_id', 'bucket', 'status', 'severity', 'source'],
  endpoint_tally: ['site_id'],
} as const;

/** Rows compacted per transaction and table: a bound for its duration. */
const COMPACT_ROWS = 50_000;

async function compactTable(sql: Sql, table: keyof typeof TALLIES): Promise<number> {
  const columns = TALLIES[table].join(', ');
  const [row] = await sql.query<{ taken: number }>(
    `WITH taken AS (
       DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE NOT settled ORDER BY id LIMIT ${COMPACT_ROWS})
       RETURNING ${columns}, n
     ), compacted AS (
       INSERT INTO ${table} (${columns}, n, settled)
       SELECT ${columns}, sum(n), true FROM taken GROUP BY ${columns} HAVING sum(n) <> 0
       ON CONFLICT (${columns}) WHERE settled DO UPDATE SET n = ${table}.n + EXCLUDED.n
     )
     SELECT count(*) AS taken FROM taken`,
  );
  if (row?.taken) await sql.query(`DELETE FROM ${table} WHERE settled AND n = 0`);
  return row?.taken ?? 0;
}

/**
 * Compacts what was appended since the last call; cheap when nothing was. Call it every few seconds, by any number of
 * instances. @returns rows compacted.
 */
export async function compactTallies(db: Database): Promise<number> {
  let compacted = 0;
  for (const table of Object.keys(TALLIES) as (keyof typeof TALLIES)[])
    compacted += await compactInSteps(db, table);
  return compacted;
}

/** So many rows a transaction, one holder of the lock at a time, until there are no more. */
async function compactInSteps(db: Database, table: keyof typeof TALLIES): Promise<number> {
  for (let compacted = 0; ; ) {
    const taken = await db.transaction(async (sql) =>
      (await tryLock(sql, 'tallies')) ? compactTable(sql, table) : 0,
    );
    compacted += taken;
    if (taken < COMPACT_ROWS) return compacted;
  }
}
