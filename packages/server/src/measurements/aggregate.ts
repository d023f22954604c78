/** Intervals of a metric into values at regular steps. Pure; times in Unix milliseconds. */
import { isDeepStrictEqual } from 'node:util';
import { type AGGREGATES, METRIC_NAMES, METRICS, type MetricName } from '@rollcall/shared/api/measurements';
import { type Column, type Series, type Span, spansOf } from './series.ts';

export type Aggregate = (typeof AGGREGATES)[number];

/** The part of a number of values that lies at or below their 95th percentile, as it is billed. */
const P95 = 0.95;
/** What is billed: the mean of so many seconds. */
export const BILLED = 300;

/** The value that 95 % of the values do not exceed; null of none. */
export function percentile95(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * P95) - 1)] ?? null;
}

/** The 95th percentile of the 5-minute means of some time; null where nothing was measured. */
export const billed = (spans: readonly Span[], from: number, to: number): number | null =>
  percentile95(
    steps(spans, { from, to, step: BILLED * 1000, aggregate: 'avg' }).filter((value) => value !== null),
  );

/** How the mean of a metric over a longer time follows from shorter ones; else weighted by time. */
const COMBINED: Partial<Record<MetricName, 'least' | 'most'>> = { rttMin: 'least', rttMax: 'most' };

export interface Steps {
  from: number;
  to: number;
  step: number;
  aggregate: Aggregate;
  metric?: MetricName;
}

/** One value per step that begins in [from, to); null where nothing was measured in it. */
export function steps(
  spans: readonly Span[],
  { from, to, step, aggregate, metric }: Steps,
): (number | null)[] {
  const within = Array.from({ length: Math.ceil((to - from) / step) }, () => new Step());
  for (const span of spans) {
    const first = Math.max(0, Math.floor((span.begins - from) / step));
    const last = Math.min(within.length - 1, Math.ceil((span.ends - from) / step) - 1);
    for (let i = first; i <= last; i++) {
      const begins = from + i * step;
      const length = Math.min(span.ends, begins + step) - Math.max(span.begins, begins);
      if (length > 0) within[i]?.add(span, length);
    }
  }
  return within.map((one) => one.value(aggregate, metric && COMBINED[metric]));
}

/** What falls into one step. */
class Step {
  #weighted = 0;
  #length = 0;
  #most = Number.NEGATIVE_INFINITY;
  #least = Number.POSITIVE_INFINITY;
  readonly #means: number[] = [];
  readonly #p95s: number[] = [];

  add({ mean, most, least = mean, p95 = mean }: Span, length: number): void {
    this.#weighted += mean * length;
    this.#length += length;
    this.#most = Math.max(this.#most, most);
    this.#least = Math.min(this.#least, least);
    this.#means.push(mean);
    this.#p95s.push(p95);
  }

  value(aggregate: Aggregate, combined: 'least' | 'most' | undefined): number | null {
    if (this.#length === 0) return null;
    if (aggregate === 'max') return this.#most;
    if (aggregate === 'min') return this.#least;
    if (aggregate === 'p95') return percentile95(this.#p95s);
    if (combined === 'least') return Math.min(...this.#means);
    if (combined === 'most') return Math.max(...this.#means);
    return this.#weighted / this.#length;
  }
}

/** Mean, minimum, maximum and 95th percentile of every metric that was measured, at steps of `step` in [from, to). @param summarised it is a summary itself */
export function summarise(
  series: Series,
  { from, to, step, summarised }: Omit<Steps, 'aggregate' | 'metric'> & { summarised: boolean },
): Series {
  const ends = Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + (i + 1) * step);
  const summary: Series = { end: ends, over: ends.map(() => step), columns: {} };
  for (const metric of METRIC_NAMES) {
    const spans = spansOf(series, metric, summarised);
    if (spans.length === 0) continue;
    const column = (aggregate: Aggregate) => rounded(steps(spans, { from, to, step, aggregate, metric }));
    const [mean, min, max] = [column('avg'), column('min'), column('max')];
    summary.columns[metric] = mean;
    // What reads the same without them takes no room.
    const keep = (name: string, values: Column, otherwise: Column) => {
      if (!isDeepStrictEqual(values, otherwise)) summary.columns[`${metric}:${name}`] = values;
    };
    keep('max', max, mean);
    keep('min', min, mean);
    // A percentile of percentiles would say nothing.
    if (!summarised) keep('p95', column('p95'), max);
  }
  // No answer from summaries tells shorter ones, and an agent that is read in part only has thousands a month.
  const gaps = (series.gaps ?? []).filter(
    ({ begins, ends }) => begins < to && ends > from && ends - begins >= step / 2,
  );
  if (gaps.length > 0) summary.gaps = gaps;
  return summary;
}

/** Six digits say more than a chart shows, and take half the room. */
const rounded = (values: (number | null)[]): (number | null)[] =>
  values.map((value) => (value === null ? null : Number(value.toPrecision(6))));

/** Whether a metric is one of interfaces. */
export const isOfInterface = (metric: MetricName): boolean => METRICS[metric].of === 'interface';
