/** Measurements over time: traffic, errors, round trip and loss. */
import { z } from 'zod';
import { deviceClass } from '../model.ts';
import { time } from './members.ts';
import { codes, id, type Operation, queryTime, siteFilter, wholeNumber } from './operation.ts';

/** Every metric: whose it is, its unit, and what it says. */
export const METRICS = {
  rtt: { of: 'device', unit: 'ms', says: 'Round trip of pings, mean.' },
  rttMin: { of: 'device', unit: 'ms', says: 'Round trip of pings, shortest.' },
  rttMax: { of: 'device', unit: 'ms', says: 'Round trip of pings, longest.' },
  loss: { of: 'device', unit: '%', says: 'Pings without an answer.' },
  in: { of: 'interface', unit: 'bit/s', says: 'Traffic received.' },
  out: { of: 'interface', unit: 'bit/s', says: 'Traffic sent.' },
  inUtilisation: { of: 'interface', unit: '%', says: 'Traffic received, of the speed of the interface.' },
  outUtilisation: { of: 'interface', unit: '%', says: 'Traffic sent, of the speed of the interface.' },
  inPackets: { of: 'interface', unit: '1/s', says: 'Packets received.' },
  outPackets: { of: 'interface', unit: '1/s', says: 'Packets sent.' },
  inErrors: { of: 'interface', unit: '1/s', says: 'Packets received with errors.' },
  outErrors: { of: 'interface', unit: '1/s', says: 'Packets not sent because of errors.' },
  inDiscards: { of: 'interface', unit: '1/s', says: 'Packets received and discarded.' },
  outDiscards: { of: 'interface', unit: '1/s', says: 'Packets discarded instead of sent.' },
  sensor: { of: 'sensor', unit: '', says: 'Value of a sensor, in the unit of its kind.' },
} as const satisfies Record<string, { of: 'device' | 'interface' | 'sensor'; unit: string; says: string }>;
export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as [MetricName, ...MetricName[]];

/** How the samples of one step become one value. */
export const AGGREGATES = ['avg', 'max', 'p95'] as const;

/** Most steps of one answer: more than a chart has pixels. */
export const STEPS_MOST = 2000;
/** Most series of one answer. */
export const SERIES_MOST = 2000;
/** Most values of one answer. */
export const VALUES_MOST = 200_000;

const series = z
  .strictObject({
    deviceId: id,
    interfaceId: id.nullable(),
    /** ifName of the interface. */
    interfaceName: z.string().nullable(),
    sensorId: id.nullable(),
    sensorName: z.string().nullable(),
    metric: z.enum(METRIC_NAMES),
    unit: z.string().meta({ example: 'bit/s' }),
    /** One value per step from `from` on; null where nothing was measured. */
    values: z.array(z.number().nullable()),
    /** The 95th percentile of all 5-minute means of the time asked, as it is billed; null without any, and of very many at once. */
    p95: z.number().nullable(),
  })
  .meta({ id: 'Series' });
export type Series = z.infer<typeof series>;

const metricData = z
  .strictObject({
    from: time,
    to: time,
    /** Seconds. */
    step: z.int().min(1),
    series: z.array(series),
  })
  .meta({ id: 'Metrics' });
export type MetricData = z.infer<typeof metricData>;

const metricQuery = z.strictObject({
  deviceId: z.uuid().meta({ description: 'Required: whose measurements.' }),
  interfaceId: z.uuid().optional().meta({
    description: 'Only this interface. Without it: the device, and for metrics of interfaces all of them.',
  }),
  sensorId: z.uuid().optional().meta({
    description: 'Only this sensor. Without it: for metrics of sensors all of them.',
  }),
  metrics: codes(METRIC_NAMES).meta({ description: 'Names of metrics.', example: 'in,out' }),
  from: queryTime.optional().meta({ description: 'Unix seconds; 24 hours before `to` when absent.' }),
  to: queryTime.optional().meta({ description: 'Unix seconds; now when absent.' }),
  step: wholeNumber(1, 2_678_400)
    .optional()
    .meta({ description: 'Seconds of one value; chosen so that about 300 values are answered when absent.' }),
  aggregate: z.enum(AGGREGATES).default('avg'),
});
export type MetricQuery = z.output<typeof metricQuery>;

const topEntry = z
  .strictObject({
    deviceId: id,
    deviceName: z.string(),
    siteId: id,
    interfaceId: id.nullable(),
    interfaceName: z.string().nullable(),
    value: z.number(),
    unit: z.string(),
    /** When it was measured. */
    at: time,
  })
  .meta({ id: 'TopEntry' });
export type TopEntry = z.infer<typeof topEntry>;

export const TOP_MOST = 100;
/** Values of sensors have many units: which is the highest says nothing. */
const topQuery = z.strictObject({
  metric: z.enum(METRIC_NAMES).exclude(['sensor']),
  site: siteFilter,
  class: codes(deviceClass.options).optional(),
  limit: wholeNumber(1, TOP_MOST).default(10).meta({ description: 'Entries.' }),
});
export type TopQuery = z.output<typeof topQuery>;

export const measurementOperations = {
  'measurements.get': {
    method: 'GET',
    path: '/api/metrics',
    tag: 'Metrics',
    summary: 'Measurements of a device or its interfaces over time',
    access: 'viewer',
    query: metricQuery,
    data: metricData,
    envelope: 'item',
    errors: ['not_found'],
  },
  'measurements.top': {
    method: 'GET',
    path: '/api/metrics/top',
    tag: 'Metrics',
    summary: 'The highest values now: busiest, most errors, slowest, most loss',
    description: 'The last measurement of each, none older than 5 minutes.',
    access: 'viewer',
    query: topQuery,
    data: z.array(topEntry),
    envelope: 'item',
  },
  'measurements.current': {
    method: 'GET',
    path: '/api/metrics/current',
    tag: 'Metrics',
    summary: 'The last measurements, for Prometheus',
    description:
      'OpenMetrics text: every device and interface in one scrape, in base units. Of more than 2,000 devices ask by site.',
    access: 'viewer',
    query: z.strictObject({ site: siteFilter }),
    data: z.string(),
    envelope: 'raw',
    produces: 'application/openmetrics-text',
  },
} as const satisfies Record<string, Operation>;
