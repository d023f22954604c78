/**
 * What the planner knows of tables, kept from falling behind. PostgreSQL looks itself once a minute; a
 * first discovery fills empty tables within seconds, and until then a list sorted all of its matches
 * (bench:ingest: up to 13 ms of the database). The embedded database has nobody who looks, nor who gives room back.
 */
import type { Database } from './db.ts';

/** Fewer changes than these are not worth a look, rows. */
const CHANGES_LEAST = 1_000;
/**
 * Changes for each row that was there at the last look. PostgreSQL looks itself once a minute (autovacuum_naptime); a look takes up
 * to half a second for each table while collectors pour (bench:ingest), and after it each connection plans anew.
 */
const GROWTH = { postgresql: 3, pglite: 1 };
/** The share of rows that are gone from which on room is given back (autovacuum_vacuum_scale_factor). */
const DEAD_SHARE = 0.2;

/**
 * Looks anew at tables that grew fourfold since they were looked at, or doubled in the embedded database, of which it also gives
 * back the room of rows that are gone. Cheap when there is nothing to do; call it every few seconds, by any number of
 * instances. @returns names of the tables.
 */
export async function refreshStatistics(db: Database): Promise<string[]> {
  const embedded = db.kind === 'pglite';
  const rows = await db.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name
     FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
     WHERE s.schemaname = current_schema() AND c.relkind = 'r'
       AND (s.n_mod_since_analyze >= greatest(${CHANGES_LEAST}, c.reltuples * ${GROWTH[db.kind]})
         OR ${embedded} AND s.n_dead_tup >= greatest(${CHANGES_LEAST}, c.reltuples * ${DEAD_SHARE}))
     ORDER BY 1`,
  );
  for (const { name } of rows)
    await db.query(embedded ? `VACUUM (ANALYZE) ${name}` : `ANALYZE (SKIP_LOCKED) ${name}`);
  return rows.map(({ name }) => name);
}
