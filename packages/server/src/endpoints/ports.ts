/** Ports that have learnt an address, and the bridges behind them. */
import { farEndOf } from '@rollcall/shared/far-end';
import type { Sql } from '../platform/db/sql.ts';
import type { LearntAt, Standing } from './place.ts';

interface PortKey {
  siteId: string;
  deviceId: string;
  ifIndex: number;
}

/** A port as the API names it. */
export interface NamedPort extends Omit<PortKey, 'siteId'> {
  device: string;
  interfaceId: string | null;
  port: string | null;
}

export const portKey = ({ deviceId, ifIndex }: Pick<PortKey, 'deviceId' | 'ifIndex'>): string =>
  `${deviceId} ${ifIndex}`;

export const namedPort = ({ deviceId, device, ifIndex, interfaceId, port }: NamedPort): NamedPort => ({
  ...{ deviceId, device, ifIndex, interfaceId, port },
});

/** Addresses of a port that are looked at. */
const ADDRESSES = 5000;

const columns = (ports: readonly PortKey[]): unknown[] => [
  ports.map(({ siteId }) => siteId),
  ports.map(({ deviceId }) => deviceId),
  ports.map(({ ifIndex }) => ifIndex),
];

/** A port that has an address of a device of the inventory, or of nobody. */
interface Toward extends PortKey {
  owner: string | null;
}
export const towardKey = (port: Pick<Toward, 'deviceId' | 'ifIndex' | 'owner'>): string =>
  `${portKey(port)} ${port.owner ?? ''}`;

/**
 * Names of bridges behind ports, by `towardKey`, without the owner of the address, which is not behind itself: far ends of
 * links, whichever end told it, and owners of addresses that the port has learnt (an aggregate hears no neighbour, its members
 * do). A bridge is a device that has learnt something itself: every device that is walked is asked for its forwarding table,
 * and most have an empty one.
 * @param most Bridges told of one port. One is found soon, at the first address.
 */
export async function readBridges(
  sql: Sql,
  ports: readonly Toward[],
  most: number,
): Promise<ReadonlyMap<string, string[]>> {
  if (ports.length === 0) return new Map();
  // Limits within: else the planner goes over the devices of the site and reads the port for each of them.
  const rows = await sql.query<{ deviceId: string; ifIndex: number; owner: string | null; name: string }>(
    `SELECT r.device AS "deviceId", r.port AS "ifIndex", r.owner, found.name
     FROM unnest($1::uuid[], $2::uuid[], $3::int8[], $4::uuid[]) AS r(site, device, port, owner)
     CROSS JOIN LATERAL (SELECT ${most === 1 ? '' : 'DISTINCT'} d.name FROM (
         SELECT n.remote_device_id AS id FROM neighbours n
         WHERE n.site_id = r.site AND n.device_id = r.device AND n.if_index = r.port
         UNION ALL
         SELECT v.device_id FROM (
           SELECT e.mac FROM endpoints e WHERE e.site_id = r.site AND e.device_id = r.device AND e.if_index = r.port
             AND e.until IS NULL AND e.address = '' LIMIT ${ADDRESSES}) l
         CROSS JOIN LATERAL (SELECT v.device_id FROM evidence v
           WHERE v.site_id = r.site AND v.kind IN ('mac', 'chassis-mac') AND v.value = l.mac LIMIT 2) v) far
       CROSS JOIN LATERAL (SELECT d.name FROM devices d
         WHERE d.site_id = r.site AND d.id = far.id AND d.id <> r.device AND d.id IS DISTINCT FROM r.owner
           AND EXISTS (SELECT 1 FROM endpoints b WHERE b.site_id = r.site AND b.device_id = far.id
             AND b.until IS NULL AND b.address = '') LIMIT 1) d
       ${most === 1 ? '' : 'ORDER BY d.name'} LIMIT ${most}) found`,
    [...columns(ports), ports.map(({ owner }) => owner)],
  );
  const bridges = new Map<string, string[]>();
  for (const row of rows) bridges.set(towardKey(row), [...(bridges.get(towardKey(row)) ?? []), row.name]);
  return bridges;
}

export interface Traits extends Pick<LearntAt, 'aggregate' | 'linked'> {
  /** What says by LLDP or CDP that it stands there. */
  said: readonly Said[];
}
interface Said extends Record<'chassisId' | 'portId' | 'name' | 'platform' | 'sysDescr', string | null> {
  capabilities: string[];
}

/** What stands at a port, for an address that it has: the first that says what it is, itself before others. */
export function standingAt({ said }: Pick<Traits, 'said'>, mac: string): Standing | undefined {
  const known = said.flatMap(({ chassisId, portId, name, ...words }) => {
    const kind = farEndOf(words);
    return kind === null ? [] : [{ kind, name, own: chassisId === `macAddress:${mac}` || portId === mac }];
  });
  return known.find(({ own }) => own) ?? known[0];
}

/** IF-MIB ifType ieee8023adLag. */
const LAG = 161;

/** What tells apart why several ports have an address, by `portKey`. Neighbours of an aggregate are heard on its members. */
export async function readTraits(sql: Sql, ports: readonly PortKey[]): Promise<ReadonlyMap<string, Traits>> {
  if (ports.length === 0) return new Map();
  const rows = await sql.query<{
    deviceId: string;
    ifIndex: number;
    aggregate: number | null;
    isRead: boolean;
    linked: string[];
    said: Said[];
  }>(
    `SELECT r.device AS "deviceId", r.port AS "ifIndex", CASE WHEN i.type = ${LAG} THEN i.if_index ELSE i.aggregate END AS aggregate,
       i.type = ${LAG} OR i.aggregate_active IS NOT NULL AS "isRead",
       ARRAY(SELECT DISTINCT n.remote_device_id FROM neighbours n WHERE n.site_id = r.site AND n.device_id = r.device
         AND n.remote_device_id = ANY($2::uuid[])) AS linked,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('chassisId', n.chassis_id, 'portId', n.port_id, 'name', nullif(n.sys_name, ''),
           'capabilities', n.capabilities, 'platform', n.platform, 'sysDescr', n.sys_descr) ORDER BY n.protocol, n.key), '[]')
         FROM neighbours n WHERE n.site_id = r.site AND n.device_id = r.device AND n.capabilities IS NOT NULL
           AND (n.if_index = r.port OR i.type = ${LAG} AND n.if_index IN (SELECT m.if_index FROM interfaces m
             WHERE m.site_id = r.site AND m.device_id = r.device AND m.aggregate = r.port))) AS said
     FROM unnest($1::uuid[], $2::uuid[], $3::int8[]) AS r(site, device, port)
     JOIN interfaces i ON i.site_id = r.site AND i.device_id = r.device AND i.if_index = r.port`,
    columns(ports),
  );
  return new Map(
    rows.map(({ aggregate, isRead, linked, said, ...port }) => [
      portKey(port),
      { linked, said, ...(isRead && { aggregate }) },
    ]),
  );
}

/** Other addresses than `mac` in the forwarding table of each port now, by `portKey`. */
export async function countOthers(
  sql: Sql,
  ports: readonly PortKey[],
  mac: string,
): Promise<ReadonlyMap<string, number>> {
  if (ports.length === 0) return new Map();
  const rows = await sql.query<{ deviceId: string; ifIndex: number; others: number }>(
    `SELECT r.device AS "deviceId", r.port AS "ifIndex", c.others::int AS others
     FROM unnest($1::uuid[], $2::uuid[], $3::int8[]) AS r(site, device, port)
     CROSS JOIN LATERAL (SELECT count(DISTINCT l.mac) AS others FROM (
       SELECT e.mac FROM endpoints e WHERE e.site_id = r.site AND e.device_id = r.device AND e.if_index = r.port
         AND e.until IS NULL AND e.address = '' AND e.mac <> $4 LIMIT ${ADDRESSES}) l) c`,
    [...columns(ports), mac],
  );
  return new Map(rows.map((row) => [portKey(row), row.others]));
}
