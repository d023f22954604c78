/** Whether the server still works, for a watchdog: what a restart would cure, and nothing else. */
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Database } from '../db/db.ts';

/** How often the database is asked whether it answers. */
const ASK_MS = 10_000;
/** A database that answers nothing for so long, not even no, will not answer this process any more. */
const SILENCE_MS = 60_000;
/** A database that refuses for longer is not about to be back: a restart or a failover is over by then. */
const AWAY_MS = 30_000;

/**
 * Asks the database all the time. One that is away (its refusal is an answer) says nothing against this process: collectors
 * spool meanwhile, and the pool comes back by itself. One that never answers is: a session that hangs, or the embedded
 * database that no longer gets a turn.
 */
export function startHealthCheck({ db, clock, log }: { db: Database; clock: Clock; log: Logger }): {
  unhealthyReason(): string | null;
  /** Why it serves nobody, which a restart need not cure; null when all is well. */
  servingReason(): string | null;
  stop(): void;
} {
  let askedAt: number | null = null;
  /** Since when it refuses, monotonic. */
  let awaySince: number | null = null;
  const ask = async () => {
    if (askedAt !== null) return;
    askedAt = clock.monotonic();
    const answered = await db.query('SELECT 1').then(
      () => true,
      () => false,
    );
    askedAt = null;
    if ((awaySince === null) !== answered)
      log.warn(answered ? 'the database answers again' : 'the database is away');
    awaySince = answered ? null : (awaySince ?? clock.monotonic());
  };
  const stop = clock.every(ASK_MS, () => void ask());
  const since = (at: number | null): number => (at === null ? 0 : clock.monotonic() - at);
  const unhealthyReason = () => {
    const silentMs = since(askedAt);
    return silentMs < SILENCE_MS ? null : `the database answers nothing since ${seconds(silentMs)} s`;
  };
  return {
    unhealthyReason,
    servingReason: () => {
      const awayMs = since(awaySince);
      return awayMs < AWAY_MS ? unhealthyReason() : `the database is away since ${seconds(awayMs)} s`;
    },
    stop,
  };
}

const seconds = (ms: number): number => Math.round(ms / 1000);
