/** When a delivery is tried again. Pure. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Deliveries are given up this long after they were made. */
export const GIVE_UP_MS = 24 * HOUR;
/** A subscription that delivered nothing for this long is disabled: longer than a weekend. */
export const DISABLE_MS = 72 * HOUR;

/** Wait after the first, second … failed attempt. The last one comes again until the day is over. */
const PAUSES_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];

export interface Tried {
  /** Attempts so far, this one included. */
  attempts: number;
  /** When its day began: when it was made, or sent again by hand. */
  begunAt: number;
  now: number;
  /** What the target asked for (`Retry-After`), milliseconds. */
  retryAfterMs: number | null;
  /** 0 ≤ r < 1: spreads targets that failed together by a tenth. */
  random: number;
}

/** When to try again, or null: never. */
export function nextAttempt({ attempts, begunAt, now, retryAfterMs, random }: Tried): number | null {
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length) - 1] ?? SECOND;
  const next = now + Math.max(pause * (1 + random / 10), Math.min(retryAfterMs ?? 0, HOUR));
  return next > begunAt + GIVE_UP_MS ? null : Math.round(next);
}

/** A target that is not reached by then is told as an event. */
const REPORT_MS = 50 * SECOND;

export interface FailedAttempt {
  /** Whether the attempt before, of whatever delivery, reached nobody either. */
  again: boolean;
  begunAt: number;
  /** As `nextAttempt` has it. */
  next: number | null;
  /** How long this attempt took; the next may take as long. */
  ms: number;
}

/** Whether people are told: one failure is an accident, unless the next attempt comes too late to find that out. */
export const isReported = ({ again, begunAt, next, ms }: FailedAttempt): boolean =>
  again || next === null || next + ms > begunAt + REPORT_MS;
