/** The period that is asked about, and its calendar days. Pure. */
import { AVAILABILITY_DAYS_MOST } from '@rollcall/shared/api/availability';
import { recurrence } from '../../platform/ops/recurrence.ts';
import { Problem } from '../../platform/problem.ts';
import type { Span } from '../../platform/time-spans.ts';

/** What is asked where `from` is absent. */
const USUAL_SECONDS = 30 * 86_400;

export interface Period extends Span {
  /** Calendar days, the first and the last as far as they lie in it; null: not asked. */
  days: Span[] | null;
}

/** @throws Problem `invalid_request` where there is no second to tell about, or too many days */
export function periodOf(
  {
    from,
    to,
    timezone,
  }: { from?: number | undefined; to?: number | undefined; timezone?: string | undefined },
  nowMs: number,
): Period {
  const now = Math.floor(nowMs / 1000);
  const until = Math.min(to ?? now, now);
  const begin = from ?? until - USUAL_SECONDS;
  if (begin >= until) throw new Problem('invalid_request', '`from` must be before `to` and before now');
  const period = { from: begin, until };
  return { ...period, days: timezone === undefined ? null : daysOf(period, timezone) };
}

function daysOf({ from, until }: Span, timezone: string): Span[] {
  const midnight = recurrence('0 0 * * *', timezone);
  const days: Span[] = [];
  for (let begin = from; begin < until; ) {
    const next = midnight.nextRun(new Date(begin * 1000));
    const end = Math.min(next ? next.getTime() / 1000 : until, until);
    days.push({ from: begin, until: end });
    if (days.length > AVAILABILITY_DAYS_MOST)
      throw new Problem(
        'invalid_request',
        `the period has more than ${AVAILABILITY_DAYS_MOST} days: ask for less time, or without \`timezone\``,
      );
    begin = end;
  }
  return days;
}
