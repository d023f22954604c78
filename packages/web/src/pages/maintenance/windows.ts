import type { MaintenanceScope, MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import { absolute, duration } from '../../components/show/index.ts';
import { cronInWords } from '../../cron.ts';
import { plural } from '../../format.ts';

type Standing =
  | { state: 'off' | 'over' }
  | { state: 'running'; until: number }
  | { state: 'planned'; from: number };

/** Where a window stands at a time in Unix seconds: what was read a while ago tells of the next beginning, too. */
export function standing({ enabled, active, next }: MaintenanceWindow, now: number): Standing {
  if (!enabled) return { state: 'off' };
  for (const span of [active, next])
    if (span && span.from <= now && now < span.until) return { state: 'running', until: span.until };
  return next && next.from > now ? { state: 'planned', from: next.from } : { state: 'over' };
}

/** When a window turns next, Unix seconds: it begins, ends, or has to be asked about anew. */
export const nextTurn = ({ active, next }: MaintenanceWindow, now: number): number =>
  Math.min(
    ...[active, next].flatMap((span) => (span ? [span.from, span.until] : [])).filter((at) => at > now),
  );

/** `every day at 02:30, 3 h` or `2026-11-22 02:00, 4 h`, in the window's own zone. */
export function whenInWords({ times, timezone }: MaintenanceWindow): string {
  if (times.kind === 'repeat') return `${cronInWords(times.cron)}, ${duration(times.minutes * 60)}`;
  const begins = absolute(times.from, timezone).slice(0, 16);
  return `${begins}, ${duration(times.until - times.from)}`;
}

/** What it covers: `the whole site`, `switch, router; tagged core; “floor-3”`, `2 devices`. */
export function scopeInWords({
  deviceIds,
  class: classes,
  tag,
  field,
  search,
  Address,
}: MaintenanceScope): string {
  const parts = [
    deviceIds && plural(deviceIds.length, 'device'),
    classes?.join(', '),
    tag && `tagged ${tag.join(' and ')}`,
    field?.join(' and '),
    search && `“${search}”`,
    Address,
  ].filter(Boolean);
  return parts.join('; ') || 'the whole site';
}
