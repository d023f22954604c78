/** Times that come again: a cron pattern of five fields in a time zone. */
import { Cron } from 'croner';
import { invalid } from '../problem.ts';

/**
 * Reads a pattern; local time where clocks change is croner's: a time that is left out comes when the gap ends, one that
 * comes twice comes once. @throws Problem naming `cron` or `timezone`.
 */
export function recurrence(cron: string, timezone: string): Cron {
  if (cron.trim().split(/\s+/).length !== 5)
    throw invalid('cron', 'five fields are needed: minute, hour, day, month, weekday');
  requireZone(timezone);
  try {
    return new Cron(cron.trim(), { timezone, mode: '5-part', paused: true });
  } catch {
    throw invalid('cron', 'cannot be read; an example: 30 2 * * 1-5');
  }
}

/** @throws Problem naming `timezone`. */
export function requireZone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw invalid('timezone', 'is not a name of the IANA time zone database');
  }
}

/** The next time a pattern fits after `now`. @throws Problem that says what is wrong with it. */
export function nextRun(cron: string, timezone: string, now: number): Date {
  const next = recurrence(cron, timezone).nextRun(new Date(now));
  if (!next) throw invalid('cron', 'matches no date');
  return next;
}
