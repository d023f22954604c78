/** What was measured around events: read from the measurements until it is due, then kept with the event. */
import { type EventChart, eventChart } from '@rollcall/shared/api/event-charts';
import type { MetricData, MetricQuery } from '@rollcall/shared/api/measurements';
import type { Clock } from '@rollcall/shared/clock';
import {
  CHART_POINTS,
  CHART_POINTS_BEFORE,
  chartedKind,
  chartStep,
  EVENT_CHARTS,
} from '@rollcall/shared/event-charts';
import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { notFound, Problem } from '../platform/problem.ts';

/** Charts that are kept in one round. */
const ROUND = 100;
/** One that could not be drawn is tried again after so long. */
const RETRY_MS = 600_000;

/** Measurements of devices of some sites, as `GET /api/metrics` answers them. */
type Read = (query: MetricQuery, scope: Scope) => Promise<MetricData>;

/** An event whose chart is asked. */
interface About {
  siteId: string;
  eventId: string;
  kind: string;
  deviceId: string | null;
  interfaceId: string | null;
  firstSeen: Date;
  details: { after?: { limit?: unknown; sensorId?: unknown } } & Record<string, unknown>;
  data: unknown;
}
const ABOUT = `e.site_id AS "siteId", e.id AS "eventId", e.kind, e.device_id AS "deviceId",
  e.interface_id AS "interfaceId", e.first_seen AS "firstSeen", e.details, c.data`;
const CHART = 'LEFT JOIN event_charts c ON c.site_id = e.site_id AND c.event_id = e.id';

/** @throws Problem `not_found` without such an event in scope */
export async function readEventChart(
  sql: Sql,
  { id, scope, read }: { id: string; scope: Scope; read: Read },
): Promise<EventChart> {
  const p = new Parameters();
  const [about] = await sql.query<About & Record<string, unknown>>(
    `SELECT ${ABOUT} FROM events e ${CHART} WHERE e.id = ${p.add(id)}::uuid AND ${inScope(p, 'e.site_id', scope)}`,
    p.values,
  );
  if (!about) throw notFound('event');
  const kept = eventChart.safeParse(about.data);
  return kept.success ? kept.data : drawn(about, read);
}

/** Keeps the charts that are due; by any number of servers. @returns how many were */
export async function keepEventCharts(db: Database, clock: Pick<Clock, 'now'>, read: Read): Promise<number> {
  const due = await db.query<About & Record<string, unknown>>(
    `SELECT ${ABOUT} FROM event_charts c JOIN events e ON e.site_id = c.site_id AND e.id = c.event_id
     WHERE c.due_at <= $1::timestamptz ORDER BY c.due_at LIMIT ${ROUND}`,
    [new Date(clock.now())],
  );
  const failures: unknown[] = [];
  for (const about of due)
    try {
      const chart = await drawn(about, read);
      await db.query(
        `UPDATE event_charts SET data = $3::jsonb, due_at = NULL
         WHERE site_id = $1::uuid AND event_id = $2::uuid AND due_at IS NOT NULL`,
        [about.siteId, about.eventId, JSON.stringify(chart)],
      );
    } catch (error) {
      // What cannot be drawn of one event holds up no other.
      failures.push(error);
      await db.query(
        'UPDATE event_charts SET due_at = $3::timestamptz WHERE site_id = $1::uuid AND event_id = $2::uuid',
        [about.siteId, about.eventId, new Date(clock.now() + RETRY_MS)],
      );
    }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${due.length} charts of events were not drawn`);
  return due.length;
}

async function drawn(about: About, read: Read): Promise<EventChart> {
  const { siteId, deviceId, interfaceId, firstSeen, details } = about;
  const kind = chartedKind(about.kind, details) ?? '';
  const step = chartStep(kind);
  const from = Math.floor(firstSeen.getTime() / 1000 / step - CHART_POINTS_BEFORE) * step;
  const to = from + CHART_POINTS * step;
  const { limit, sensorId } = details.after ?? {};
  const metrics = EVENT_CHARTS[kind] ?? [];
  const chart: EventChart = { from, to, step, limit: limitOf(kind, limit), series: [] };
  if (deviceId === null || metrics.length === 0) return chart;
  const query: MetricQuery = {
    ...{ deviceId: [deviceId], metrics: [...metrics], from, to, step, aggregate: 'avg' },
    ...(interfaceId !== null && { interfaceId: [interfaceId] }),
    ...(typeof sensorId === 'string' && { sensorId: [sensorId] }),
  };
  try {
    const { series } = await read(query, [siteId]);
    return { ...chart, series: series.map(({ metric, unit, values }) => ({ metric, unit, values })) };
  } catch (error) {
    // What it is about is no more.
    if (error instanceof Problem && error.code === 'not_found') return chart;
    throw error;
  }
}

/** Of errors the limit is a share of the packets, of traffic that stands still what is usual. */
const limitOf = (kind: string, limit: unknown): number | null =>
  kind !== 'interface.errors' && kind !== 'interface.no-traffic' && typeof limit === 'number' ? limit : null;
