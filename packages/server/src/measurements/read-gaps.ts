/** When the series of an answer were not measured, and why. */
import { GAPS, METRICS, type MeasurementGap, type MetricName } from '@rollcall/shared/api/measurements';
import type { Sql } from '../platform/db/sql.ts';
import type { Span as Time } from '../platform/time-spans.ts';
import { OF_DEVICE } from './chunk.ts';
import type { Measured } from './engine/query.ts';
import { explained, missing, type Window } from './gaps.ts';
import type { Span } from './series.ts';

/** Metrics that are known whenever something was measured at all. */
const ALWAYS: Readonly<Record<'device' | 'interface' | 'sensor', readonly MetricName[]>> = {
  device: ['loss'],
  interface: ['in', 'inErrors'],
  sensor: [],
};

/** Metrics, and those that say why they are not known. */
export const withEvidence = (metrics: readonly MetricName[]): MetricName[] => [
  ...new Set([...metrics, ...ALWAYS.device, ...metrics.flatMap((metric) => ALWAYS[METRICS[metric].of])]),
];

interface Read extends Window, Measured {
  now: number;
}

/** @returns the gaps of a series, whose spans these are */
export async function gapsOf(
  sql: Sql,
  device: { id: string; siteId: string },
  { now, spans, gaps, ...window }: Read,
): Promise<(series: string, metric: MetricName, known: readonly Span[]) => MeasurementGap[]> {
  const { monitored, connected } = await readHistories(sql, device, window);
  const pinged = spans(OF_DEVICE, 'loss');
  return (series, metric, known) => {
    const lacking = missing(known, window, now);
    if (lacking.length === 0) return [];
    const { of } = METRICS[metric];
    const found = explained(lacking, metric, window.step, {
      ...{ pinged, monitored, connected },
      // What is told of its agent is no matter of its pings.
      told: of === 'device' ? [] : [...gaps(OF_DEVICE), ...gaps(series)].sort((a, b) => a.ends - b.ends),
      measured: ALWAYS[of].flatMap((each) => spans(series, each)),
    });
    return found.map(({ begins, ends, reason }) => ({
      from: Math.floor(begins / 1000),
      to: Math.ceil(ends / 1000),
      ...{ reason, message: GAPS[reason] },
    }));
  };
}

interface Row extends Record<string, unknown> {
  isMonitored: boolean;
  since: Date;
  until: Date | null;
}

/** When the device was monitored, and when a collector of its site was connected. */
async function readHistories(
  sql: Sql,
  { id, siteId }: { id: string; siteId: string },
  { from, to }: Window,
): Promise<Record<'monitored' | 'connected', Time[]>> {
  const reaches = "since < $4 AND coalesce(until, 'infinity') > $3";
  const rows = await sql.query<Row>(
    `SELECT true AS "isMonitored", since, until FROM monitoring_history
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND ${reaches}
     UNION ALL SELECT false, since, until FROM connection_history WHERE site_id = $1::uuid AND ${reaches}`,
    [siteId, id, new Date(from), new Date(to)],
  );
  const some = (isMonitored: boolean) =>
    rows
      .filter((row) => row.isMonitored === isMonitored)
      .map(({ since, until }) => ({ from: since.getTime(), until: until?.getTime() ?? Infinity }));
  return { monitored: some(true), connected: some(false) };
}
