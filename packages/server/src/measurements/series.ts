/**
 * What was measured of one thing, a device or an interface, as columns over time. Samples hold the growth of counters;
 * summaries hold metrics. Pure.
 */
import type { GapReason, MetricName, RankedName } from '@rollcall/shared/api/measurements';

/** Columns of samples that count packets. */
export const PACKET_COUNTERS = ['inUnicast', 'outUnicast', 'inNonUnicast', 'outNonUnicast'] as const;

/** A value per interval; null where it is not known. */
export type Column = (number | null)[];

/** Intervals in ascending order: interval i ends at `end[i]` (Unix milliseconds) and lasts `over[i]` milliseconds. */
export interface Series {
  end: number[];
  over: number[];
  /** Of samples: `inOctets`, `sent`, `avgMs`, `speedBps` … Of summaries: a metric, and its `metric:max`, `:min` (absent: the mean) and `:p95` (absent: the maximum). */
  columns: Record<string, Column>;
  /** Times without a value although it was asked, in order of time; absent: none. */
  gaps?: Gap[] | undefined;
}

/** Unix milliseconds. */
export interface Gap {
  begins: number;
  ends: number;
  reason: GapReason;
}

/** One interval of a metric. */
export interface Span {
  /** Unix milliseconds. */
  begins: number;
  ends: number;
  mean: number;
  most: number;
  /** Smallest value and 95th percentile within it; absent: its mean. */
  least?: number;
  p95?: number;
}

/** What an interval has in a column. */
export type At = (column: string) => number | null;

const perSecond =
  (...counters: string[]) =>
  (at: At, overMs: number): number | null => {
    const known = counters.map(at).filter((growth) => growth !== null);
    return known.length === 0 ? null : (known.reduce((sum, growth) => sum + growth, 0) * 1000) / overMs;
  };
const bitsPerSecond =
  (octets: string) =>
  (at: At, overMs: number): number | null => {
    const growth = at(octets);
    return growth === null ? null : (growth * 8000) / overMs;
  };
/** The speed is that of now: what was carried before it changed may have been more. */
const ofSpeed =
  (octets: string) =>
  (at: At, overMs: number): number | null => {
    const [bits, speed] = [bitsPerSecond(octets)(at, overMs), at('speedBps')];
    return bits === null || !speed ? null : Math.min(100, (bits * 100) / speed);
  };

/** How each metric follows from a sample. */
const FROM_SAMPLE: Record<MetricName, (at: At, overMs: number) => number | null> = {
  rtt: (at) => at('avgMs'),
  rttMin: (at) => at('minMs'),
  rttMax: (at) => at('maxMs'),
  loss: (at) => {
    const [sent, lost] = [at('sent'), at('lost')];
    return sent === null || sent === 0 || lost === null ? null : (Math.min(lost, sent) * 100) / sent;
  },
  in: bitsPerSecond('inOctets'),
  out: bitsPerSecond('outOctets'),
  inUtilisation: ofSpeed('inOctets'),
  outUtilisation: ofSpeed('outOctets'),
  inPackets: perSecond('inUnicast', 'inNonUnicast'),
  outPackets: perSecond('outUnicast', 'outNonUnicast'),
  inErrors: perSecond('inErrors'),
  outErrors: perSecond('outErrors'),
  inDiscards: perSecond('inDiscards'),
  outDiscards: perSecond('outDiscards'),
  sensor: (at) => at('sensor'),
};
const RANKED_FROM_SAMPLE: Record<MetricName | RankedName, (at: At, overMs: number) => number | null> = {
  ...FROM_SAMPLE,
  errors: perSecond('inErrors', 'outErrors', 'inDiscards', 'outDiscards'),
};

/** A metric of one interval; null where it is not known. @param at what it has in a column */
export const ofSample = (metric: MetricName | RankedName, at: At, overMs: number): number | null =>
  RANKED_FROM_SAMPLE[metric](at, overMs);

/** Columns that a metric follows from. */
export function columnsOf(metric: MetricName | RankedName): string[] {
  const asked = new Set<string>();
  const all = (column: string): number => {
    asked.add(column);
    return 1;
  };
  RANKED_FROM_SAMPLE[metric](all, 1);
  return [...asked];
}

/** A metric in the last interval of samples; null where it is not known. */
export const lastOf = ({ end, over, columns }: Series, metric: MetricName): number | null => {
  const i = end.length - 1;
  return FROM_SAMPLE[metric]((column) => columns[column]?.[i] ?? null, over[i] ?? 1);
};

/** The intervals of a metric that are known, out of samples or, where `summarised`, of summaries. */
export function spansOf({ end, over, columns }: Series, metric: MetricName, summarised: boolean): Span[] {
  const spans: Span[] = [];
  for (const [i, ends] of end.entries()) {
    const length = over[i] ?? 0;
    const at: At = (column) => columns[column]?.[i] ?? null;
    const mean = summarised ? at(metric) : FROM_SAMPLE[metric](at, length);
    if (mean === null) continue;
    const most = summarised ? (at(`${metric}:max`) ?? mean) : mean;
    const least = summarised ? (at(`${metric}:min`) ?? mean) : mean;
    const p95 = summarised ? (at(`${metric}:p95`) ?? most) : mean;
    spans.push({ begins: ends - length, ends, mean, most, least, p95 });
  }
  return spans;
}

/** Joins series of the same thing, in order of time; of two intervals with the same end the first counts. */
export function joined(parts: readonly Series[]): Series {
  const rows = parts
    .flatMap((part) => part.end.map((end, i) => ({ end, i, part })))
    .sort((a, b) => a.end - b.end)
    .filter(({ end }, i, all) => i === 0 || all[i - 1]?.end !== end);
  const names = new Set(parts.flatMap(({ columns }) => Object.keys(columns)));
  const gaps = joinedGaps(parts.flatMap((part) => part.gaps ?? []));
  return {
    end: rows.map(({ end }) => end),
    over: rows.map(({ part, i }) => part.over[i] ?? 0),
    columns: Object.fromEntries(
      [...names].map((name) => [name, rows.map(({ part, i }) => part.columns[name]?.[i] ?? null)]),
    ),
    ...(gaps.length > 0 && { gaps }),
  };
}

/** Ends of intervals and their lengths are rounded apart: so close, two touch. */
const TOUCH_MS = 1_000;

/** In order of time, those with the same reason that touch as one. */
export function joinedGaps(gaps: readonly Gap[]): Gap[] {
  const all: Gap[] = [];
  for (const gap of [...gaps].sort((a, b) => a.begins - b.begins || a.ends - b.ends)) {
    const last = all.at(-1);
    if (last && last.reason === gap.reason && gap.begins <= last.ends + TOUCH_MS)
      last.ends = Math.max(last.ends, gap.ends);
    else all.push({ ...gap });
  }
  return all;
}

/** Things by a key of theirs, in their order. */
export function grouped<T>(things: readonly T[], key: (thing: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const name = key(thing);
    const group = groups.get(name);
    if (group) group.push(thing);
    else groups.set(name, [thing]);
  }
  return groups;
}
