/**
 * How a period falls apart into the four states of availability. Pure. All times are whole Unix seconds, so that sums are exact.
 */
import { common, type Span, union, without } from '../../platform/time-spans.ts';

/** What is known of one thing. */
export interface SpansOfOne {
  /** Windows that cover it. */
  maintenance: readonly Span[];
  /** Monitored by a collector that was connected, or that sent later what it measured. */
  observed: readonly Span[];
  /** Events that say it was down. */
  down: readonly Span[];
}

/** Seconds. */
export interface Seconds {
  up: number;
  down: number;
  maintenance: number;
  notObserved: number;
}
export const NOTHING: Seconds = { up: 0, down: 0, maintenance: 0, notObserved: 0 };
const STATES = Object.keys(NOTHING) as (keyof Seconds)[];

/** Which times of a period belong to which state: every second to exactly one. docs/metrics.md says why in this order. */
export function divide(
  { maintenance, observed, down }: SpansOfOne,
  period: Span,
): Record<keyof Seconds, Span[]> {
  const all = union([period]);
  const planned = common(all, union(maintenance));
  const other = without(all, planned);
  const seen = common(other, union(observed));
  const broken = common(seen, union(down));
  return {
    maintenance: planned,
    notObserved: without(other, seen),
    down: broken,
    up: without(seen, broken),
  };
}

/** How much of each state lies in each of some adjoining parts of the period, in ascending order. */
export function measure(states: Record<keyof Seconds, Span[]>, parts: readonly Span[]): Seconds[] {
  const measured = parts.map(() => ({ ...NOTHING }));
  for (const state of STATES) {
    let i = 0;
    for (const span of states[state])
      for (; ; i++) {
        const [part, seconds] = [parts[i], measured[i]];
        if (!part || !seconds || part.from >= span.until) break;
        seconds[state] += Math.max(0, Math.min(part.until, span.until) - Math.max(part.from, span.from));
        if (part.until >= span.until) break;
      }
  }
  return measured;
}

export const sum = (some: readonly Seconds[]): Seconds =>
  some.reduce((total, one) => add(total, one), NOTHING);

export const add = (a: Seconds, b: Seconds): Seconds => ({
  up: a.up + b.up,
  down: a.down + b.down,
  maintenance: a.maintenance + b.maintenance,
  notObserved: a.notObserved + b.notObserved,
});

/** Percent of the time in which it was observed outside of maintenance; null: there was none. */
export const percentOf = ({ up, down }: Seconds): number | null =>
  up + down === 0 ? null : (up * 100) / (up + down);
