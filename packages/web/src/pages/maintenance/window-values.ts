import type { MaintenanceScope, MaintenanceTimes, MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import type { DeviceClass } from '@rollcall/shared/model';
import { ago, duration, fromWallClock, toWallClock } from '../../components/show/index.ts';

/** Times as they are typed: on the clock on the wall of the window's zone. */
export interface Typed {
  kind: MaintenanceTimes['kind'];
  from: string;
  until: string;
  cron: string;
  minutes: string;
  last: string;
}

const HOUR = 3_600;
/** The next full hour that leaves time to get ready, for two hours. */
export function usualTimes(timezone: string): Typed {
  const from = Math.ceil((Date.now() / 1000 + HOUR / 4) / HOUR) * HOUR;
  return {
    kind: 'once',
    from: toWallClock(from, timezone),
    until: toWallClock(from + 2 * HOUR, timezone),
    cron: '0 2 * * 0',
    minutes: '120',
    last: '',
  };
}

export function typedTimes({ times, timezone }: MaintenanceWindow): Typed {
  const usual = usualTimes(timezone);
  if (times.kind === 'once')
    return {
      ...usual,
      kind: 'once',
      from: toWallClock(times.from, timezone),
      until: toWallClock(times.until, timezone),
    };
  return {
    ...usual,
    kind: 'repeat',
    cron: times.cron,
    minutes: String(times.minutes),
    last: times.until === null ? '' : toWallClock(times.until, timezone),
  };
}

export function timesOf(typed: Typed, timezone: string): MaintenanceTimes {
  if (typed.kind === 'once')
    return {
      kind: 'once',
      from: fromWallClock(typed.from, timezone),
      until: fromWallClock(typed.until, timezone),
    };
  return {
    kind: 'repeat',
    cron: typed.cron,
    minutes: Number(typed.minutes),
    until: typed.last ? fromWallClock(typed.last, timezone) : null,
  };
}

/** `begins in 2 h, lasts 4 h`. */
export function spanInWords({ from, until }: Typed, timezone: string): string {
  if (!from || !until) return '';
  const begins = fromWallClock(from, timezone);
  const lasts = fromWallClock(until, timezone) - begins;
  if (lasts <= 0) return 'It ends before it begins.';
  const now = Date.now();
  return `${begins * 1000 > now ? 'begins' : 'began'} ${ago(begins, now)}, lasts ${duration(lasts)}`;
}

/** How the devices are named; what was typed for one way is kept while another is looked at. */
export interface Covered {
  by: 'site' | 'filter' | 'list';
  classes: DeviceClass[];
  tags: string[];
  fields: string[];
  search: string;
  Address: string;
  deviceIds: string[];
}

export const coveredBy = ({
  deviceIds,
  class: names,
  tag,
  field,
  search,
  Address,
}: MaintenanceScope): Covered => ({
  by: deviceIds ? 'list' : names || tag || field || search || Address ? 'filter' : 'site',
  classes: names ?? [],
  tags: tag ?? [],
  fields: field ?? [],
  search: search ?? '',
  Address: Address ?? '',
  deviceIds: deviceIds ?? [],
});

export function scopeOf(covered: Covered): MaintenanceScope {
  if (covered.by === 'list') return { deviceIds: covered.deviceIds };
  if (covered.by === 'site') return {};
  return {
    ...(covered.classes.length > 0 && { class: covered.classes }),
    ...(covered.tags.length > 0 && { tag: covered.tags }),
    ...(covered.fields.length > 0 && { field: covered.fields }),
    ...(covered.search.trim() && { search: covered.search }),
    ...(covered.Address.trim() && { Address: covered.Address }),
  };
}

/** A scope that names nothing means the whole site: who chose a filter or a list did not mean that. */
export const isNamed = (covered: Covered): boolean =>
  covered.by === 'site' || Object.values(scopeOf(covered)).some((value) => value?.length);
