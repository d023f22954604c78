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
  unix,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { FILTERS, meant } from './filter.ts';
import { distinctPorts, readIdentities, readOwners } from './identity.ts';
import { isLocal, type Makers } from './makers.ts';
import { place } from './place.ts';
import { type NamedPort, namedPort, portKey, readBridges, readTraits, towardKey } from './ports.ts';

type Sort = (typeof ENDPOINT_SORTS)[number];
const ORDERS: Record<Sort, readonly string[]> = {
  mac: ['m.mac', 'm.site_id'],
  firstSeen: ['m.first_seen', 'm.mac', 'm.site_id'],
  lastSeen: ['m.gone_at', 'm.mac', 'm.site_id'],
};

/** Intervals of one address that are looked at. */
const INTERVALS = 200;
/** Endpoints among which a search chooses. */
const CANDIDATES = 200;

interface Row {
  siteId: string;
  site: string;
  mac: string;
  firstSeen: Date;
  goneAt: Date | null;
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

/** Some endpoints that a text means, those that are there first. Not by makers: of one there are many. */
/** Fewest characters of a name that are searched for: an index of trigrams serves no fewer. */
const NAME_LEAST = 3;

/** Those that call themselves so by LLDP at their port. Of devices of ours the search finds the device. */
const named = (p: Parameters, text: string, scope: Scope): string =>
  `(SELECT m.site_id, m.mac FROM (SELECT b.site_id, b.chassis_id, b.port_id FROM neighbours b
      WHERE b.sys_name <> '' AND b.remote_device_id IS NULL AND lower(b.sys_name) LIKE ${p.add(anywhere(text.toLowerCase()))}::text
        AND ${inScope(p, 'b.site_id', scope)} LIMIT ${CANDIDATES}) b
    JOIN endpoint_macs m ON m.site_id = b.site_id AND m.mac = ANY(ARRAY[substr(b.chassis_id, length('macAddress:') + 1), b.port_id])
    LIMIT ${CANDIDATES})`;

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
  const learnt = await readLearnt(sql, rows, at);
  const owners = await readOwners(sql, rows);
  const toward = learnt
    .filter(({ address }) => address === '')
    .map((each) => ({ ...each, owner: owners[each.n]?.deviceId ?? null }));
  const ways = [...new Map(toward.map((port) => [towardKey(port), port])).values()];
  const bridges = await readBridges(sql, ways, 1);
  const traits = await readTraits(sql, distinctPorts(ways.filter((way) => !bridges.has(towardKey(way)))));
  const of = new Map<number, Learnt[]>();
  for (const each of learnt) of.set(each.n, [...(of.get(each.n) ?? []), each]);
  const known = rows.map((row, n) => {
    const all = of.get(n) ?? [];
    const owner = owners[n] ?? null;
    const key = (port: NamedPort) => towardKey({ ...port, owner: owner?.deviceId ?? null });
    const ways = distinctPorts(all.filter(({ address }) => address === '')).map((port) => ({
      ...{ ...port, bridges: bridges.get(key(port)) ?? [], others: 0, ...traits.get(portKey(port)) },
    }));
    const { verdict, ports } = place(ways, at ?? now);
    const addresses = [...new Set(all.flatMap(({ address }) => address || []))].sort();
    const vlans = [...new Set(all.flatMap(({ vlan }) => vlan || []))].sort((a, b) => a - b);
    return { ...row, owner, verdict, ports: ports.map(namedPort), addresses, vlans };
  });
  const identities = await readIdentities(sql, known);
  return known.map(({ goneAt, firstSeen, ...each }, n) => ({
    ...each,
    maker: makers.of(each.mac),
    locallyAdministered: isLocal(each.mac) ? 1 : 0,
    owner: identities[n]?.owner ?? null,
    name: identities[n]?.name ?? null,
    firstSeen: seconds(firstSeen),
    lastSeen: seconds(goneAt),
  }));
}

interface Learnt extends NamedPort {
  /** Which row it is of. */
  n: number;
  siteId: string;
  vlan: number;
  address: string;
  since: number;
}

/** What tables have of each address: at a time, else now, else before it was gone. */
function readLearnt(sql: Sql, rows: readonly Row[], at: number | undefined): Promise<Learnt[]> {
  if (rows.length === 0) return Promise.resolve([]);
  const moment = ({ goneAt }: Row) => (goneAt === null ? null : new Date(goneAt.getTime() - 1).toISOString());
  const asked = at === undefined ? null : new Date(at * 1000).toISOString();
  return sql.query<Learnt & Record<string, unknown>>(
    `SELECT k.n::int - 1 AS n, e.site_id AS "siteId", e.device_id AS "deviceId", d.name AS device, e.if_index AS "ifIndex",
       i.id AS "interfaceId", i.name AS port, e.vlan, e.address, ${unix('e.since')} AS since
     FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) WITH ORDINALITY AS k(site, mac, at, n)
     CROSS JOIN LATERAL (SELECT * FROM endpoints e WHERE e.site_id = k.site AND e.mac = k.mac
       AND CASE WHEN k.at IS NULL THEN e.until IS NULL
         ELSE e.since <= k.at AND (e.until IS NULL OR e.until > k.at) END LIMIT ${INTERVALS}) e
     JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
     LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.device_id = e.device_id AND i.if_index = e.if_index
     ORDER BY k.n, d.name, e.if_index, e.since DESC, e.vlan, e.address`,
    [rows.map(({ siteId }) => siteId), rows.map(({ mac }) => mac), rows.map((row) => asked ?? moment(row))],
  );
}
