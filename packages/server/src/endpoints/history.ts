/** Where a hardware address was over time: the intervals in which ports had learnt it, judged from change to change. Pure. */
import { type LearntAt, type Placement, place } from './place.ts';

/** That a forwarding table had the address at a port; times in Unix seconds. */
export interface Interval {
  since: number;
  /** Null: it has it now. */
  until: number | null;
}

export interface Stay<Port extends LearntAt> extends Placement<Port> {
  from: number;
  /** Null: it is there now. */
  to: number | null;
}

/** The latest first. Times at which no table had the address are left out; what stays the same is one. `now`: Unix seconds. */
export function staysOf<Port extends LearntAt & Interval>(
  intervals: readonly Port[],
  keyOf: (port: Port) => string,
  now: number,
): Stay<Port>[] {
  const times = [...new Set(intervals.flatMap(({ since, until }) => [since, until ?? Infinity]))].sort(
    (a, b) => a - b,
  );
  const stays: Stay<Port>[] = [];
  for (const [i, from] of times.slice(0, -1).entries()) {
    const to = times[i + 1] ?? Infinity;
    const there = intervals.filter(({ since, until }) => since <= from && (until ?? Infinity) >= to);
    if (there.length === 0) continue;
    const found = place([...new Map(there.map((port) => [keyOf(port), port])).values()], Math.min(to, now));
    const before = stays.at(-1);
    if (before && before.to === from && isSame(before, found, keyOf))
      Object.assign(before, { to: finite(to), reason: found.reason });
    else stays.push({ ...found, from, to: finite(to) });
  }
  return stays.reverse();
}

const finite = (time: number): number | null => (time === Infinity ? null : time);

function isSame<Port extends LearntAt>(
  a: Placement<Port>,
  b: Placement<Port>,
  keyOf: (port: Port) => string,
): boolean {
  const keys = ({ ports }: Placement<Port>) => ports.map(keyOf).sort().join('\n');
  // Where it is known, the reason also counts ports between bridges, which learn it one by one.
  return a.verdict === b.verdict && keys(a) === keys(b) && (a.ports.length > 0 || a.reason === b.reason);
}
