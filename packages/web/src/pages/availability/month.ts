/** Months of a report, and how percentages are written and coloured. Pure. */
import { fromWallClock, toWallClock } from '../../components/show/index.ts';

/** Months that can be chosen. */
const MONTHS = 24;

const next = (month: string, by = 1): string => {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
};

const NAME = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** This month first: `2026-11` and its name. */
export function months(nowMs: number, zone: string): { value: string; label: string }[] {
  const current = toWallClock(nowMs / 1000, zone).slice(0, 7);
  return Array.from({ length: MONTHS }, (_, i) => next(current, -i)).map((value) => ({
    value,
    label: NAME.format(Date.parse(`${value}-01T00:00:00Z`)),
  }));
}

/** Its beginning and end in a zone, Unix seconds, and how many days it has. */
export function boundsOf(month: string, zone: string): { from: number; to: number; days: number } {
  const from = fromWallClock(`${month}-01T00:00`, zone);
  const to = fromWallClock(`${next(month)}-01T00:00`, zone);
  return { from, to, days: Math.round((to - from) / 86_400) };
}

/** Never rounded up: 99.999 is not 100. */
export function percentText(percent: number | null, digits = 2): string {
  if (percent === null) return '–';
  const factor = 10 ** digits;
  return String(Math.floor(percent * factor + 1e-9) / factor);
}

export type Level = 'none' | 'full' | 'high' | 'fair' | 'low';
/** `none`: nothing was observed outside of maintenance. */
export function levelOf(percent: number | null): Level {
  if (percent === null) return 'none';
  if (percent === 100) return 'full';
  if (percent >= 99.9) return 'high';
  return percent >= 99 ? 'fair' : 'low';
}

export const LEVELS: Record<Level, string> = {
  full: '100 %',
  high: '≥ 99.9 %',
  fair: '≥ 99 %',
  low: '< 99 %',
  none: 'not observed, or maintenance',
};
