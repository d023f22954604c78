/**
 * Exact counts of large tables without counting: triggers append what each statement changed, sums are read
 * (prisma/migrations: `device_tally`, `event_tally`, `device_revision`). This folds what was appended into one settled row per
 * combination, so that sums stay short.
 */
import type { Database } from './db.ts';
import type { Sql } from './sql.ts';

/** Table → the columns that name a combination. */
export const TALLIES = {
  device_tally: ['site_id', 'class', 'monitor', 'status', 'collector_id'],
  event_tally: ['site_id', 'bucket', 'status', 'severity', 'source'],
  device_revision: ['site_id'],
} as const;

/** Rows folded per transaction and table: a bound for its duration. */
const FOLD_ROWS = 50_000;
/** Arbitrary, the same in every instance: one of them folds at a time. */
const LOCK_KEY = 7_110_003;

async function foldTable(sql: Sql, table: keyof typeof TALLIES): Promise<number> {
  const columns = TALLIES[table].join(', ');
  const [row] = await sql.query<{ taken: number }>(
    `WITH taken AS (
       DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE NOT settled ORDER BY id LIMIT ${FOLD_ROWS})
       RETURNING ${columns}, n
     ), folded AS (
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
 * Folds what was appended since the last call; cheap when nothing was. Call it every few seconds, by any number of
 * instances. @returns rows folded.
 */
export async function foldTallies(db: Database): Promise<number> {
  let folded = 0;
  for (const table of Object.keys(TALLIES) as (keyof typeof TALLIES)[]) {
    for (;;) {
      const taken = await db.transaction(async (sql) => {
        const [lock] = await sql.query<{ held: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS held', [
          LOCK_KEY,
        ]);
        return lock?.held ? foldTable(sql, table) : 0;
      });
      folded += taken;
      if (taken < FOLD_ROWS) break;
    }
  }
  return folded;
}
