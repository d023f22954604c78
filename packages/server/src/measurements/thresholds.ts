/** What of the measurements is too much. Pure. */
import type { Threshold } from '@rollcall/shared/api/sites';
import { INTERFACE_THRESHOLDS } from '@rollcall/shared/api/thresholds';
import { PACKET_COUNTERS, type Series } from './series.ts';

/** Percent, of `latency` milliseconds, of `noTraffic` packets a second; 0: never raises an event. */
export type Thresholds = Readonly<Record<Threshold, number>>;

/** What is told ends below this part of its threshold, so that it does not come and go. */
const CLEARS_BELOW: Readonly<Record<Threshold, number>> = {
  utilisation: 0.9,
  errors: 0.5,
  noTraffic: 0.5,
  loss: 0.5,
  latency: 0.8,
};
/** Fewer lost packets a second are no trouble, whatever part they are: an idle port has few packets. */
const ERRORS_LEAST = 1;
/** Of fewer pings a part says nothing. */
const PINGS_LEAST = 3;
const ANSWERS_LEAST = 2;

type At = (column: string) => number | null;
/** An interface as its traffic is judged. */
export interface JudgedPort {
  isUp: boolean;
  /** Packets a second, both directions together; null: it is not known, or has no traffic. */
  usualPackets: number | null;
}
/** Most packets are unicast. That there is none is known where both directions are. */
const UNICAST = ['inUnicast', 'outUnicast'];
const sum = (at: At, columns: readonly string[]): number =>
  columns.reduce((total, column) => total + (at(column) ?? 0), 0);

/** The value of an interval that each threshold is about; null: it cannot be known. */
const VALUE: Readonly<Record<Threshold, (at: At, overMs: number, port: JudgedPort) => number | null>> = {
  utilisation: (at, overMs) => {
    const speed = at('speedBps');
    const octets = [at('inOctets'), at('outOctets')].filter((growth) => growth !== null);
    if (octets.length === 0) return null;
    // Of a speed that nobody knows there is no share, and none of before goes on.
    return speed ? Math.min(100, (Math.max(...octets) * 800_000) / overMs / speed) : 0;
  },
  errors: (at, overMs) => {
    const lost = sum(at, ['inErrors', 'outErrors', 'inDiscards', 'outDiscards']);
    const packets = sum(at, PACKET_COUNTERS);
    if (at('inErrors') === null && at('inDiscards') === null) return null;
    if ((lost * 1000) / overMs < ERRORS_LEAST) return 0;
    // Of packets that nobody counted they are no part.
    return UNICAST.every((column) => at(column) === null) ? null : (lost * 100) / (lost + packets);
  },
  /** What is missing: its usual packets, while there is none. An interface that is down is told as that. */
  noTraffic: (at, _overMs, { isUp, usualPackets }) => {
    if (!isUp || sum(at, PACKET_COUNTERS) > 0) return 0;
    return UNICAST.some((column) => at(column) === null) ? null : usualPackets;
  },
  loss: (at) => {
    const [sent, lost] = [at('sent') ?? 0, at('lost') ?? 0];
    // All of them: it is down, or its agent alone answers. How much it loses while it is up is not known.
    if (lost >= sent) return null;
    // A site may ping less than three times an interval, except what misses one: none lost is how that ends.
    return lost > 0 && sent < PINGS_LEAST ? null : (lost * 100) / sent;
  },
  latency: (at) => {
    const [sent, lost] = [at('sent') ?? 0, at('lost') ?? 0];
    // One answer of many is no mean.
    return sent - lost < ANSWERS_LEAST ? null : at('avgMs');
  },
};
const OF_DEVICE: readonly Threshold[] = ['loss', 'latency'];
const NO_PORT: JudgedPort = { isUp: false, usualPackets: null };

export interface Crossing {
  of: Threshold;
  kind: 'measured.above' | 'measured.below';
  /** End of the interval, Unix milliseconds. */
  at: number;
  /** In the unit of its threshold. */
  value: number;
  limit: number;
}

/**
 * Where a series crosses its thresholds, in order of time.
 * @param port absent: it is the series of a device
 * @param present which of them are exceeded already, as far as is known; kept up to date
 */
export function crossings(
  { end, over, columns }: Series,
  {
    port,
    limits,
    present,
  }: { port?: JudgedPort | undefined; limits: (end: number) => Thresholds; present: Set<Threshold> },
): Crossing[] {
  const found: Crossing[] = [];
  for (const [i, at] of end.entries())
    for (const of of port ? INTERFACE_THRESHOLDS : OF_DEVICE) {
      const measured = VALUE[of]((column) => columns[column]?.[i] ?? null, over[i] ?? 1, port ?? NO_PORT);
      const limit = limits(at)[of];
      // What is never told ends, also where nothing is known.
      if (measured === null && limit > 0) continue;
      const value = measured ?? 0;
      const isAbove = limit > 0 && value >= limit;
      const isBelow = limit === 0 || value < limit * CLEARS_BELOW[of];
      if (isAbove && !present.has(of)) {
        present.add(of);
        found.push({ of, kind: 'measured.above', at, value, limit });
      } else if (isBelow && present.delete(of)) found.push({ of, kind: 'measured.below', at, value, limit });
    }
  return found;
}
