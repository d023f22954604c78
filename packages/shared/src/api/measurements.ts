/** Measurements over time: traffic, errors, round trip and loss. */
import { z } from 'zod';
import { deviceFilters } from './inventory.ts';
import { time } from './members.ts';
import { codes, id, ids, type Operation, queryTime, siteFilter, wholeNumber } from './operation.ts';

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

/** What can be ranked. Values of sensors have many units: which is the highest says nothing. */
const { sensor: _, ...ranked } = METRICS;
export const RANKED = {
  ...ranked,
  errors: { of: 'interface', unit: '1/s', says: 'Errors and discards in both directions.' },
} as const;
export type RankedName = keyof typeof RANKED;

/** Why something was not measured, in words that follow "not measured:". */
export const GAPS = {
  'first-reading': 'there was no earlier reading to compare with',
  restarted: 'the agent restarted',
  missed: 'the agent had not been read for more than a day',
  'counters-reset': 'the counters were reset',
  renamed: 'another interface has this ifIndex now',
  'over-speed': 'the counters grew by more than the speed of the interface allows',
  ambiguous: 'counters of 32 bits may have wrapped more than once',
  'no-answer': 'no ping was answered',
  'no-value': 'the device gave no such value',
  'agent-silent': 'the SNMP agent did not answer',
  'not-monitored': 'the device was not monitored',
  'collector-away': 'no collector of the site was connected',
  'not-received': 'no measurement arrived; GET /api/gaps lists what collectors lost',
} as const;
export type GapReason = keyof typeof GAPS;
export const GAP_REASONS = Object.keys(GAPS) as [GapReason, ...GapReason[]];

/** How the samples of one step become one value. */
export const AGGREGATES = ['avg', 'min', 'max', 'p95'] as const;

/** Most steps of one answer: more than a chart has pixels. */
export const STEPS_MOST = 2000;
/** Most series of one answer. */
export const SERIES_MOST = 2000;
/** Most devices of one request, and most interfaces or sensors that it names. */
export const DEVICES_MOST = 100;
export const PARTS_MOST = 100;
/** Most values of one answer. */
export const VALUES_MOST = 200_000;

export const metricName = z.enum(METRIC_NAMES).meta({ id: 'MetricName' });
const measurementGap = z
  .strictObject({
    from: time,
    to: time,
    reason: z.enum(GAP_REASONS).meta({ id: 'GapReason' }),
    /** The reason in words. */
    message: z.string().meta({ example: GAPS.restarted }),
  })
  .meta({ id: 'MeasurementGap' });
export type MeasurementGap = z.infer<typeof measurementGap>;

const series = z
  .strictObject({
    deviceId: id,
    deviceName: z.string(),
    interfaceId: id.nullable(),
    /** ifName of the interface. */
    interfaceName: z.string().nullable(),
    sensorId: id.nullable(),
    sensorName: z.string().nullable(),
    metric: metricName,
    unit: z.string().meta({ example: 'bit/s' }),
    /** One value per step from `from` on; null where nothing was measured. */
    values: z.array(z.number().nullable()),
    /** When it was not measured, and why; what is shorter than half a step is left out. */
    gaps: z.array(measurementGap),
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
    /** How often the agents that answer now are read: more than asked where one answers slowly. */
    readings: z.array(
      z.strictObject({ deviceId: id, askedSeconds: z.number().min(0), everySeconds: z.number().min(0) }),
    ),
  })
  .meta({ id: 'Metrics' });
export type MetricData = z.infer<typeof metricData>;

const metricQuery = z.strictObject({
  deviceId: ids(DEVICES_MOST).meta({ description: 'Required: whose measurements. Ids separated by commas.' }),
  interfaceId: ids(PARTS_MOST).optional().meta({
    description:
      'Only these interfaces, ids separated by commas. Without it: the device, and for metrics of interfaces all of them.',
  }),
  sensorId: ids(PARTS_MOST).optional().meta({
    description:
      'Only these sensors, ids separated by commas. Without it: for metrics of sensors all of them.',
  }),
  metrics: codes(metricName).meta({ description: 'Names of metrics.', example: 'in,out' }),
  from: queryTime.optional().meta({ description: 'Unix seconds; 24 hours before `to` when absent.' }),
  to: queryTime.optional().meta({ description: 'Unix seconds; now when absent.' }),
  step: wholeNumber(1, 2_678_400)
    .optional()
    .meta({ description: 'Seconds of one value; chosen so that about 300 values are answered when absent.' }),
  aggregate: z
    .enum(AGGREGATES)
    .meta({ id: 'Aggregate' })
    .default('avg')
    .meta({ description: 'Of the samples of each step.' }),
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
const topQuery = z.strictObject({
  metric: z
    .enum(Object.keys(RANKED) as [keyof typeof RANKED, ...(keyof typeof RANKED)[]])
    .meta({ id: 'RankedMetric', description: '`errors`: errors and discards in both directions together.' }),
  site: siteFilter,
  class: deviceFilters.class,
  search: deviceFilters.search,
  limit: wholeNumber(1, TOP_MOST).default(10).meta({ description: 'Entries.' }),
});
export type TopQuery = z.output<typeof topQuery>;

export const measurementOperations = {
  'measurements.get': {
    method: 'GET',
    path: '/api/metrics',
    tag: 'Metrics',
    summary: 'Measurements of devices or their interfaces over time',
    access: 'viewer',
    query: metricQuery,
    data: metricData,
    envelope: 'item',
    errors: ['not_found'],
  },
  'measurements.file': {
    method: 'GET',
    path: '/api/metrics/csv',
    tag: 'Metrics',
    summary: 'The same as CSV',
    description: 'A line per series and step, with the reason where it was not measured.',
    access: 'viewer',
    query: metricQuery,
    data: z.string(),
    envelope: 'raw',
    produces: 'text/csv',
    errors: ['not_found'],
  },
  'measurements.top': {
    method: 'GET',
    path: '/api/metrics/top',
    tag: 'Metrics',
    summary: 'The highest values now: busiest, most errors, slowest, most loss',
    description:
      'The last measurement of each that is monitored, none older than three intervals of its readings (`watchSnmpSeconds`, of a slow agent more).',
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
      'OpenMetrics text: every monitored device and its interfaces in one scrape, in base units; it is written while it is read, whatever their number.',
    access: 'viewer',
    query: z.strictObject({ site: siteFilter }),
    data: z.string(),
    envelope: 'raw',
    produces: 'application/openmetrics-text',
  },
} as const satisfies Record<string, Operation>;
