import { useSyncExternalStore } from 'react';
import { timeFormat } from '../../format.ts';
import { usePreferences } from '../../preferences.ts';

/** One ticking clock for all relative times on the page. */
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
const TICK_MS = 10_000;
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};
/** Unix milliseconds, moving on every ten seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

const STEPS: readonly [unit: string, seconds: number][] = [
  ['y', 31_557_600],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** `3 min ago`, `in 2 h`; what is less than half a minute away is `now`. */
export function ago(seconds: number, nowMs: number): string {
  const distance = Math.abs(nowMs / 1000 - seconds);
  if (distance < 30) return 'now';
  const [unit, size] = STEPS.find(([, size]) => distance >= size) ?? (['s', 1] as const);
  const text = `${Math.floor(distance / size)} ${unit}`;
  return seconds * 1000 > nowMs ? `in ${text}` : `${text} ago`;
}

/** Absolute time, `2026-11-21 04:12:09`, in the zone of the person's choice; `Z` marks UTC. */
export function absolute(seconds: number, zone: string): string {
  const format = timeFormat('sv-SE', zone, { dateStyle: 'short', timeStyle: 'medium' });
  const text = format.format(seconds * 1000);
  return zone === 'UTC' ? `${text}Z` : text;
}

/** `4 d 3 h`: the two largest units. */
export function duration(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [name, size] of STEPS) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${name}`);
    rest -= count * size;
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.join(' ') || '0 s';
}

/** A point in time: relative or absolute by the person's choice, the other one on hover. */
export function Time({ at, fallback = 'never' }: { at: number | null | undefined; fallback?: string }) {
  const { zone, times } = usePreferences();
  if (at === null || at === undefined) return <span className="quiet">{fallback}</span>;
  const exact = absolute(at, zone);
  return times === 'absolute' ? <Absolute at={at} exact={exact} /> : <Relative at={at} exact={exact} />;
}

const Absolute = ({ at, exact }: { at: number; exact: string }) => (
  <time dateTime={new Date(at * 1000).toISOString()} title={ago(at, Date.now())}>
    {exact}
  </time>
);

function Relative({ at, exact }: { at: number; exact: string }) {
  const text = ago(at, useNow());
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exact}>
      {text}
    </time>
  );
}

/** What a field for local date and time (`2026-11-21T04:12`) shows for a point in time. */
export const toWallClock = (seconds: number, zone: string): string =>
  absolute(seconds, zone).slice(0, 16).replace(' ', 'T');

/** The point in time that such a field means in a zone, Unix seconds. */
export function fromWallClock(text: string, zone: string): number {
  const asUtc = Date.parse(`${text.slice(0, 16)}:00Z`) / 1000;
  // The offset of the zone at that time; asked twice, for the hours around a change of it.
  const offset = (at: number) =>
    Date.parse(`${absolute(at, zone).slice(0, 19).replace(' ', 'T')}Z`) / 1000 - at;
  return asUtc - offset(asUtc - offset(asUtc));
}
