/** Ports that had no link for long, over all devices: what somebody looks for who has a cable in hand. */
import {
  type FREE_PORT_SORTS,
  type FreePort,
  type FreePortQuery,
  READ_DAYS,
} from '@rollcall/shared/api/free-ports';
import {
  containing,
  type FilterOf,
  type Filters,
  inScope,
  oneOf,
  orderOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { HAS_SOCKET, NO_LINK, NOT_UP_SINCE, PORT_TYPES, statusName } from './interfaces.ts';

const DAY_MS = 86_400_000;

/** The condition of the index `interfaces_free`, and what it cannot tell. */
const IS_FREE = `${NO_LINK} AND i.type IN (${PORT_TYPES}) AND i.gone_at IS NULL AND ${HAS_SOCKET}`;

/**
 * When the state of a port was read last. A scan that found the same writes the time of its table alone, and a status report
 * that its SNMP answered stands for every port of which it tells nothing new: not where the table was cut, nor where no
 * credential opens the device any more (then reports tell of pings).
 */
const READ_AT = `greatest(i.last_seen, CASE WHEN f.complete THEN greatest(f.seen_at,
  CASE WHEN d.monitor AND d.watched_snmp = 'ok' AND d.credential_id IS NOT NULL THEN v.watched_at END) END)`;

const FROM = `interfaces i JOIN devices d ON d.site_id = i.site_id AND d.id = i.device_id
  JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
  LEFT JOIN device_facts f ON f.site_id = d.site_id AND f.device_id = d.id AND f."group" = 'interfaces'`;

const COLUMNS = `i.id, i.site_id AS "siteId", s.name AS site, d.id AS "deviceId", d.name AS device, d.class, i.if_index AS "ifIndex",
  i.name AS port, i.alias, nullif(i.speed_bps, 0) AS "speedBps", i.admin_status AS "adminStatus", i.oper_status AS "operStatus",
  ${NOT_UP_SINCE} AS "unusedSince", ${READ_AT} AS "readAt",
  CASE WHEN i.last_up_at IS NOT NULL THEN 'wentDown' WHEN i.last_change < i.first_seen THEN 'unchanged' ELSE 'neverUp' END AS reason`;

/** By a device as people count, then its ports in the order that it has them. */
const PORT = ['d.sort_name', 'i.device_id', 'i.if_index'] as const;
const ORDERS: Record<(typeof FREE_PORT_SORTS)[number], readonly string[]> = {
  device: PORT,
  unusedSince: [NOT_UP_SINCE, ...PORT],
  // Many devices tell 0 or nothing for a port without a link; the fastest comes first, downwards.
  speedBps: ['coalesce(i.speed_bps, 0)', ...PORT],
};

const FILTERS: Filters<FilterOf<FreePortQuery>, { now: number }> = {
  unusedDays: (p, days, { now }) => `${NOT_UP_SINCE} < ${p.add(new Date(now - days * DAY_MS))}::timestamptz`,
  class: (p, classes) => oneOf(p, 'd.class', 'text', classes),
  search: (p, text) =>
    text.trim() === '' ? null : containing(p, text.trim(), ['d.name', 'i.name', 'i.alias']),
};

interface Row extends Omit<FreePort, 'adminStatus' | 'operStatus' | 'unusedSince' | 'readAt'> {
  adminStatus: number | null;
  operStatus: number | null;
  unusedSince: Date;
  readAt: Date;
}

/** One page of free ports, and how many there are on all pages. */
export async function listFreePorts(
  sql: Sql,
  query: FreePortQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<Page<FreePort>> {
  const parameters = new Parameters();
  const read = parameters.add(new Date(now - READ_DAYS * DAY_MS));
  const { data, totalCount }: Page<Row> = await readPage(sql, {
    columns: COLUMNS,
    from: FROM,
    key: ['i.site_id', 'i.id'],
    joins: 'JOIN sites s ON s.id = i.site_id',
    where: `${IS_FREE} AND d.gone_at IS NULL AND ${READ_AT} > ${read}::timestamptz AND ${inScope(parameters, 'i.site_id', scope)}`,
    parameters,
    filters: FILTERS,
    context: { now },
    query,
    order: orderOf(ORDERS, query.sort ?? 'device'),
  });
  return {
    data: data.map((row) => ({
      ...row,
      adminStatus: statusName(row.adminStatus),
      operStatus: statusName(row.operStatus),
      unusedSince: seconds(row.unusedSince),
      readAt: seconds(row.readAt),
    })),
    totalCount,
  };
}
