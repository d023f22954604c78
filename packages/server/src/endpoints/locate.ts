/** Where some endpoints enter the network at a time, with whose they are. */
import { unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { distinctPorts, type Identity, readIdentities, readOwners, toldName } from './identity.ts';
import { type LearntAt, type Placement, place } from './place.ts';
import { type NamedPort, portKey, readBridges, readTraits, towardKey } from './ports.ts';

/** Intervals of one address that are looked at. */
const INTERVALS = 200;

export interface Wanted {
  siteId: string;
  mac: string;
  goneAt: Date | null;
}

/** `begun`: Unix seconds since when the port has the address without a break; `since` passes over breaks of less than an hour. */
type Port = NamedPort & LearntAt & { begun: number };

export interface Located extends Identity, Omit<Placement<Port>, 'reason'> {
  addresses: string[];
  vlans: number[];
  /** Unix seconds since when some table has it without a break; null: none has it. */
  begun: number | null;
}

/** In the order of what is wanted. `at`: Unix seconds; without it now, or before the endpoint was gone. */
export async function locate<Row extends Wanted>(
  sql: Sql,
  rows: readonly Row[],
  { at, now }: { at: number | undefined; now: number },
): Promise<(Row & Located)[]> {
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
    const { verdict, ports, pair } = place(ways, at ?? now);
    const addresses = [...new Set(all.flatMap(({ address }) => address || []))].sort();
    const vlans = [...new Set(all.flatMap(({ vlan }) => vlan || []))].sort((a, b) => a - b);
    const begun = all.length === 0 ? null : Math.min(...all.map((each) => each.begun));
    return { ...row, owner, verdict, pair, ports, addresses, vlans, begun };
  });
  const asked = known.map((each, n) => ({ ...each, told: toldName(of.get(n) ?? []) }));
  const identities = await readIdentities(sql, asked);
  return known.map((each, n) => ({
    ...each,
    ...(identities[n] ?? { owner: null, name: null, nameFrom: null }),
  }));
}

interface Learnt extends NamedPort {
  /** Which row it is of. */
  n: number;
  siteId: string;
  vlan: number;
  address: string;
  name: string | null;
  since: number;
  begun: number;
}

/** What tables have of each address: at a time, else now, else before it was gone. */
function readLearnt(sql: Sql, rows: readonly Wanted[], at: number | undefined): Promise<Learnt[]> {
  if (rows.length === 0) return Promise.resolve([]);
  const moment = ({ goneAt }: Wanted) =>
    goneAt === null ? null : new Date(goneAt.getTime() - 1).toISOString();
  const asked = at === undefined ? null : new Date(at * 1000).toISOString();
  return sql.query<Learnt & Record<string, unknown>>(
    `SELECT k.n::int - 1 AS n, e.site_id AS "siteId", e.device_id AS "deviceId", d.name AS device, e.if_index AS "ifIndex",
       i.id AS "interfaceId", i.name AS port, e.vlan, e.address, e.name, ${unix('e.since')} AS since,
       ${unix('coalesce(e.resumed_at, e.since)')} AS begun
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
