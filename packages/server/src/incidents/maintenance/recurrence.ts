/** When a maintenance window runs. Pure: its times and a moment in, the span that covers it out. */
import type { MaintenanceTimes } from '@rollcall/shared/api/maintenance';
import { recurrence } from '../../platform/ops/recurrence.ts';

export interface Times {
  times: MaintenanceTimes;
  /** IANA time zone. */
  timezone: string;
}
/** Unix milliseconds; `until` is no longer part of it. */
export interface Span {
  from: number;
  until: number;
}

/** Spans that touch are looked through for the end of the last, this far. */
const CHAIN_MOST = 100;
const MINUTE = 60_000;

/** The span that covers a moment; of a recurring window whose spans overlap or touch, all of them as one. */
export function activeAt(window: Times, at: number): Span | null {
  const { times } = window;
  if (times.kind === 'once') return within({ from: times.from * 1000, until: times.until * 1000 }, at);
  const length = times.minutes * MINUTE;
  const startAfter = startsOf(window);
  // The earliest that can still run began less than its length ago.
  const first = startAfter(at - length);
  if (first === null || first > at) return null;
  let until = first + length;
  for (let i = 0, start = startAfter(first); i < CHAIN_MOST; i++) {
    if (start === null || start > until) break;
    until = start + length;
    start = startAfter(start);
  }
  return { from: first, until };
}

/** The next span that begins after a moment. */
export function nextAfter(window: Times, at: number): Span | null {
  const { times } = window;
  if (times.kind === 'once')
    return times.from * 1000 > at ? { from: times.from * 1000, until: times.until * 1000 } : null;
  const from = startsOf(window)(at);
  return from === null ? null : { from, until: from + times.minutes * MINUTE };
}

/**
 * The spans that reach into a time of Unix seconds, in the same unit and in order; they may overlap. Null: they are more
 * than `most`.
 */
export function spansBetween({ times, timezone }: Times, { from, until }: Span, most: number): Span[] | null {
  if (times.kind === 'once')
    return times.from < until && times.until > from ? [{ from: times.from, until: times.until }] : [];
  const startAfter = startsOf({ times, timezone });
  const length = times.minutes * MINUTE;
  const spans: Span[] = [];
  for (
    let start = startAfter(from * 1000 - length);
    start !== null && start < until * 1000;
    start = startAfter(start)
  ) {
    if (spans.length >= most) return null;
    spans.push({ from: start / 1000, until: (start + length) / 1000 });
  }
  return spans;
}

const within = (span: Span, at: number): Span | null => (span.from <= at && at < span.until ? span : null);

/** When a recurring window begins next after a moment. */
function startsOf({ times, timezone }: Times): (after: number) => number | null {
  if (times.kind === 'once') return () => null;
  const pattern = recurrence(times.cron, timezone);
  const last = times.until === null ? Number.POSITIVE_INFINITY : times.until * 1000;
  return (after) => {
    const start = pattern.nextRun(new Date(after))?.getTime() ?? null;
    return start !== null && start > last ? null : start;
  };
}
