/** Ports that have learnt an address, and the bridges behind them. */
import type { Sql } from '../platform/db/sql.ts';

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
