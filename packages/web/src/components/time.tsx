import { Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { usePreferences } from '../preferences.ts';

/** One ticking clock for all relative times on the page. */
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
const useNow = (): number =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      timer ??= setInterval(() => {
        now = Date.now();
        for (const each of listeners) each();
      }, 10_000);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    () => now,
  );

const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** `3 min. ago`; what is less than a minute away is `just now`. */
export function ago(seconds: number, nowMs: number): string {
  const distance = seconds - nowMs / 1000;
  for (const [unit, size] of STEPS)
    if (Math.abs(distance) >= size) return relative.format(Math.trunc(distance / size), unit);
  return 'just now';
}

/** Absolute time, ISO-like, in the zone of the person's choice. */
export function absolute(seconds: number, zone: 'utc' | 'local'): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    ...(zone === 'utc' ? { timeZone: 'UTC' } : {}),
  }).format(seconds * 1000);
  return zone === 'utc' ? `${parts}Z` : parts;
}

/** `4 d 3 h`: the two largest units. */
export function duration(seconds: number): string {
  const units: [string, number][] = [
    ['y', 31_557_600],
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const parts: string[] = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${name}`);
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}

/** A point in time: relative or absolute by the person's choice, the other one on hover. */
export function Time({ at, fallback = 'never' }: { at: number | null | undefined; fallback?: string }) {
  const nowMs = useNow();
  const { zone, times } = usePreferences();
  if (at === null || at === undefined) return <span className="quiet">{fallback}</span>;
  const [shown, other] =
    times === 'relative' ? [ago(at, nowMs), absolute(at, zone)] : [absolute(at, zone), ago(at, nowMs)];
  return (
    <Tooltip label={other}>
      <time dateTime={new Date(at * 1000).toISOString()}>{shown}</time>
    </Tooltip>
  );
}
