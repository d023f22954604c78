/**
 * Sets of time as sorted spans that neither overlap nor touch, and how a period falls apart into the four states of
 * availability. Pure. All times are whole Unix seconds, so that sums are exact.
 */

/** From `from` up to, not including, `until`. */
export interface Span {
  from: number;
  until: number;
}

/** The times that lie in any of some spans, which may come in any order. */
export function union(spans: readonly Span[]): Span[] {
  const sorted = spans.filter(({ from, until }) => from < until).sort((a, b) => a.from - b.from);
  const joined: Span[] = [];
  for (const { from, until } of sorted) {
    const last = joined.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return joined;
}

/** The times that lie in both sets. */
export function common(a: readonly Span[], b: readonly Span[]): Span[] {
  const both: Span[] = [];
  for (let i = 0, j = 0; ; ) {
    const [one, other] = [a[i], b[j]];
    if (!one || !other) return both;
    const [from, until] = [Math.max(one.from, other.from), Math.min(one.until, other.until)];
    if (from < until) both.push({ from, until });
    if (one.until < other.until) i += 1;
    else j += 1;
  }
}

/** The times of a set that lie outside another. */
export function without(set: readonly Span[], other: readonly Span[]): Span[] {
  const first = set[0]?.from ?? 0;
  const last = set.at(-1)?.until ?? 0;
  const outside: Span[] = [];
  let from = first;
  for (const span of other) {
    if (from < span.from) outside.push({ from, until: Math.min(span.from, last) });
    from = Math.max(from, span.until);
  }
  if (from < last) outside.push({ from, until: last });
  return common(set, outside);
}

/** What is known of one thing. */
export interface Known {
  /** Windows that cover it. */
  maintenance: readonly Span[];
  /** Monitored, by a collector that was connected. */
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
export function divide({ maintenance, observed, down }: Known, period: Span): Record<keyof Seconds, Span[]> {
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
