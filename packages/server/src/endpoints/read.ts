/** One hardware address in all sites of the caller: where it was learnt, and where it enters. */
import type { EndpointPlace } from '@rollcall/shared/api/endpoints';
import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import { unix } from '../platform/db/page.ts';
import { type LearntAt, place } from './place.ts';

/** Most intervals of one address that are read, the latest first. */
const INTERVALS = 1000;
/** Bridges told of one port, and addresses of a port that are looked at. */
const BRIDGES = 10;
const ADDRESSES = 5000;

interface Interval extends Record<string, unknown> {
  siteId: string;
  site: string;
  deviceId: string;
  device: string;
  ifIndex: number;
  interfaceId: string | null;
  port: string | null;
  vlan: number;
  address: string;
  since: number;
  until: number | null;
}

type Sighting = EndpointPlace['sightings'][number];
type Port = LearntAt & Pick<Sighting, 'device' | 'interfaceId' | 'port'>;

/** `mac` in lower-case colon form. One answer for each site that knows it. */
export async function placesOf(db: Database, mac: string, scope: Scope): Promise<EndpointPlace[]> {
  const intervals = await readIntervals(db, mac, scope);
  const sites = new Map<string, Interval[]>();
  for (const each of intervals) sites.set(each.siteId, [...(sites.get(each.siteId) ?? []), each]);
  const places: EndpointPlace[] = [];
  for (const [siteId, list] of sites) {
    const ports = await readPorts(db, siteId, mac, list);
    const { verdict, ports: found, reason } = place(ports);
    places.push({
      siteId,
      site: list[0]?.site ?? '',
      mac,
      locallyAdministered: (Number.parseInt(mac.slice(0, 2), 16) & 2) === 0 ? 0 : 1,
      owner: await readOwner(db, siteId, mac),
      addresses: [
        ...new Set(list.flatMap(({ address, until }) => (address && until === null ? address : []))),
      ],
      placement: {
        verdict,
        reason,
        ports: found.map(({ deviceId, device, ifIndex, interfaceId, port, others }) => ({
          ...{ deviceId, device, ifIndex, interfaceId, port, others },
        })),
      },
      sightings: list.map(sighting),
    });
  }
  return places;
}

const sighting = ({ siteId: _s, site: _n, vlan, address, ...each }: Interval): Sighting => ({
  ...each,
  vlan: vlan === 0 ? null : vlan,
  address: address === '' ? null : address,
});

function readIntervals(db: Database, mac: string, scope: Scope): Promise<Interval[]> {
  const p = new Parameters();
  const wanted = p.add(mac);
  // Every key begins with the site: the sites are gone through, so that the index finds the address in each.
  return db.query<Interval>(
    `SELECT e.site_id AS "siteId", s.name AS site, e.device_id AS "deviceId", d.name AS device,
       e.if_index AS "ifIndex", i.id AS "interfaceId", i.name AS port, e.vlan, e.address,
       ${unix('e.since')} AS since, ${unix('e.until')} AS until
     FROM sites s
     CROSS JOIN LATERAL (SELECT * FROM endpoints e WHERE e.site_id = s.id AND e.mac = ${wanted}
       ORDER BY e.until DESC NULLS FIRST, e.since DESC LIMIT ${INTERVALS}) e
     JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
     LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.device_id = e.device_id AND i.if_index = e.if_index
     WHERE ${inScope(p, 's.id', scope)}
     ORDER BY s.name, e.until DESC NULLS FIRST, e.since DESC, d.name, e.if_index LIMIT ${INTERVALS}`,
    p.values,
  );
}

/** The ports that have the address in their forwarding table now, with what stands behind each. */
async function readPorts(
  db: Database,
  siteId: string,
  mac: string,
  intervals: readonly Interval[],
): Promise<Port[]> {
  const now = intervals.filter(({ until, address }) => until === null && address === '');
  const ports = [...new Map(now.map((each) => [`${each.deviceId} ${each.ifIndex}`, each])).values()];
  if (ports.length === 0) return [];
  const params = [siteId, ports.map(({ deviceId }) => deviceId), ports.map(({ ifIndex }) => ifIndex)];
  const behind = await readBehind(db, params);
  const counts = await db.query<{ deviceId: string; ifIndex: number; others: number }>(
    `SELECT r.device AS "deviceId", r.port AS "ifIndex", c.others::int AS others
     FROM unnest($2::uuid[], $3::int8[]) AS r(device, port)
     CROSS JOIN LATERAL (SELECT count(DISTINCT l.mac) AS others FROM (
       SELECT e.mac FROM endpoints e WHERE e.site_id = $1::uuid AND e.device_id = r.device AND e.if_index = r.port
         AND e.until IS NULL AND e.address = '' AND e.mac <> $4 LIMIT ${ADDRESSES}) l) c`,
    [...params, mac],
  );
  const key = (each: { deviceId: string; ifIndex: number }) => `${each.deviceId} ${each.ifIndex}`;
  const others = new Map(counts.map((each) => [key(each), each.others]));
  return ports.map(({ deviceId, device, ifIndex, interfaceId, port }) => ({
    ...{ deviceId, device, ifIndex, interfaceId, port },
    bridges: behind.filter((each) => key(each) === key({ deviceId, ifIndex })).map(({ name }) => name),
    others: others.get(key({ deviceId, ifIndex })) ?? 0,
  }));
}

/**
 * Bridges behind ports: far ends of links, whichever end told it, and owners of addresses that the port has learnt (an
 * aggregate hears no neighbour, its members do). A bridge is a device with a forwarding table that is read.
 */
function readBehind(db: Database, params: readonly unknown[]) {
  return db.query<{ deviceId: string; ifIndex: number; name: string }>(
    `SELECT DISTINCT r.device AS "deviceId", r.port AS "ifIndex", d.name
     FROM unnest($2::uuid[], $3::int8[]) AS r(device, port)
     CROSS JOIN LATERAL (
       SELECT n.remote_device_id AS id FROM neighbours n
       WHERE n.site_id = $1::uuid AND n.device_id = r.device AND n.if_index = r.port
       UNION ALL
       SELECT v.device_id FROM (
         SELECT e.mac FROM endpoints e WHERE e.site_id = $1::uuid AND e.device_id = r.device AND e.if_index = r.port
           AND e.until IS NULL AND e.address = '' LIMIT ${ADDRESSES}) l
       JOIN evidence v ON v.site_id = $1::uuid AND v.kind IN ('mac', 'chassis-mac') AND v.value = l.mac) far
     JOIN devices d ON d.site_id = $1::uuid AND d.id = far.id AND d.id <> r.device
     WHERE EXISTS (SELECT 1 FROM device_facts f WHERE f.site_id = $1::uuid AND f.device_id = d.id AND f."group" = 'fdb')
     ORDER BY d.name LIMIT ${BRIDGES * 100}`,
    params,
  );
}

/** The device of ours that has the address. */
async function readOwner(db: Database, siteId: string, mac: string): Promise<EndpointPlace['owner']> {
  const [owner] = await db.query<{ deviceId: string; name: string }>(
    `SELECT d.id AS "deviceId", d.name FROM evidence v JOIN devices d ON d.site_id = v.site_id AND d.id = v.device_id
     WHERE v.site_id = $1::uuid AND v.kind IN ('mac', 'chassis-mac') AND v.value = $2 LIMIT 1`,
    [siteId, mac],
  );
  return owner ?? null;
}
