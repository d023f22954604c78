/** The list of endpoints: MAC addresses, each with the port where it enters the network. */
import {
  type ENDPOINT_SORTS,
  type Endpoint,
  type EndpointQuery,
  isAddressStart,
} from '@rollcall/shared/api/endpoints';
import { canonicalAddress } from '@rollcall/shared/ip';
import {
  inScope,
  orderOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import {
  addressStarts,
  calledSo,
  FILTERS,
  hasDigits,
  hasPart,
  macDigits,
  macStart,
  NAME_LEAST,
} from './filter.ts';
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
/** Intervals that they are taken from: of one endpoint there are several. */
const CANDIDATE_INTERVALS = 1000;
/** Digits of a whole MAC address. */
const WHOLE = 12;

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
    total: (where) => `SELECT coalesce(sum(m.n), 0)::int8 FROM endpoint_tally m WHERE ${where}`,
  });
  return { data: await describe(sql, data, { at: query.at, makers, now }), totalCount };
}

const COLUMNS = `m.site_id AS "siteId", s.name AS site, m.mac, m.first_seen AS "firstSeen", m.gone_at AS "goneAt"`;

/** Those that call themselves so by LLDP at their port, and those with an IP address of that name. */
const named = (p: Parameters, text: string, scope: Scope): string[] => [
  `(SELECT m.site_id, m.mac, 1 FROM (SELECT b.site_id, b.chassis_id, b.port_id FROM neighbours b
      WHERE ${calledSo(p, text, scope)} LIMIT ${CANDIDATES}) b
    JOIN endpoint_macs m ON m.site_id = b.site_id AND m.mac = ANY(ARRAY[substr(b.chassis_id, length('macAddress:') + 1), b.port_id])
    LIMIT ${CANDIDATES})`,
  `(SELECT e.site_id, e.mac, 1 FROM endpoints e WHERE ${hasPart(p, 'e.name', text)} AND ${inScope(p, 'e.site_id', scope)}
    LIMIT ${CANDIDATE_INTERVALS})`,
];

/**
 * Those whose MAC address begins so, out of an index in the order of each site; where these are few, those that have it
 * anywhere: what many begin with, such as the prefix of a maker, the index of trigrams would read wholly.
 */
function byMac(p: Parameters, text: string, scope: Scope): string[] {
  const digits = macDigits(text);
  if (digits === null) return [];
  const any = `SELECT m.site_id, m.mac, 1 FROM endpoint_macs m WHERE ${inScope(p, 'm.site_id', scope)} AND ${hasDigits(p, digits)}`;
  if (digits.length === WHOLE) return [`(${any} LIMIT ${CANDIDATES})`];
  const start = p.add(macStart(digits));
  const begun = `SELECT m.site_id, m.mac FROM sites s CROSS JOIN LATERAL (SELECT m.site_id, m.mac FROM endpoint_macs m
      WHERE m.site_id = s.id AND m.mac COLLATE "C" LIKE ${start}::text LIMIT ${CANDIDATES}) m
    WHERE ${inScope(p, 's.id', scope)} LIMIT ${CANDIDATES}`;
  return [
    `(WITH begun AS MATERIALIZED (${begun}) SELECT *, 1 FROM begun
      UNION ALL (${any} AND (SELECT count(*) FROM begun) < ${CANDIDATES} LIMIT ${CANDIDATES}))`,
  ];
}

/** Those that had an IP address that begins so. */
const byAddress = (p: Parameters, text: string, scope: Scope): string[] =>
  isAddressStart(text)
    ? [
        `(SELECT e.site_id, e.mac, 1 FROM endpoints e WHERE ${addressStarts(p, text)} AND ${inScope(p, 'e.site_id', scope)}
          LIMIT ${CANDIDATE_INTERVALS})`,
      ]
    : [];

/**
 * Those that had exactly this IP address, who has it now first, by themselves: 10.0.0.1 also begins 10.0.0.10 and a hundred
 * more, and an address of DHCP has had many.
 */
function byWholeAddress(p: Parameters, text: string, scope: Scope): string[] {
  const address = canonicalAddress(text);
  if (address === null) return [];
  return [
    `(SELECT e.site_id, e.mac, CASE WHEN e.until IS NULL THEN -1 ELSE 0 END FROM endpoints e
        WHERE e.address <> '' AND e.address = ${p.add(address)}::text AND ${inScope(p, 'e.site_id', scope)}
        ORDER BY e.until DESC NULLS FIRST LIMIT ${CANDIDATE_INTERVALS})`,
  ];
}

/** Some endpoints that a text means, those with exactly this IP address first, then those that are there. Not by makers: of one there are many. */
export async function findEndpoints(
  sql: Sql,
  text: string,
  { scope, most, makers, now }: { scope: Scope; most: number; makers: Makers; now: number },
): Promise<Endpoint[]> {
  const p = new Parameters();
  // Each way by itself, and bounded: joined by OR, no index would serve both.
  const keys = [...byMac(p, text, scope), ...byAddress(p, text, scope), ...byWholeAddress(p, text, scope)];
  if (text.length >= NAME_LEAST) keys.push(...named(p, text, scope));
  if (keys.length === 0) return [];
  const rows = await sql.query<Row & Record<string, unknown>>(
    `SELECT ${COLUMNS} FROM (SELECT site_id, mac, min(place) AS place
       FROM (${keys.join(' UNION ALL ')}) k(site_id, mac, place) GROUP BY site_id, mac) k
     JOIN endpoint_macs m ON m.site_id = k.site_id AND m.mac = k.mac JOIN sites s ON s.id = m.site_id
     ORDER BY k.place, m.gone_at DESC NULLS FIRST, m.mac, m.site_id LIMIT ${most}`,
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
