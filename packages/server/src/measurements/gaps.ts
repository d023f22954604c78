/** Why something was not measured: what was told with the samples, and what follows from the rest. Pure; Unix milliseconds. */
import type { GapReason, MetricName } from '@rollcall/shared/api/measurements';
import { common, type Span as Time, union, without } from '../platform/time-spans.ts';
import { INTERVALS, LEAST_MS } from './last.ts';
import { type Gap, joinedGaps, type Span } from './series.ts';

/** What explains a gap. */
export interface Evidence {
  /** Told with the samples. */
  told: readonly Gap[];
  /** When the device was pinged. */
  pinged: readonly Span[];
  /** When the thing was measured, whatever the metric. */
  measured: readonly Span[];
  /** When the device was monitored, and when a collector of its site was connected. */
  monitored: readonly Time[];
  connected: readonly Time[];
}

export interface Window {
  from: number;
  to: number;
  step: number;
}

const times = (spans: readonly Pick<Span, 'begins' | 'ends'>[]): Time[] =>
  union(spans.map(({ begins, ends }) => ({ from: begins, until: ends })));

/** The times within a window, up to now, in which a metric was not measured; what is shorter than half a step is left out. */
export function missing(known: readonly Span[], { from, to, step }: Window, now: number): Time[] {
  const last = known.reduce<Span | undefined>(
    (one, span) => (one && one.ends > span.ends ? one : span),
    undefined,
  );
  const next = last && last.ends + Math.max(LEAST_MS, INTERVALS * (last.ends - last.begins));
  const until = Math.min(to, now);
  const end = next !== undefined && next > now ? Math.min(until, last?.ends ?? until) : until;
  return without(union([{ from, until: end }]), times(known)).filter(isLong(step));
}

const isLong =
  (step: number) =>
  ({ from, until }: Time): boolean =>
    until - from >= step / 2;

/** @param lacking as `missing` answers */
export function explained(lacking: readonly Time[], metric: MetricName, step: number, by: Evidence): Gap[] {
  const gaps = lacking.flatMap((time) => toldOf(time, by.told));
  const all = [...lacking];
  let rest = without(all, times(gaps));
  const take = (some: Time[], reason: GapReason) => {
    gaps.push(...common(rest, some).map(({ from, until }) => ({ begins: from, ends: until, reason })));
    rest = without(rest, some);
  };
  const isOfPings = metric.startsWith('rtt') || metric === 'loss';
  take(without(all, union(by.monitored)), 'not-monitored');
  take(times(by.measured), isOfPings ? 'no-answer' : 'no-value');
  take(times(by.pinged), 'agent-silent');
  take(without(all, union(by.connected)), 'collector-away');
  take(all, 'not-received');
  return joinedGaps(gaps).filter(({ begins, ends }) => isLong(step)({ from: begins, until: ends }));
}

/**
 * What was told of a gap. Its reason holds from the last measurement on: counters go on over a silence, and would have
 * told of it, but for what is told. Only a first reading says nothing of the time before.
 */
function toldOf({ from, until }: Time, told: readonly Gap[]): Gap[] {
  const gaps: Gap[] = [];
  let at = from;
  for (const { begins, ends, reason } of told) {
    if (ends <= at || begins >= until) continue;
    const begin = reason === 'first-reading' ? Math.max(at, begins) : at;
    gaps.push({ begins: begin, ends: Math.min(ends, until), reason });
    at = Math.min(ends, until);
  }
  return gaps;
}
