/** `GET /api/metrics`: measurements of a device over time, from the coarsest values that are fine enough. */
import { setImmediate as otherWork } from 'node:timers/promises';
import {
  type Series as Answer,
  METRICS,
  type MetricData,
  type MetricName,
  type MetricQuery,
  SERIES_MOST,
  STEPS_MOST,
  VALUES_MOST,
} from '@rollcall/shared/api/measurements';
import { SENSOR_UNITS, type SensorKind } from '@rollcall/shared/sensors';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { MetricDays } from '../platform/ops/config.ts';
import { notFound, Problem } from '../platform/problem.ts';
import { BILLED, billed, isOfInterface, steps } from './aggregate.ts';
import { OF_DEVICE, type SeriesById, unpackChunk } from './chunk.ts';
import type { Engine, EngineQuery, Measured } from './engine/query.ts';
import { OLDEST_MS, readReadings } from './last.ts';
import { gapsOf, withEvidence } from './read-gaps.ts';
import { MONTH_MS, together } from './rollup.ts';
import { type SampleRow, seriesOfRows } from './row.ts';
import { type Series, type Span, spansOf } from './series.ts';

const DAY = 86_400;
/** Values of an answer where the caller names no step. */
const USUAL_VALUES = 300;
/** Steps that people read easily, seconds. */
const STEPS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, DAY, 7 * DAY];

/** What is asked, in Unix seconds. */
export interface Window {
  from: number;
  to: number;
  step: number;
}

/** @throws Problem `invalid_request` where `to` is not behind `from`, or too many steps lie between */
export function windowOf({ from, to, step }: Pick<MetricQuery, 'from' | 'to' | 'step'>, now: number): Window {
  const end = to ?? Math.floor(now / 1000);
  const begin = from ?? end - DAY;
  if (begin >= end) throw new Problem('invalid_request', '`from` must be before `to`');
  const long = end - begin;
  const size =
    step ?? STEPS.find((each) => long / each <= USUAL_VALUES) ?? Math.ceil(long / USUAL_VALUES / DAY) * DAY;
  const first = Math.floor(begin / size) * size;
  const last = Math.ceil(end / size) * size;
  if ((last - first) / size > STEPS_MOST)
    throw new Problem(
      'invalid_request',
      `${Math.ceil((last - first) / size)} steps are more than ${STEPS_MOST}: ask for a longer step or less time`,
    );
  return { from: first, to: last, step: size };
}

interface Device {
  id: string;
  siteId: string;
  name: string;
}
/** An interface or a sensor. */
interface Part {
  id: string;
  name: string;
  /** Of a sensor: that of its kind. */
  unit?: string;
}

interface Reading {
  scope: Scope;
  now: number;
  days: MetricDays;
  engine?: Engine | undefined;
}

/** A series that is asked: of a device, or of a part of it. */
type Asked = [metric: MetricName, part: Part | null];

/** @throws Problem `not_found` without such a device or interface in scope, `invalid_request` where it is too much */
export async function readMeasurements(sql: Sql, query: MetricQuery, reading: Reading): Promise<MetricData> {
  const window = windowOf(query, reading.now);
  const all: [Device, Asked[]][] = [];
  for (const device of await findDevices(sql, query.deviceId, reading.scope))
    all.push([device, await seriesOf(sql, device, query)]);
  const asked = all.flatMap(([, some]) => some);
  for (const [name, named] of [
    ['interface', query.interfaceId],
    ['sensor', query.sensorId],
  ] as const) {
    if (!query.metrics.some((metric) => METRICS[metric].of === name)) continue;
    if (named?.some((id) => !asked.some(([, part]) => part?.id === id))) throw notFound(name);
  }
  bound(asked.length, window);
  const data: MetricData = { ...window, series: [], readings: [] };
  for (const [device, some] of all) {
    data.series.push(
      ...(await readDevice(sql, device, { query, window, asked: some, of: asked.length, ...reading })),
    );
    data.readings.push(...(await readReadings(sql, device, reading.now)));
  }
  return data;
}

async function seriesOf(sql: Sql, device: Device, { metrics, ...only }: MetricQuery): Promise<Asked[]> {
  const parts = {
    device: [null],
    interface: metrics.some(isOfInterface) ? await findPorts(sql, device, only.interfaceId) : [],
    sensor: metrics.includes('sensor') ? await findSensors(sql, device, only.sensorId) : [],
  };
  return metrics.flatMap((metric) => parts[METRICS[metric].of].map((part): Asked => [metric, part]));
}

interface AskedOfDevice extends Reading {
  query: MetricQuery;
  window: Window;
  asked: readonly Asked[];
  /** Series of the whole answer. */
  of: number;
}

async function readDevice(
  sql: Sql,
  device: Device,
  { query, window, asked, of, now, days, engine }: AskedOfDevice,
): Promise<Answer[]> {
  // The device itself explains the gaps of its parts.
  const wanted = new Set([OF_DEVICE, ...asked.map(([, part]) => part?.id ?? OF_DEVICE)]);
  const age = now / 1000 - window.from;
  const isBilled =
    of * ((window.to - window.from) / BILLED) <= VALUES_MOST &&
    (engine !== undefined || age <= days.fiveMinutes * DAY);
  const { metrics, aggregate } = query;
  const only = { interface: query.interfaceId, sensor: query.sensorId };
  const readAt = async (precise: number): Promise<Measured> => {
    // How long an engine keeps what is how fine is its own matter.
    const level = engine ? Math.min(precise, 3600) : keptLevel(precise, age, days);
    const until = engine && askedUntil(level, now);
    const ours = await readSeries(sql, device, window, { wanted, level, until });
    if (!engine) return ours;
    const theirs = await readEngine(engine, device, window, {
      ...{ metrics: withEvidence(metrics), aggregate, only, level, until },
    });
    return {
      spans: (...of) => [...theirs.spans(...of), ...ours.spans(...of)],
      gaps: (of) => [...theirs.gaps(of), ...ours.gaps(of)],
    };
  };
  // A percentile does not follow from those of shorter times: it is read as it was made, and what is billed beside it.
  const isExact = aggregate === 'p95' && window.step >= 3600;
  const level = levelOf(window, { isBilled: isBilled && !isExact, byDay: !isExact });
  const measured = await readAt(level);
  const bills = isBilled && level > BILLED ? await readAt(BILLED) : measured;
  const [from, to, step] = [window.from * 1000, window.to * 1000, window.step * 1000];
  const gaps = await gapsOf(sql, device, { from, to, step, now, ...measured });
  return asked.map(([metric, part]) => {
    const id = part?.id ?? OF_DEVICE;
    const spans = measured.spans(id, metric);
    return {
      ...{ deviceId: device.id, deviceName: device.name },
      ...whose(metric, part),
      metric,
      unit: part?.unit ?? METRICS[metric].unit,
      values: steps(spans, { from, to, step, aggregate, metric }),
      gaps: gaps(id, metric, spans),
      p95: isBilled ? billed(bills.spans(id, metric), from, to) : null,
    };
  });
}

/** The members of a series that name what it is of. */
function whose(metric: MetricName, part: Part | null) {
  const [isPort, isSensor] = [isOfInterface(metric), METRICS[metric].of === 'sensor'];
  return {
    interfaceId: (isPort && part?.id) || null,
    interfaceName: isPort ? (part?.name ?? null) : null,
    sensorId: (isSensor && part?.id) || null,
    sensorName: isSensor ? (part?.name ?? null) : null,
  };
}

function bound(series: number, { from, to, step }: Window): void {
  const values = series * ((to - from) / step);
  if (series <= SERIES_MOST && values <= VALUES_MOST) return;
  throw new Problem(
    'invalid_request',
    `${series} series with ${values} values are more than ${SERIES_MOST} with ${VALUES_MOST}: name fewer devices, interfaces or sensors, or ask for a longer step`,
  );
}

/** In the order of their ids as asked. */
async function findDevices(sql: Sql, ids: readonly string[], scope: Scope): Promise<Device[]> {
  const p = new Parameters();
  const found = await sql.query<Device & Record<string, unknown>>(
    `SELECT d.id, d.site_id AS "siteId", d.name FROM devices d
     WHERE d.id = ANY(${p.add(ids)}::uuid[]) AND ${inScope(p, 'd.site_id', scope)}`,
    p.values,
  );
  return [...new Set(ids)].map((id) => {
    const device = found.find((one) => one.id === id);
    if (!device) throw notFound('device');
    return device;
  });
}

async function findPorts(sql: Sql, { id, siteId }: Device, only?: readonly string[]): Promise<Part[]> {
  const ports = await sql.query<Part & Record<string, unknown>>(
    `SELECT id, name FROM interfaces WHERE site_id = $1::uuid AND device_id = $2::uuid
       AND ($3::uuid[] IS NULL AND gone_at IS NULL OR id = ANY($3::uuid[])) ORDER BY if_index`,
    [siteId, id, only ?? null],
  );
  return ports;
}

async function findSensors(sql: Sql, { id, siteId }: Device, only?: readonly string[]): Promise<Part[]> {
  const sensors = await sql.query<{ id: string; name: string; kind: SensorKind }>(
    `SELECT id, name, kind FROM sensors WHERE site_id = $1::uuid AND device_id = $2::uuid
       AND ($3::uuid[] IS NULL AND gone_at IS NULL OR id = ANY($3::uuid[])) ORDER BY health, id`,
    [siteId, id, only ?? null],
  );
  return sensors.map(({ kind, ...part }) => ({ ...part, unit: SENSOR_UNITS[kind] }));
}

/** What is billed is made of 5-minute means; a percentile of means, and what is billed, would be too coarse by day. */
interface Precision {
  isBilled: boolean;
  byDay: boolean;
}

/** Seconds of the coarsest values that are fine enough; 0: samples. */
export function levelOf({ step }: Pick<Window, 'step'>, { isBilled, byDay }: Precision): number {
  if (step < 300) return 0;
  if (isBilled || step < 3600) return 300;
  return byDay && step % DAY === 0 ? DAY : 3600;
}

/** The same, of what is kept so long. */
export function keptLevel(level: number, ageSeconds: number, days: MetricDays): number {
  if (ageSeconds > days.fiveMinutes * DAY) return Math.max(level, 3600);
  return ageSeconds > days.samples * DAY ? Math.max(level, 300) : level;
}

/**
 * Up to when an engine for time series is asked, Unix seconds. What is younger is here as well (`HERE_MS` of ship.ts), and
 * engines answer what they got a moment ago with a delay. On the border of a mean, so that each has one source.
 */
const SETTLED_S = 1200;
const askedUntil = (level: number, now: number): number => {
  const settled = Math.floor(now / 1000) - SETTLED_S;
  return level === 0 ? settled : Math.floor(settled / level) * level;
};

function readEngine(
  engine: Engine,
  { id, siteId }: Device,
  window: Window,
  {
    until,
    level,
    ...asked
  }: Pick<EngineQuery, 'metrics' | 'aggregate' | 'only' | 'level'> & { until: number | undefined },
): Promise<Measured> {
  // One reading may fail: an interval that ends so much later may reach into what is asked.
  const reach = level === 0 ? OLDEST_MS / 1000 : level;
  const to = Math.min(window.to + reach, until ?? 0);
  return engine.read({ ...asked, siteId, deviceId: id, from: window.from, to, level });
}

/** The intervals of a series: summaries where there are, and samples of the time that has none yet. */
async function readSeries(
  sql: Sql,
  { id, siteId }: Device,
  window: Window,
  { wanted, level, until }: { wanted: ReadonlySet<string>; level: number; until: number | undefined },
): Promise<Measured> {
  // A chunk begins so long at most before what it holds.
  const reach = level === DAY ? MONTH_MS : DAY * 1000;
  const [from, to] = [new Date(window.from * 1000 - reach), new Date(window.to * 1000 + OLDEST_MS)];
  const finer = level === DAY ? [0, 3600] : [0];
  const chunks = await sql.query<{ step: number; data: Uint8Array }>(
    `SELECT step, data FROM sample_chunks WHERE site_id = $1::uuid AND device_id = $2::uuid
       AND begins >= $3 AND begins < $4 AND (step = $5 OR step = ANY($6::int[]) AND NOT summarised)`,
    [siteId, id, from, to, level, finer],
  );
  const rows = await sql.query<SampleRow & Record<string, unknown>>(
    `SELECT at, over_ms AS "overMs", data FROM samples
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND at > $3 AND at <= $4
       AND ($5::timestamptz IS NULL OR at > $5 OR unsent IS DISTINCT FROM false) ORDER BY at`,
    [siteId, id, new Date(window.from * 1000), to, until === undefined ? null : new Date(until * 1000)],
  );
  const unpacked: { isSample: boolean; all: SeriesById }[] = [];
  for (const { step, data } of chunks) {
    unpacked.push({ isSample: step === 0, all: unpackChunk(data, wanted) });
    // Other requests have their turn: a device may have hundreds of ports.
    await otherWork();
  }
  const some = (samples: boolean) =>
    unpacked.filter(({ isSample }) => isSample === samples).map(({ all }) => all);
  const samples = together([...some(true), seriesOfRows(rows)]);
  const summaries = together(some(false));
  const spans = (of: SeriesById, series: string, metric: MetricName, summarised: boolean): Span[] => {
    const one: Series | undefined = of.get(series);
    return one ? spansOf(one, metric, summarised) : [];
  };
  return {
    spans: (series, metric) => [
      ...spans(summaries, series, metric, true),
      ...spans(samples, series, metric, false),
    ],
    gaps: (series) => [summaries, samples].flatMap((of) => of.get(series)?.gaps ?? []),
  };
}
