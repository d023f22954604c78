/** How much the counters of an interface grew between two readings, or that it cannot be known. Pure. */
import { PORT_COUNTERS, type PortCounter } from '@rollcall/shared/samples';

/** Counters as agents have them. Those of a direction are multicast and broadcast apart (RFC 2863), or both in the first. */
export const RAW = [
  'inOctets',
  'outOctets',
  'inUnicast',
  'outUnicast',
  'inMulticast',
  'inBroadcast',
  'outMulticast',
  'outBroadcast',
  'inErrors',
  'outErrors',
  'inDiscards',
  'outDiscards',
] as const;
export type RawCounter = (typeof RAW)[number];

/** A value of a counter: what it shows, and whether it has 64 bits. */
export interface Shown {
  value: bigint;
  wide: boolean;
}

/** The counters of one interface as they were read once. */
export interface PortCounters {
  /** ifName, else ifDescr. */
  name: string;
  /** ifCounterDiscontinuityTime; 0 where the agent has none. */
  discontinuity: number;
  shown: (counter: RawCounter) => Shown | undefined;
}

/** The time between two readings. */
export interface Between {
  overMs: number;
  /** The higher one of both readings; undefined or 0: not known. */
  speedBps: number | undefined;
}

/** Agents refresh what they show in steps (net-snmp: 15 s), so an interval may show a little more than it had. */
const REFRESH_MS = 15_000;
/** That little is at most this share of the interval. */
const REFRESH_SHARE = 0.25;
/** Lower speeds stand for none: tunnels say 9 kb/s or 100 kb/s whatever they carry. */
const LEAST_SPEED = 1e6;
/** Faster than any interface. */
const MOST_SPEED = 1e13;
/** Agents without 64-bit counters have no faster interfaces (RFC 2863 section 3.1.6 asks for them from 20 Mb/s on). */
const MOST_SPEED_NARROW = 1e10;
/** Octets of the smallest packet on an Ethernet, and of the largest that IP has. */
const LEAST_PACKET = 64;
const MOST_PACKET = 65_536;
/** The columns of a table are read one after the other: so many packets may have come in between. */
const SKEW_PACKETS = 1000;
/** Errors have 32 bits at any speed: more than half of these in one interval would be no error but a reset. */
const MOST_ERRORS = 2 ** 31;
const NARROW = 2n ** 32n;
const WIDE = 2n ** 64n;

/** `back`: it went back, and not by going round. `unknown`: more than can be, or it may have gone round more than once. */
type Grown = number | 'back' | 'unknown';

/** Growth of one counter that can have grown by `most`. */
export function grown(before: Shown, now: Shown, most: number): Grown {
  if (before.wide !== now.wide) return 'unknown';
  const range = now.wide ? WIDE : NARROW;
  const bound = Math.min(Math.floor(most), Number.MAX_SAFE_INTEGER);
  if (bound >= Number(range)) return 'unknown';
  const by = now.value >= before.value ? now.value - before.value : now.value - before.value + range;
  if (by <= BigInt(bound)) return Number(by);
  return now.value < before.value ? 'back' : 'unknown';
}

/** Most octets that an interface can have carried. */
export function octetsMost({ overMs, speedBps = 0 }: Between, wide: boolean): number {
  const known = speedBps >= LEAST_SPEED ? speedBps : wide ? MOST_SPEED : MOST_SPEED_NARROW;
  return ((overMs + Math.min(REFRESH_MS, overMs * REFRESH_SHARE)) * known) / 8000;
}

export interface PortGrowth {
  /** Null where it cannot be known; absent where the agent has no such counter. */
  grew: Partial<Record<PortCounter, number | null>>;
  /** Its counters began anew meanwhile. */
  reset: boolean;
}

/** Growth of all counters of an interface since `before`; null: it was not read, or is another one by its name. */
export function portGrowth(before: PortCounters | null, now: PortCounters, between: Between): PortGrowth {
  const same = before !== null && before.name === now.name;
  const begun = same && before.discontinuity !== now.discontinuity;
  const raw = new Map<RawCounter, number | null>();
  let back = false;
  const measure = (counter: RawCounter, most: (wide: boolean) => number): void => {
    const shown = now.shown(counter);
    if (!shown) return;
    const last = same && !begun && between.overMs > 0 ? before.shown(counter) : undefined;
    const by = last ? grown(last, shown, most(shown.wide)) : 'unknown';
    back ||= by === 'back';
    raw.set(counter, typeof by === 'number' ? by : null);
  };
  const packets = (wide: boolean) => octetsMost(between, wide) / LEAST_PACKET;
  for (const counter of PACKETS) measure(counter, packets);
  for (const counter of ERRORS) measure(counter, (wide) => Math.min(packets(wide), MOST_ERRORS));
  for (const [counter, carriers] of OCTETS) {
    const carried = sum(carriers.map((carrier) => raw.get(carrier) ?? null));
    measure(counter, (wide) => {
      const most = octetsMost(between, wide);
      // Only where time and speed alone leave it open how often the counter went round.
      return wide || most < Number(NARROW) || carried === null
        ? most
        : Math.min(most, (carried * (1 + REFRESH_SHARE) + SKEW_PACKETS) * MOST_PACKET);
    });
  }
  return { grew: columns(raw, back), reset: begun || back };
}

const PACKETS = [
  'inUnicast',
  'outUnicast',
  'inMulticast',
  'inBroadcast',
  'outMulticast',
  'outBroadcast',
] as const;
const ERRORS = ['inErrors', 'outErrors', 'inDiscards', 'outDiscards'] as const;
const OCTETS = [
  ['inOctets', ['inUnicast', 'inMulticast']],
  ['outOctets', ['outUnicast', 'outMulticast']],
] as const;
const PARTS: Partial<Record<PortCounter, readonly RawCounter[]>> = {
  inNonUnicast: ['inMulticast', 'inBroadcast'],
  outNonUnicast: ['outMulticast', 'outBroadcast'],
};

/** Of one that went back the others prove nothing either: somebody cleared them all. */
function columns(raw: ReadonlyMap<RawCounter, number | null>, back: boolean): PortGrowth['grew'] {
  const grew: PortGrowth['grew'] = {};
  for (const counter of PORT_COUNTERS) {
    const parts = (PARTS[counter] ?? [counter as RawCounter]).filter((part) => raw.has(part));
    if (parts.length > 0) grew[counter] = back ? null : sum(parts.map((part) => raw.get(part) ?? null));
  }
  return grew;
}

const sum = (all: readonly (number | null)[]): number | null =>
  all.reduce((total, each) => (total === null || each === null ? null : total + each), 0);
