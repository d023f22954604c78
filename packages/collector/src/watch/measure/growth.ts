/** How much the counters of an interface grew between two readings, or that it cannot be known. Pure. */
import { LEAST_SPEED_BPS, PORT_COUNTERS, type PortCounter, type PortGap } from '@rollcall/shared/samples';

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

/**
 * Agents refresh what they show in steps (net-snmp: 15 s), so an interval may show what came before it as well. What is
 * more than the speed carries is held back for the next interval: no rate is above the speed, and the sum stays exact.
 */
const REFRESH_MS = 15_000;
/** Faster than any interface. */
const MOST_SPEED = 1e13;
/** Agents without 64-bit counters have no faster interfaces (RFC 2863 section 3.1.6 asks for them from 20 Mb/s on). */
const MOST_SPEED_NARROW = 1e10;
/** Octets of the smallest packet on an Ethernet, and of the largest that IP has. */
const LEAST_PACKET = 64;
const MOST_PACKET = 65_536;
/** The columns of a table are read one after the other: so many packets, and this share, may have come in between. */
const SKEW_PACKETS = 1000;
const SKEW_SHARE = 0.25;
/** Errors have 32 bits at any speed: more than half of these in one interval would be no error but a reset. */
const MOST_ERRORS = 2 ** 31;
const NARROW = 2n ** 32n;
const WIDE = 2n ** 64n;

/** `counters-reset`: it went back, and not by going round. `ambiguous`: it may have gone round more than once, or has another width. */
type Grown = number | Extract<PortGap, 'counters-reset' | 'over-speed' | 'ambiguous'>;

/** Growth of one counter that can have grown by `most`. */
export function grown(before: Shown, now: Shown, most: number): Grown {
  if (before.wide !== now.wide) return 'ambiguous';
  const range = now.wide ? WIDE : NARROW;
  const bound = Math.min(Math.floor(most), Number.MAX_SAFE_INTEGER);
  if (bound >= Number(range)) return 'ambiguous';
  const by = now.value >= before.value ? now.value - before.value : now.value - before.value + range;
  if (by <= BigInt(bound)) return Number(by);
  return now.value < before.value ? 'counters-reset' : 'over-speed';
}

/** Octets that an interface can carry in a time. */
function carriedIn(ms: number, { speedBps = 0 }: Between, wide: boolean): number {
  const known = speedBps >= LEAST_SPEED_BPS ? speedBps : wide ? MOST_SPEED : MOST_SPEED_NARROW;
  return Math.floor((Math.floor(ms) * known) / 8000);
}

/** Most octets that the counter of an interface can have grown by. */
export const octetsMost = (between: Between, wide: boolean): number =>
  carriedIn(between.overMs + REFRESH_MS, between, wide);

/** Octets in and out that were shown and are not told yet. */
export type HeldBack = readonly [inOctets: number, outOctets: number];
const NOTHING: HeldBack = [0, 0];

export interface PortGrowth {
  /** Null where it cannot be known; absent where the agent has no such counter. */
  grew: Partial<Record<PortCounter, number | null>>;
  /** Why some of them cannot be known. */
  gap: PortGap | null;
  heldBack: HeldBack;
}

/** Growth of all counters of an interface since `before`; null: it was not read, or is another one by its name. */
export function portGrowth(
  before: PortCounters | null,
  now: PortCounters,
  between: Between,
  held: HeldBack = NOTHING,
): PortGrowth {
  const same = before !== null && before.name === now.name;
  const begun = same && before.discontinuity !== now.discontinuity;
  const raw = new Map<RawCounter, number | null>();
  let gap: PortGap | null = before !== null && !same ? 'renamed' : begun ? 'counters-reset' : null;
  const measure = (counter: RawCounter, most: (wide: boolean) => number): void => {
    const shown = now.shown(counter);
    if (!shown) return;
    const last = same && !begun && between.overMs > 0 ? before.shown(counter) : undefined;
    const by = last ? grown(last, shown, most(shown.wide)) : null;
    if (typeof by === 'string') gap = worse(gap, by);
    if (by === null) gap ??= 'first-reading';
    raw.set(counter, typeof by === 'number' ? by : null);
  };
  const packets = (wide: boolean) => octetsMost(between, wide) / LEAST_PACKET;
  for (const counter of PACKETS) measure(counter, packets);
  for (const counter of ERRORS) measure(counter, (wide) => Math.min(packets(wide), MOST_ERRORS));
  const heldBack: [number, number] = [0, 0];
  for (const [i, [counter, carriers]] of OCTETS.entries()) {
    const carried = sum(carriers.map((carrier) => raw.get(carrier) ?? null));
    const owed = held[i] ?? 0;
    measure(counter, (wide) => {
      const most = Math.max(0, octetsMost(between, wide) - owed);
      // Only where time and speed alone leave it open how often the counter went round.
      return wide || most < Number(NARROW) || carried === null
        ? most
        : Math.min(most, (carried * (1 + SKEW_SHARE) + SKEW_PACKETS) * MOST_PACKET);
    });
    const by = raw.get(counter);
    if (typeof by !== 'number') continue;
    const told = Math.min(by + owed, carriedIn(between.overMs, between, now.shown(counter)?.wide === true));
    raw.set(counter, told);
    heldBack[i] = by + owed - told;
  }
  const isReset = gap === 'counters-reset';
  return { grew: columns(raw, isReset), gap, heldBack: isReset ? NOTHING : heldBack };
}

/** What was reset explains all else. */
const worse = (one: PortGap | null, other: PortGap): PortGap => (one === 'counters-reset' ? one : other);

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
