/** The list of endpoints: hardware addresses, each with the port where it enters the network. */
import type { ENDPOINT_SORTS, Endpoint, EndpointQuery } from '@rollcall/shared/api/endpoints';
import {
  anywhere,
  inScope,
  orderOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { FILTERS, meant } from './filter.ts';
import { locate, type Wanted } from './locate.ts';
import { isLocal, type Makers } from './makers.ts';
import { namedPort } from './ports.ts';

type Sort = (typeof ENDPOINT_SORTS)[number];
const ORDERS: Record<Sort, readonly string[]> = {
  mac: ['m.mac', 'm.site_id'],
  firstSeen: ['m.first_seen', 'm.mac', 'm.site_id'],
  lastSeen: ['m.gone_at', 'm.mac', 'm.site_id'],
};

/** Endpoints among which a search chooses. */
const CANDIDATES = 200;

interface Row extends Wanted {
  site: string;
  firstSeen: Date;
}

/** One page of endpoints and how many there are on all pages. */
export async function listEndpoints(
  sql: Sql,
  query: EndpointQuery,
  { scope, makers, now }: { scope: Scope; makers: Makers; now: number },
): Promise<Page<Endpoint>> {
  const parameters = new Parameters();
  const { data, totalCount }: Page<Row> = await readPage(sql, {
    columns: COLUMNS,
    from: 'endpoint_macs m',
    key: ['m.site_id', 'm.mac'],
    joins: 'JOIN sites s ON s.id = m.site_id',
    where: inScope(parameters, 'm.site_id', scope),
    parameters,
    filters: FILTERS,
    context: { scope, makers, at: query.at, current: query.current },
    query,
    order: orderOf(ORDERS, query.sort ?? 'mac'),
  });
  return { data: await describe(sql, data, { at: query.at, makers, now }), totalCount };
}

const COLUMNS = `m.site_id AS "siteId", s.name AS site, m.mac, m.first_seen AS "firstSeen", m.gone_at AS "goneAt"`;

/** Fewest characters of a name that are searched for: an index of trigrams serves no fewer. */
const NAME_LEAST = 3;

/** Those that call themselves so by LLDP at their port. Of devices of ours the search finds the device. */
const named = (p: Parameters, text: string, scope: Scope): string =>
  `(SELECT m.site_id, m.mac FROM (SELECT b.site_id, b.chassis_id, b.port_id FROM neighbours b
      WHERE b.sys_name <> '' AND b.remote_device_id IS NULL AND lower(b.sys_name) LIKE ${p.add(anywhere(text.toLowerCase()))}::text
        AND ${inScope(p, 'b.site_id', scope)} LIMIT ${CANDIDATES}) b
    JOIN endpoint_macs m ON m.site_id = b.site_id AND m.mac = ANY(ARRAY[substr(b.chassis_id, length('macAddress:') + 1), b.port_id])
    LIMIT ${CANDIDATES})`;

/** Some endpoints that a text means, those that are there first. Not by makers: of one there are many. */
export async function findEndpoints(
  sql: Sql,
  text: string,
  { scope, most, makers, now }: { scope: Scope; most: number; makers: Makers; now: number },
): Promise<Endpoint[]> {
  const p = new Parameters();
  const found = meant(p, text, { scope, makers, at: undefined, current: undefined });
  // Each way by itself: joined by OR, no index would serve both.
  const keys = found.map(
    (condition) =>
      `(SELECT m.site_id, m.mac FROM endpoint_macs m
        WHERE ${inScope(p, 'm.site_id', scope)} AND ${condition} LIMIT ${CANDIDATES})`,
  );
  if (text.length >= NAME_LEAST) keys.push(named(p, text, scope));
  if (keys.length === 0) return [];
  const rows = await sql.query<Row & Record<string, unknown>>(
    `SELECT ${COLUMNS} FROM (${keys.join(' UNION ')}) k
     JOIN endpoint_macs m ON m.site_id = k.site_id AND m.mac = k.mac JOIN sites s ON s.id = m.site_id
     ORDER BY m.gone_at DESC NULLS FIRST, m.mac, m.site_id LIMIT ${most}`,
    p.values,
  );
  return describe(sql, rows, { at: undefined, makers, now });
}

async function describe(
  sql: Sql,
  rows: readonly Row[],
  { at, makers, now }: { at: number | undefined; makers: Makers; now: number },
): Promise<Endpoint[]> {
  const located = await locate(sql, rows, { at, now });
  return located.map(({ goneAt, firstSeen, ports, begun: _b, pair: _p, ...each }) => ({
    ...each,
    ports: ports.map(namedPort),
    maker: makers.of(each.mac),
    locallyAdministered: isLocal(each.mac) ? 1 : 0,
    firstSeen: seconds(firstSeen),
    lastSeen: seconds(goneAt),
  }));
}
