/**
 * Whether a sensor is well. The device's own word comes first: the state and the limits that its agent states. Where it
 * states none of them, defaults that are cautious enough for any device. Pure; times in Unix milliseconds.
 */
import {
  SENSOR_UNITS,
  type SensorKind,
  type SensorReading,
  type SensorStatus,
} from '@rollcall/shared/sensors';

export interface Judged {
  health: SensorStatus;
  /** What makes it so, without the value, so that it changes only with the judgement. */
  reason: string;
  /** Since when the value is where it is a problem only after a while. */
  aboveSince: number | null;
}
export type Before = Pick<Judged, 'health' | 'aboveSince'>;

/** A value ends to be beyond a limit so far inside of it, as a part of the limit: values tremble. */
const CLEAR_PART = 0.02;

/** What counts where the agent states nothing: percent, the percent below which it ends, and for how long it must last. */
const DEFAULTS: { readonly [Kind in SensorKind]?: { from: number; until: number; holdMs: number } } = {
  storage: { from: 95, until: 93, holdMs: 0 },
  memory: { from: 95, until: 90, holdMs: 600_000 },
  processor: { from: 95, until: 90, holdMs: 600_000 },
};

export const ON_BATTERY_REASON = 'on battery';
/** Agents' words for a UPS without mains: upsOutputSource of UPS-MIB (RFC 1628), and what makers write. */
const ON_BATTERY = /^(on[ _-]?)?battery$/i;

const RANK: Readonly<Record<SensorStatus, number>> = { ok: 0, unknown: 0, warning: 1, critical: 2 };
const worse = (a: Found | null, b: Found | null): Found | null =>
  a === null || (b !== null && RANK[b.health] > RANK[a.health]) ? b : a;

type Found = Pick<Judged, 'health' | 'reason'>;

/**
 * @param before how it was judged last; null: never
 * @param isLinkDown the interface whose optics these are is not up: it receives no light, which is no fault of the optics
 */
export function judge(
  reading: SensorReading,
  { before, at, isLinkDown = false }: { before: Before | null; at: number; isLinkDown?: boolean },
): Judged {
  if (reading.kind === 'signal-power' && isLinkDown)
    return { health: 'unknown', reason: 'the link is down', aboveSince: null };
  const said = worse(byState(reading), byLimits(reading, before));
  if (said) return { ...said, aboveSince: null };
  return (
    byDefault(reading, before, at) ?? {
      health: 'unknown',
      reason:
        reading.value === undefined && reading.state === undefined
          ? 'no reading'
          : 'no limit and no condition stated',
      aboveSince: null,
    }
  );
}

/** What the state says; null: nothing. */
function byState({ state, status, component }: SensorReading): Found | null {
  if (state !== undefined && component === 'battery' && ON_BATTERY.test(state.trim()))
    return { health: 'critical', reason: ON_BATTERY_REASON };
  if (status === undefined || status === 'unknown') return null;
  return { health: status, reason: status === 'ok' ? '' : state ? `state: ${state}` : `state: ${status}` };
}

/** Where the value is within the limits; null: there are none, or no value. */
function byLimits({ kind, value, limits = {} }: SensorReading, before: Before | null): Found | null {
  const { low, lowWarning, highWarning, high } = limits;
  const stated = [low, lowWarning, highWarning, high].filter((limit) => limit !== undefined);
  // Limits out of their order are not filled in by the device.
  const isOrdered = stated.every((limit, i) => i === 0 || (stated[i - 1] ?? limit) <= limit);
  if (
    value === undefined ||
    stated.length === 0 ||
    !isOrdered ||
    (stated[0] === stated.at(-1) && stated.length > 1)
  )
    return null;
  const was = RANK[before?.health ?? 'ok'];
  const margin = (limit: number, rank: number) => (was >= rank ? Math.abs(limit) * CLEAR_PART : 0);
  const above = (limit: number | undefined, rank: number) =>
    limit !== undefined && value > limit - margin(limit, rank);
  const below = (limit: number | undefined, rank: number) =>
    limit !== undefined && value < limit + margin(limit, rank);
  const told = (side: string, which: string, limit: number | undefined) =>
    `${side} its ${which} limit of ${limit}${SENSOR_UNITS[kind] && ` ${SENSOR_UNITS[kind]}`}`;
  if (above(high, 2)) return { health: 'critical', reason: told('above', 'critical', high) };
  if (below(low, 2)) return { health: 'critical', reason: told('below', 'critical', low) };
  if (above(highWarning, 1)) return { health: 'warning', reason: told('above', 'warning', highWarning) };
  if (below(lowWarning, 1)) return { health: 'warning', reason: told('below', 'warning', lowWarning) };
  return { health: 'ok', reason: '' };
}

/** What is too much for any device; null: there is no such thing, or no value. */
function byDefault({ kind, value }: SensorReading, before: Before | null, at: number): Judged | null {
  const limit = DEFAULTS[kind];
  if (limit === undefined || value === undefined) return null;
  const since = before?.aboveSince ?? null;
  const isOpen = before?.health === 'warning' && since !== null;
  if (value < (isOpen ? limit.until : limit.from)) return { health: 'ok', reason: '', aboveSince: null };
  const aboveSince = since ?? at;
  if (at - aboveSince < limit.holdMs) return { health: 'ok', reason: '', aboveSince };
  const held = limit.holdMs > 0 ? ` for ${limit.holdMs / 60_000} min` : '';
  return { health: 'warning', reason: `limit of ${limit.from} % reached${held}`, aboveSince };
}
