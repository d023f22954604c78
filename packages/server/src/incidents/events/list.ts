/** The event list and one event, each as one statement. */
import type { Event, EventQuery } from '@rollcall/shared/api/incidents';
import { ACKNOWLEDGED_UNTIL, CLOSE_REASONS } from '@rollcall/shared/api/incidents';
import { canonicalAddress } from '@rollcall/shared/ip';
import { EventStatus, eventSource } from '@rollcall/shared/model';
import { isUuid } from '@rollcall/shared/uuid';
import { z } from 'zod';
import {
  conditionsOf,
  type FilterOf,
  type Filters,
  inScope,
  offsetOf,
  oneOf,
  type Page,
  Parameters,
  pageOf,
  pageRows,
  type Scope,
  seconds,
} from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { invalid } from '../../platform/problem.ts';

export interface EventRow {
  id: string;
  siteId: string;
  deviceId: string | null;
  device: string | null;
  interfaceId: string | null;
  collectorId: string | null;
  caseId: string | null;
  kind: string;
  source: string;
  severity: number;
  status: number;
  message: string;
  details: Record<string, unknown>;
  dedupKey: string;
  count: number;
  firstSeen: Date;
  timestamp: Date;
  acknowledgedAt: Date | null;
  acknowledgedBy: string | null;
  acknowledgedUntil: string | null;
  closedAt: Date | null;
  closedBy: string | null;
  closeReason: string | null;
  maintenanceUntil: Date | null;
}

/** The columns of an event, over `events e` with its device `d`. */
export const EVENT_COLUMNS = `e.id, e.site_id AS "siteId", e.device_id AS "deviceId", d.name AS device,
  e.interface_id AS "interfaceId", e.collector_id AS "collectorId", e.case_id AS "caseId", e.kind, e.source,
  e.severity, e.status, e.message, e.details, e.dedup_key AS "dedupKey", e.count, e.first_seen AS "firstSeen",
  e.timestamp, e.acknowledged_at AS "acknowledgedAt", e.acknowledged_by AS "acknowledgedBy",
  e.acknowledged_until AS "acknowledgedUntil",
  e.closed_at AS "closedAt", e.closed_by AS "closedBy", e.close_reason AS "closeReason",
  CASE WHEN e.status < ${EventStatus.closed} AND e.case_id IS NULL THEN e.maintenance_until END AS "maintenanceUntil"`;
export const EVENT_DEVICE = 'LEFT JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id';

const closeReason = z.enum(CLOSE_REASONS).nullable().catch('cleared');
const acknowledgedUntil = z.enum(ACKNOWLEDGED_UNTIL).nullable().catch(null);

export const toEvent = (row: EventRow): Event => ({
  ...row,
  source: eventSource.parse(row.source),
  closeReason: closeReason.parse(row.closeReason),
  firstSeen: seconds(row.firstSeen),
  timestamp: seconds(row.timestamp),
  acknowledgedAt: seconds(row.acknowledgedAt),
  acknowledgedUntil: acknowledgedUntil.parse(row.acknowledgedUntil),
  closedAt: seconds(row.closedAt),
  maintenanceUntil: seconds(row.maintenanceUntil),
});

/** One event; null where it does not exist or is not in scope. */
export async function readEvent(sql: Sql, id: string, scope: Scope): Promise<Event | null> {
  const p = new Parameters();
  const [row] = await sql.query<EventRow>(
    `SELECT ${EVENT_COLUMNS} FROM events e ${EVENT_DEVICE}
     WHERE e.id = ${p.add(id)}::uuid AND ${inScope(p, 'e.site_id', scope)}`,
    p.values,
    'kept',
  );
  return row ? toEvent(row) : null;
}

/** One column of an order. */
interface OrderBy {
  by: string;
  descending: boolean;
}
const orderSql = (order: readonly OrderBy[]): string =>
  order.map(({ by, descending }) => (descending ? `${by} DESC` : by)).join(', ');

/** Orders: time is newest first unless asked otherwise; severity groups are newest first within. */
function orderOf(sort: EventQuery['sort']): OrderBy[] {
  const time = (descending: boolean): OrderBy[] => [
    { by: 'e.timestamp', descending },
    { by: 'e.id', descending },
  ];
  switch (sort) {
    case 'severity':
      return [{ by: 'e.severity', descending: false }, ...time(true)];
    case '-severity':
      return [{ by: 'e.severity', descending: true }, ...time(true)];
    case 'timestamp':
      return time(false);
    default:
      return time(true);
  }
}

/** One page of events and how many there are on all pages. @throws Problem `invalid_request` for `from` after `to`. */
export async function listEvents(sql: Sql, query: EventQuery, scope: Scope): Promise<Page<Event>> {
  if (query.from !== undefined && query.to !== undefined && query.from > query.to)
    throw invalid('from', 'must not be after to');
  const p = new Parameters();
  const order = orderOf(query.sort);
  const { found, page } = isTallied(query)
    ? {
        found: byTally(p, query, scope, order),
        page: 'keys k JOIN events e ON e.site_id = k.site_id AND e.id = k.id',
      }
    : // Its rows are whole: finding ten of ten million once more by their ids took as long as all else.
      { found: byCount(p, query, scope, order), page: 'rows e' };
  const { data, totalCount } = await pageOf<EventRow>(
    sql,
    `WITH ${found}
     SELECT total.n AS total, e.id IS NOT NULL AS listed, ${EVENT_COLUMNS}
     FROM total LEFT JOIN (${page} ${EVENT_DEVICE}) ON true
     ORDER BY ${orderSql(order)}`,
    p,
    query.page === 1 ? 'kept' : undefined,
  );
  return { data: data.map(toEvent), totalCount };
}

type EventFilter = FilterOf<EventQuery>;

/** What the filters mean, over `events e` or, as far as it has their columns, over `event_tally t`. */
const FILTERS: Filters<EventFilter, { table: 'e' | 't'; scope: Scope }> = {
  Status: (p, codes, { table }) => oneOf(p, `${table}.status`, 'int', codes),
  Severity: (p, ceiling, { table }) => `${table}.severity <= ${p.add(ceiling)}::int`,
  Source: (p, source, { table }) => `${table}.source = ${p.add(source)}::text`,
  Device: (p, device, { scope }) => ofDevices(p, device, scope),
  from: (p, from) => `e.timestamp >= ${stamp(p, from * 1000)}`,
  to: (p, to) => `e.timestamp < ${stamp(p, (to + 1) * 1000)}`,
};

/** The filters that the tally has columns for, and the span, which its buckets are cut by. Every other one is counted. */
const TALLIED: ReadonlySet<keyof EventFilter> = new Set(['Status', 'Severity', 'Source', 'from', 'to']);
const isTallied = (query: EventFilter): boolean =>
  (Object.keys(FILTERS) as (keyof EventFilter)[]).every(
    (key) => query[key] === undefined || TALLIED.has(key),
  );

const plain = (p: Parameters, table: 'e' | 't', { Status, Severity, Source }: EventFilter, scope: Scope) =>
  conditionsOf(p, FILTERS, { Status, Severity, Source }, { table, scope });

/** The milliseconds that `from` and `to` enclose, the end excluded: `to` is a whole second. */
const spanOf = ({ from, to }: Pick<EventQuery, 'from' | 'to'>) => ({
  first: from === undefined ? undefined : from * 1000,
  end: to === undefined ? undefined : (to + 1) * 1000,
});
const stamp = (p: Parameters, ms: number): string => `${p.add(new Date(ms).toISOString())}::timestamptz`;

/**
 * Pages found by adding up the tally: whole buckets (hours of all sites, or days of one) come from the tally, the two
 * ends of a span are counted. What comes before a page is never walked over, only added up, and a page reads no
 * buckets but its own. In the order of severities these are added up first, and only those that the page lies in are
 * walked by bucket.
 */
function byTally(p: Parameters, query: EventQuery, scope: Scope, order: readonly OrderBy[]): string {
  const bySeverity = order[0]?.by === 'e.severity';
  const offset = offsetOf(query);
  const reach = offset + query.pageSize;
  const { cells, levels, where } = cellsOf(p, query, scope, bySeverity);
  const direction = (by: string) => (order.find((each) => each.by === by)?.descending ? 'DESC' : 'ASC');
  const walk = `sum(n) OVER (ORDER BY first ${direction('e.timestamp')})`;
  const found = bySeverity
    ? `levels AS MATERIALIZED (SELECT severity, sum(n)::int8 AS n FROM (${levels}) AS part GROUP BY severity HAVING sum(n) > 0),
      total AS MATERIALIZED (SELECT coalesce(sum(n), 0)::int8 AS n FROM levels),
      level AS MATERIALIZED (SELECT * FROM (
        SELECT severity, n, (sum(n) OVER (ORDER BY severity ${direction('e.severity')}))::int8 - n AS before FROM levels) l
        WHERE before < ${reach} AND before + n > ${offset}),
      cells AS MATERIALIZED (${cells}),
      walk AS (SELECT c.*, level.before + (sum(c.n) OVER (
          PARTITION BY severity ORDER BY c.first ${direction('e.timestamp')}))::int8 - c.n AS before
        FROM cells c JOIN level USING (severity))`
    : `cells AS MATERIALIZED (${cells}),
      total AS MATERIALIZED (SELECT coalesce(sum(n), 0)::int8 AS n FROM cells),
      walk AS (SELECT cells.*, (${walk})::int8 - n AS before FROM cells)`;
  return `${found},
    own AS MATERIALIZED (SELECT * FROM walk WHERE before < ${reach} AND before + n > ${offset}),
    keys AS MATERIALIZED (
      SELECT e.site_id, e.id FROM own CROSS JOIN LATERAL (
        SELECT e.site_id, e.id, e.timestamp, e.severity FROM events e
        WHERE e.timestamp >= own.first AND e.timestamp < own."end" AND ${where}
          ${bySeverity ? 'AND e.severity = own.severity' : ''}
        ORDER BY ${orderSql(order.filter(({ by }) => by !== 'e.severity'))} LIMIT ${reach} - own.before) e
      ORDER BY ${orderSql(order)} LIMIT ${query.pageSize}
      OFFSET greatest(0, ${offset} - coalesce((SELECT min(before) FROM own), 0)))`;
}

/**
 * How many events there are per bucket, as a query of `first`, `end` and `n`; in the order of severities also of `severity`,
 * of those in `level` alone, and `levels` is how many there are of each, in parts. `where` is the condition over `events e`,
 * without its time.
 */
function cellsOf(p: Parameters, query: EventQuery, scope: Scope, bySeverity: boolean) {
  const width = scope === null ? 3_600_000 : 86_400_000;
  const { whole, ends } = cut(spanOf(query), width);
  const severity = bySeverity ? ', severity' : '';
  // Without a whole bucket nothing of the tally is asked, and a parameter that nothing uses is an error.
  const tallied =
    whole &&
    [
      scope === null ? 't.site_id IS NULL' : inScope(p, 't.site_id', scope),
      ...plain(p, 't', query, scope),
      ...(whole.first === undefined ? [] : [`t.bucket >= ${stamp(p, whole.first)}`]),
      ...(whole.end === undefined ? [] : [`t.bucket < ${stamp(p, whole.end)}`]),
    ].join(' AND ');
  const where = [inScope(p, 'e.site_id', scope), ...plain(p, 'e', query, scope)].join(' AND ');
  const ofLevel = bySeverity ? ' AND severity = ANY(ARRAY(SELECT severity FROM level))' : '';
  const cells: string[] = [];
  const levels: string[] = [];
  if (tallied !== null) {
    cells.push(
      `SELECT t.bucket AS first, t.bucket + interval '${width / 1000} seconds' AS "end"${severity}, sum(t.n)::int8 AS n
       FROM event_tally t WHERE ${tallied}${ofLevel} GROUP BY t.bucket${severity} HAVING sum(t.n) > 0`,
    );
    levels.push(`SELECT severity, sum(t.n)::int8 AS n FROM event_tally t WHERE ${tallied} GROUP BY severity`);
  }
  for (const span of ends) {
    const [first, end] = [stamp(p, span.first), stamp(p, span.end)];
    const within = `FROM events e WHERE e.timestamp >= ${first} AND e.timestamp < ${end} AND ${where}`;
    cells.push(`SELECT ${first} AS first, ${end} AS "end"${severity}, count(*) AS n ${within}${ofLevel}
       ${bySeverity ? 'GROUP BY severity' : ''} HAVING count(*) > 0`);
    levels.push(`SELECT severity, count(*) AS n ${within} GROUP BY severity`);
  }
  return { cells: cells.join(' UNION ALL '), levels: levels.join(' UNION ALL '), where };
}

interface Span {
  first: number;
  end: number;
}

/** Cuts a span at bucket borders: whole buckets (null: none), and the ends that are less than one. Pure. */
export function cut(
  { first, end }: { first?: number | undefined; end?: number | undefined },
  width: number,
): { whole: Partial<Span> | null; ends: Span[] } {
  const up = first === undefined ? undefined : Math.ceil(first / width) * width;
  const down = end === undefined ? undefined : Math.floor(end / width) * width;
  // Both ends within one bucket.
  if (first !== undefined && end !== undefined && up !== undefined && down !== undefined && up > down)
    return { whole: null, ends: first < end ? [{ first, end }] : [] };
  const ends: Span[] = [];
  if (first !== undefined && up !== undefined && first < up) ends.push({ first, end: up });
  if (end !== undefined && down !== undefined && down < end) ends.push({ first: down, end });
  const whole = { ...(up !== undefined && { first: up }), ...(down !== undefined && { end: down }) };
  return { whole, ends };
}

/** Pages found by counting: of the events of one device, or of those that share the address or name. */
function byCount(p: Parameters, query: EventQuery, scope: Scope, order: readonly OrderBy[]): string {
  const asked = conditionsOf(p, FILTERS, query, { table: 'e', scope });
  const where = [inScope(p, 'e.site_id', scope), ...asked].join(' AND ');
  const rows = pageRows('e.*', 'events e', { where, order: orderSql(order) }, query);
  return `total AS MATERIALIZED (SELECT count(*) AS n FROM events e WHERE ${where}), rows AS MATERIALIZED (${rows})`;
}

/** That an event is of a device that a text names: by its id, by one of its addresses, or by its exact name. */
function ofDevices(p: Parameters, text: string, scope: Scope): string {
  // Events outlive their device, so an id need not be one that still exists.
  if (isUuid(text)) return `e.device_id = ${p.add(text)}::uuid`;
  const named = `SELECT d.id FROM devices d WHERE d.name = ${p.add(text)}::text AND ${inScope(p, 'd.site_id', scope)}`;
  const address = canonicalAddress(text);
  const found =
    address === null
      ? named
      : `${named} UNION SELECT a.device_id FROM device_addresses a
    WHERE a.address = ${p.add(address)}::inet AND ${inScope(p, 'a.site_id', scope)}`;
  // An array, so that the index on devices is what is walked, however many events there are beside.
  return `e.device_id = ANY((SELECT array_agg(id) FROM (${found}) AS named)::uuid[])`;
}
