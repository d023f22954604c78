/**
 * Intervals of metrics out of an engine that answers PromQL (https://prometheus.io/docs/prometheus/latest/querying/api/):
 * samples as they were written, or means of 5 minutes or an hour and what else is asked of these.
 */
import { GAP_REASONS, METRICS, type MetricName } from '@rollcall/shared/api/measurements';
import { z } from 'zod';
import { Problem } from '../../platform/problem.ts';
import type { Aggregate } from '../aggregate.ts';
import { OF_DEVICE } from '../chunk.ts';
import { GAP, INTERVAL, PROMETHEUS } from '../names.ts';
import type { Gap, Span } from '../series.ts';
import { type Address, addressOf, reasonOf } from './address.ts';

/** An answer that takes longer counts as none. */
const TIMEOUT_MS = 30_000;
/** Points of one series in one answer: Prometheus gives 11,000 at most. */
const POINTS_MOST = 10_000;
/** Digits that survive the change of units there and back. */
const DIGITS = 12;

export interface EngineQuery {
  siteId: string;
  deviceId: string;
  metrics: readonly MetricName[];
  /** Only these interfaces or sensors. */
  only: Readonly<Partial<Record<'interface' | 'sensor', readonly string[] | undefined>>>;
  /** Unix seconds, excluding what ends after `to`. */
  from: number;
  to: number;
  /** Seconds of one mean; 0: samples as they are. */
  level: number;
  /** What is wanted of each mean besides. */
  aggregate: Aggregate;
}

export type SpansOf = (series: string, metric: MetricName) => Span[];

/** What is known of series by their ids, and what was told of times of which nothing is. */
export interface Measured {
  spans: SpansOf;
  gaps: (series: string) => Gap[];
}

export interface Engine {
  /** @throws Problem `unavailable` */
  read(query: EngineQuery): Promise<Measured>;
}

const matrix = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
});

/** Points of a series by its labels. */
interface Points {
  labels: Record<string, string>;
  /** Unix milliseconds and value. */
  points: [at: number, value: number][];
}

/** @param url what `/api/v1/query` is appended to */
export function openEngine(url: string): Engine {
  const address = addressOf(url);
  return {
    read: async (query) => ({
      spans: await (query.level === 0 ? readSamples(address, query) : readMeans(address, query)),
      gaps: await readGaps(address, query),
    }),
  };
}

/** Selects a metric of the device; every value is an id of ours, or out of a closed list. */
function selector({ siteId, deviceId, only }: EngineQuery, metric: MetricName): string {
  const of = METRICS[metric].of;
  const ids = of === 'device' ? undefined : only[of];
  const part = ids === undefined ? '' : `,${of}_id=~"${ids.join('|')}"`;
  return `${PROMETHEUS[metric].name}{site_id="${siteId}",device_id="${deviceId}"${part}}`;
}

async function readSamples(address: Address, query: EngineQuery): Promise<SpansOf> {
  const { siteId, deviceId, from, to } = query;
  if (to <= from) return () => [];
  const range = (select: string) =>
    ask(address, 'query', { query: `${select}[${to - from}s]`, time: String(to), nocache: '1' });
  const intervals = new Map<number, number>();
  for (const { points } of await range(`${INTERVAL}{site_id="${siteId}",device_id="${deviceId}"}`))
    for (const [at, seconds] of points) intervals.set(at, seconds * 1000);
  return eachMetric(query, async (metric) =>
    (await range(selector(query, metric))).map(({ labels, points }) => ({
      labels,
      spans: points.flatMap(([at, value]): Span[] => {
        const over = intervals.get(at);
        const mean = inUnit(metric, value);
        return over === undefined ? [] : [{ begins: at - over, ends: at, mean, most: mean }];
      }),
    })),
  );
}

/** There are few: all of the device are read. */
async function readGaps(
  address: Address,
  { siteId, deviceId, from, to }: EngineQuery,
): Promise<Measured['gaps']> {
  if (to <= from) return () => [];
  const select = `${GAP}{site_id="${siteId}",device_id="${deviceId}"}[${to - from}s]`;
  const found = await ask(address, 'query', { query: select, time: String(to), nocache: '1' });
  const gaps = found.flatMap(({ labels, points }) =>
    points.flatMap(([ends, seconds]) => {
      const reason = GAP_REASONS.find((one) => one === labels.reason);
      return reason ? [{ of: subject(labels), begins: ends - seconds * 1000, ends, reason }] : [];
    }),
  );
  return (series) => gaps.filter(({ of }) => of === series);
}

/** What is asked beside the means. The 95th percentile of PromQL lies between two values, ours is one of them. */
const BESIDES: Readonly<Record<Aggregate, (range: string) => string | null>> = {
  avg: () => null,
  min: (range) => `min_over_time(${range})`,
  max: (range) => `max_over_time(${range})`,
  p95: (range) => `quantile_over_time(0.95, ${range})`,
};

async function readMeans(address: Address, query: EngineQuery): Promise<SpansOf> {
  const { level } = query;
  const first = (Math.floor(query.from / level) + 1) * level;
  const last = Math.floor(query.to / level) * level;
  // A millisecond less than the step: a sample on a border belongs to the step that it ends, never to two.
  const over = `[${level * 1000 - 1}ms]`;
  const range = async (expression: string): Promise<Points[]> => {
    const all: Points[] = [];
    for (let start = first; start <= last; start += POINTS_MOST * level) {
      const end = Math.min(last, start + (POINTS_MOST - 1) * level);
      const asked = { query: expression, start: String(start), end: String(end), step: String(level) };
      all.push(...(await ask(address, 'query_range', { ...asked, nocache: '1' })));
    }
    return all;
  };
  return eachMetric(query, async (metric) => {
    const select = selector(query, metric);
    const means = await range(`avg_over_time(${select}${over})`);
    const others = new Map<string, number>();
    const besides = BESIDES[query.aggregate](`${select}${over}`);
    for (const { labels, points } of besides ? await range(besides) : [])
      for (const [at, value] of points) others.set(`${subject(labels)} ${at}`, value);
    return means.map(({ labels, points }) => ({
      labels,
      spans: points.map(([at, value]): Span => {
        const mean = inUnit(metric, value);
        const other = inUnit(metric, others.get(`${subject(labels)} ${at}`) ?? value);
        return { begins: at - level * 1000, ends: at, mean, most: other, least: other, p95: other };
      }),
    }));
  });
}

const subject = (labels: Record<string, string>): string =>
  labels.interface_id ?? labels.sensor_id ?? OF_DEVICE;
const inUnit = (metric: MetricName, value: number): number =>
  Number((value / PROMETHEUS[metric].by).toPrecision(DIGITS));

async function eachMetric(
  { metrics }: EngineQuery,
  read: (metric: MetricName) => Promise<{ labels: Record<string, string>; spans: Span[] }[]>,
): Promise<SpansOf> {
  const found = new Map<string, Span[]>();
  for (const metric of new Set(metrics))
    for (const { labels, spans } of await read(metric)) {
      const key = `${metric} ${subject(labels)}`;
      found.set(key, [...(found.get(key) ?? []), ...spans]);
    }
  return (series, metric) => found.get(`${metric} ${series}`) ?? [];
}

/** Asks, by POST: an address would be bounded. */
async function ask(
  { url, headers, shown }: Address,
  path: 'query' | 'query_range',
  parameters: Record<string, string>,
): Promise<Points[]> {
  let body: unknown;
  try {
    const answer = await fetch(`${url}/api/v1/${path}`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'manual',
    });
    if (!answer.ok) throw new Error(`${answer.status} ${(await answer.text()).slice(0, 200)}`);
    body = await answer.json();
  } catch (error) {
    throw new Problem(
      'unavailable',
      `${shown}, which keeps the measurements, cannot be asked: ${reasonOf(error)}`,
      {
        cause: error,
      },
    );
  }
  const { data } = matrix.parse(body);
  return data.result.map(({ metric, values }) => ({
    labels: metric,
    points: values
      .map(([time, text]): [number, number] => [Math.round(time * 1000), Number(text)])
      .filter(([, value]) => Number.isFinite(value)),
  }));
}
