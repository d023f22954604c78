/**
 * Advisory locks of the whole database, for what one instance at a time does. In one list, so that no two jobs share a key:
 * each would keep the other from running.
 */
import type { Sql } from './sql.ts';

const JOBS = [
  'migrations',
  'tallies',
  'sign-ins',
  'forgetting',
  'deliveries',
  'shipping',
  'serving',
  'subscriptions',
] as const;
export type Job = (typeof JOBS)[number];

/** The same in every instance and every release: add at the end, remove nothing. */
export const lockKey = (job: Job): number => 7_110_001 + JOBS.indexOf(job);

/** Waits until nobody else is at it, and keeps others from it to the end of the transaction. */
export async function holdLock(sql: Sql, job: Job): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock($1)', [lockKey(job)]);
}

/** As `holdLock`, but false at once where another is at it. */
export async function tryLock(sql: Sql, job: Job): Promise<boolean> {
  const [row] = await sql.query<{ held: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS held', [
    lockKey(job),
  ]);
  return row?.held ?? false;
}

/** Others held a lock for longer than was waited for it. */
export class NotFree extends Error {
  override name = 'NotFree';
}
