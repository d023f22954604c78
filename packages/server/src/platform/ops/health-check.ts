/** Whether the server still works, for a watchdog: what a restart would cure, and nothing else. */
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../db/db.ts';

/** How often the database is asked whether it answers. */
const ASK_MS = 10_000;
/** A database that answers nothing for so long, not even no, will not answer this process any more. */
const SILENCE_MS = 60_000;

/**
 * Asks the database all the time. One that is away (its refusal is an answer) says nothing against this process: collectors
 * spool meanwhile, and the pool comes back by itself. One that never answers is: a session that hangs, or the embedded
 * database that no longer gets a turn.
 */
export function startHealthCheck({ db, clock, log }: { db: Database; clock: Clock; log: Logger }): {
  unhealthyReason(): string | null;
  stop(): void;
} {
  let askedAt: number | null = null;
  let away = false;
  const ask = async () => {
    if (askedAt !== null) return;
    askedAt = clock.monotonic();
    const answered = await db.query('SELECT 1').then(
      () => true,
      () => false,
    );
    askedAt = null;
    if (away === answered) log.warn(answered ? 'the database answers again' : 'the database is away');
    away = !answered;
  };
  const stop = clock.every(ASK_MS, () => void ask());
  return {
    unhealthyReason: () => {
      const silentMs = askedAt === null ? 0 : clock.monotonic() - askedAt;
      return silentMs < SILENCE_MS
        ? null
        : `the database answers nothing since ${Math.round(silentMs / 1000)} s`;
    },
    stop,
  };
}
