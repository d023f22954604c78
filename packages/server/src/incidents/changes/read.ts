/** Changes of the inventory out of the events that tell of them. */
import { CHANGE_KINDS, type Change, type ChangeQuery, type LikelyChange } from '@rollcall/shared/api/changes';
import {
  between,
  type FilterOf,
  type Filters,
  inScope,
  oneOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
} from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { invalid, notFound } from '../../platform/problem.ts';
import { readLinks } from '../correlation/neighbours.ts';
import { CONFIGURED_TRAPS, LOOKED_BACK_MS, likelyChanges } from './likely.ts';

/** What is asked where `from` is absent. */
const USUAL_SECONDS = 86_400;
/** Devices around a case, and changes of them, that are looked at. */
const DEVICES = 500;
const CHANGES = 1_000;

/** As the index `events_changes` has it: a constant, so that the planner sees that they are the same. */
const IS_CHANGE = `e.kind IN (${CHANGE_KINDS.map((kind) => `'${kind}'`).join(', ')})`;

const COLUMNS = `e.id, e.timestamp AS at, e.kind, e.site_id AS "siteId", s.name AS site, e.device_id AS "deviceId",
  d.name AS device, e.interface_id AS "interfaceId", i.name AS interface, e.message,
  e.details -> 'before' AS before, e.details -> 'after' AS after, c.name AS collector`;
const NAMES = `JOIN sites s ON s.id = e.site_id
  LEFT JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
  LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.id = e.interface_id
  LEFT JOIN collectors c ON c.site_id = e.site_id AND c.id = e.collector_id`;

type Row = Omit<Change, 'at'> & { at: Date };
const toChange = ({ at, before, after, ...row }: Row): Change => ({
  ...row,
  at: seconds(at),
  before: before ?? null,
  after: after ?? null,
});

const FILTERS: Filters<FilterOf<ChangeQuery>, null> = {
  device: (p, id) => `e.device_id = ${p.add(id)}::uuid`,
  kind: (p, kinds) => oneOf(p, 'e.kind', 'text', kinds),
  ...between('e.timestamp'),
};

/** One page of changes, newest first. @throws Problem `invalid_request` for `from` after `to` */
export async function listChanges(
  sql: Sql,
  query: ChangeQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<Page<Change>> {
  const to = query.to ?? Math.floor(now / 1000);
  const from = query.from ?? to - USUAL_SECONDS;
  if (from > to) throw invalid('from', 'must not be after to');
  const parameters = new Parameters();
  const { data, totalCount }: Page<Row> = await readPage(sql, {
    columns: COLUMNS,
    from: 'events e',
    key: ['e.site_id', 'e.id'],
    joins: NAMES,
    where: `${IS_CHANGE} AND ${inScope(parameters, 'e.site_id', scope)}`,
    parameters,
    filters: FILTERS,
    query: { ...query, from, to },
    order: 'e.timestamp DESC, e.id DESC',
  });
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
  const rows = await readNear(
    sql,
    { siteId, caseId },
    [...new Set([...devices, ...around])].slice(0, DEVICES),
    begunAt,
  );
  const subject = { begunAt: begunAt.getTime(), devices, interfaces: new Set(found.interfaces) };
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
    `SELECT ${COLUMNS}, e.first_seen AS "firstSeen", e.details -> 'after' ->> 'trapOid' AS "trapOid"
     FROM events e ${NAMES}
     WHERE e.site_id = $1::uuid AND e.device_id = ANY($2::uuid[])
       AND e.timestamp >= $3::timestamptz AND e.first_seen <= $4::timestamptz AND e.case_id IS DISTINCT FROM $6::uuid
       AND NOT (e.timestamp > $4::timestamptz AND ${STANDS_APART})
       AND (${IS_CHANGE} OR e.kind = 'trap' AND e.details -> 'after' ->> 'trapOid' = ANY($5::text[]))
     ORDER BY e.timestamp DESC, e.id DESC LIMIT ${CHANGES}`,
    [siteId, devices, new Date(until.getTime() - LOOKED_BACK_MS), until, CONFIGURED_TRAPS, caseId],
  );
  return rows.map(({ firstSeen, ...row }) => ({
    ...row,
    at: (row.at <= until ? row.at : firstSeen).getTime(),
    fields: Object.keys((row.after ?? {}) as object),
  }));
}
