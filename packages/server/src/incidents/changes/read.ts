/** Changes of the inventory out of the events that tell of them. */
import {
  CHANGE_KINDS,
  CHANGE_SPANS,
  type Change,
  type ChangeCountQuery,
  type ChangeCounts,
  type ChangeQuery,
  ENDPOINT_CHANGE_KINDS,
  type LikelyChange,
} from '@rollcall/shared/api/changes';
import {
  between,
  conditionsOf,
  type FilterOf,
  type Filters,
  inScope,
  oneOf,
  type Page,
  Parameters,
  pageOf,
  pageRows,
  type Scope,
  seconds,
  unix,
} from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { invalid, notFound } from '../../platform/problem.ts';
import { readLinkPorts, readLinks } from '../correlation/neighbours.ts';
import { endpointMessage } from './endpoint-message.ts';
import { CONFIGURED_TRAPS, LOOKED_BACK_MS, likelyChanges } from './likely.ts';

/** What is asked where `from` is absent. */
const USUAL_SECONDS = 86_400;
/** Devices around a case, and changes of them, that are looked at. */
const DEVICES = 500;
const CHANGES = 1_000;

/** As the index `events_changes` has it: a constant, so that the planner sees that they are the same. */
const IS_CHANGE = `e.kind IN (${CHANGE_KINDS.map((kind) => `'${kind}'`).join(', ')})`;

const OF_EVENTS = `SELECT e.site_id, e.id, e.timestamp, e.kind, e.device_id, NULL::uuid AS from_device_id, e.interface_id,
  NULL::text AS mac, e.message, e.details -> 'before' AS before, e.details -> 'after' AS after, e.collector_id
  FROM events e WHERE ${IS_CHANGE} AND `;
const OF_ENDPOINTS = `SELECT e.site_id, e.id, e.at AS timestamp, e.kind, e.device_id, e.from_device_id, e.interface_id,
  e.mac, ''::text AS message, e.before, e.after, e.collector_id FROM endpoint_changes e WHERE `;

/** What is asked for, out of those that have it; a condition over `e` holds in each. */
function sourceOf({ kind, endpoints }: Pick<ChangeQuery, 'kind' | 'endpoints'>, where = 'true'): string {
  const wanted = (kinds: readonly string[]) =>
    kind === undefined || kind.some((each) => kinds.includes(each));
  const withEndpoints = endpoints === undefined ? kind !== undefined : endpoints === 1;
  const sources = [
    ...(wanted(CHANGE_KINDS) ? [OF_EVENTS + where] : []),
    ...(withEndpoints && wanted(ENDPOINT_CHANGE_KINDS) ? [OF_ENDPOINTS + where] : []),
  ];
  return `(${sources.length === 0 ? `${OF_EVENTS}false` : sources.join(' UNION ALL ')}) e`;
}

const COLUMNS = `e.id, e.timestamp AS at, e.kind, e.site_id AS "siteId", s.name AS site, e.device_id AS "deviceId",
  d.name AS device, e.interface_id AS "interfaceId", i.name AS interface, e.mac AS endpoint, e.message,
  e.before, e.after, c.name AS collector`;
const NAMES = `JOIN sites s ON s.id = e.site_id
  LEFT JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
  LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.id = e.interface_id
  LEFT JOIN collectors c ON c.site_id = e.site_id AND c.id = e.collector_id`;

type Row = Omit<Change, 'at'> & { at: Date };
const toChange = ({ at, before, after, ...row }: Row): Change => ({
  ...row,
  ...(row.endpoint !== null && { message: endpointMessage(row.endpoint, row.kind, before, after) }),
  at: seconds(at),
  before: before ?? null,
  after: after ?? null,
});

const FILTERS: Filters<FilterOf<ChangeQuery>, null> = {
  device: (p, id) => {
    const device = p.add(id);
    return `(e.device_id = ${device}::uuid OR e.from_device_id = ${device}::uuid)`;
  },
  kind: (p, kinds) => oneOf(p, 'e.kind', 'text', kinds),
  // By what is read at all: `sourceOf`.
  endpoints: () => null,
  ...between('e.timestamp'),
};

/** Seconds that spans of a time line have; of a longer time a multiple of the last. */
const STEPS = [60, 300, 900, 3600, 14_400, 28_800, 86_400, 604_800];

/** Of a time line with at most `CHANGE_SPANS` full spans. */
export function stepOf(seconds: number): number {
  const [last = 1] = STEPS.slice(-1);
  const fits = STEPS.find((step) => seconds / step <= CHANGE_SPANS);
  return fits ?? last * Math.ceil(seconds / (last * CHANGE_SPANS));
}

/** @throws Problem `invalid_request` for `from` after `to` */
function timeOf(query: ChangeCountQuery, now: number): { from: number; to: number } {
  const to = query.to ?? Math.floor(now / 1000);
  const from = query.from ?? to - USUAL_SECONDS;
  if (from > to) throw invalid('from', 'must not be after to');
  return { from, to };
}

/** How many there were of each kind, span by span. */
export async function countChanges(
  sql: Sql,
  query: ChangeCountQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<ChangeCounts> {
  const { from, to } = timeOf(query, now);
  const step = stepOf(to - from);
  const p = new Parameters();
  const where = [inScope(p, 'e.site_id', scope), ...conditionsOf(p, FILTERS, { ...query, from, to }, null)];
  const counts = await sql.query<ChangeCounts['counts'][number]>(
    `SELECT ${unix(`date_bin(interval '${step} seconds', e.timestamp, '1970-01-01 00:00:00+00')`)} AS at, e.kind, count(*)::int AS count
     FROM ${sourceOf(query)} WHERE ${where.join(' AND ')} GROUP BY 1, 2 ORDER BY 1, 2`,
    p.values,
  );
  return { from, to, step, counts };
}

/** One page of changes, newest first. */
export async function listChanges(
  sql: Sql,
  query: ChangeQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<Page<Change>> {
  const { from, to } = timeOf(query, now);
  const p = new Parameters();
  const asked = conditionsOf(p, FILTERS, { ...query, from, to }, null);
  const where = [inScope(p, 'e.site_id', scope), ...asked].join(' AND ');
  const order = 'e.timestamp DESC, e.id DESC';
  // The keys of the page are found first, and each row by its key in its own table: joined to both tables at once, the
  // planner would read the whole of them.
  const keys = pageRows('e.site_id, e.id', sourceOf(query), { where, order }, query);
  const { data, totalCount }: Page<Row> = await pageOf(
    sql,
    `WITH total AS MATERIALIZED (SELECT count(*) AS n FROM ${sourceOf(query)} WHERE ${where}), page AS MATERIALIZED (${keys})
     SELECT total.n AS total, e.id IS NOT NULL AS listed, ${COLUMNS}
     FROM total LEFT JOIN (page CROSS JOIN LATERAL ${sourceOf(query, 'e.site_id = page.site_id AND e.id = page.id')} ${NAMES}) ON true
     ORDER BY ${order}`,
    p,
  );
  return { data: data.map(toChange), totalCount };
}

interface CaseRow extends Record<string, unknown> {
  siteId: string;
  rootDeviceId: string | null;
  begunAt: Date;
  devices: string[];
  interfaces: string[];
}

/** What may have led to a case. @throws Problem `not_found` */
export async function changesBefore(sql: Sql, caseId: string, scope: Scope): Promise<LikelyChange[]> {
  const p = new Parameters();
  const [found] = await sql.query<CaseRow>(
    `SELECT c.site_id AS "siteId", c.root_device_id AS "rootDeviceId", coalesce(c.begun_at, c.created_at) AS "begunAt",
       ARRAY(SELECT DISTINCT e.device_id FROM events e WHERE e.case_id = c.id AND e.device_id IS NOT NULL LIMIT ${DEVICES}) AS devices,
       ARRAY(SELECT DISTINCT e.interface_id FROM events e WHERE e.case_id = c.id AND e.interface_id IS NOT NULL LIMIT ${DEVICES}) AS interfaces
     FROM cases c WHERE c.id = ${p.add(caseId)}::uuid AND ${inScope(p, 'c.site_id', scope)}`,
    p.values,
  );
  if (!found) throw notFound('case');
  const { siteId, begunAt } = found;
  const devices = new Set(found.rootDeviceId ? [found.rootDeviceId] : found.devices);
  const links = await readLinks(sql, siteId, [...devices]);
  const around = [...devices].flatMap((id) => [...(links.get(id) ?? [])]);
  const near = [...new Set([...devices, ...around])].slice(0, DEVICES);
  const rows = [
    ...(await readNear(sql, { siteId, caseId }, near, begunAt)),
    ...(await readAtPorts(sql, siteId, found.interfaces, begunAt)),
  ];
  const subject = {
    ...{ begunAt: begunAt.getTime(), devices, interfaces: new Set(found.interfaces) },
    links: await readLinkPorts(sql, siteId, [...devices]),
  };
  return likelyChanges(rows, subject).map(([{ at, trapOid: _t, fields: _f, ...row }, verdict]) => ({
    ...toChange({ ...row, at: new Date(at) }),
    ...verdict,
  }));
}

/** Where it came last is later than asked, and an earlier occurrence of it stands for itself. */
const STANDS_APART = `EXISTS (SELECT 1 FROM events o WHERE o.site_id = e.site_id AND o.dedup_key = e.dedup_key
  AND o.close_reason = 'noted' AND o.id <> e.id AND o.timestamp BETWEEN e.first_seen AND $4::timestamptz)`;

/**
 * Changes of some devices within the time that is looked at, without those that the case is made of; of one that came
 * again, when it came last in it.
 */
async function readNear(
  sql: Sql,
  { siteId, caseId }: { siteId: string; caseId: string },
  devices: readonly string[],
  until: Date,
) {
  if (devices.length === 0) return [];
  const rows = await sql.query<Row & { trapOid: string | null; firstSeen: Date } & Record<string, unknown>>(
    `SELECT ${COLUMNS}, e.first_seen AS "firstSeen", e.after ->> 'trapOid' AS "trapOid"
     FROM (SELECT e.*, NULL::text AS mac, e.details -> 'before' AS before, e.details -> 'after' AS after FROM events e) e ${NAMES}
     WHERE e.site_id = $1::uuid AND e.device_id = ANY($2::uuid[])
       AND e.timestamp >= $3::timestamptz AND e.first_seen <= $4::timestamptz AND e.case_id IS DISTINCT FROM $6::uuid
       AND NOT (e.timestamp > $4::timestamptz AND ${STANDS_APART})
       AND (${IS_CHANGE} OR e.kind = 'trap' AND e.after ->> 'trapOid' = ANY($5::text[]))
     ORDER BY e.timestamp DESC, e.id DESC LIMIT ${CHANGES}`,
    [siteId, devices, new Date(until.getTime() - LOOKED_BACK_MS), until, CONFIGURED_TRAPS, caseId],
  );
  return rows.map(({ firstSeen, ...row }) => ({
    ...row,
    at: (row.at <= until ? row.at : firstSeen).getTime(),
    fields: Object.keys((row.after ?? {}) as object),
  }));
}

/** Endpoints that came to the ports that a case is about: elsewhere they are too many to tell anything. */
async function readAtPorts(sql: Sql, siteId: string, ports: readonly string[], until: Date) {
  if (ports.length === 0) return [];
  const rows = await sql.query<Row & Record<string, unknown>>(
    `SELECT ${COLUMNS} FROM (${OF_ENDPOINTS}true) e ${NAMES}
     WHERE e.site_id = $1::uuid AND e.timestamp BETWEEN $2::timestamptz AND $3::timestamptz AND e.interface_id = ANY($4::uuid[])
     ORDER BY e.timestamp DESC, e.id DESC LIMIT ${CHANGES}`,
    [siteId, new Date(until.getTime() - LOOKED_BACK_MS), until, ports],
  );
  return rows.map((row) => ({ ...row, at: row.at.getTime(), trapOid: null, fields: [] }));
}
