/** The networks of a site, as far as it takes to tell what lies behind its dead routers. */
import { PROTOCOL_WATCHES } from '@rollcall/shared/protocol';
import type { Sql } from '../../platform/db/sql.ts';
import { type Place, type Reach, type Router, reachOf } from './reachability.ts';
import type { Down } from './root-cause.ts';

/** Most addresses of routers that are looked at; of a site with more nothing is claimed. */
const PLACES_MOST = 50_000;

/** IP-MIB ipForwarding, among the values that are read of every agent: 1 forwards, 2 does not. */
const FORWARDING = `'1.3.6.1.2.1.4.1.0'`;

/** Networks that lead out of no device. */
const OWN_AFFAIR = `ARRAY['127.0.0.0/8', '169.254.0.0/16', '::1', 'fe80::/10']::inet[]`;

/** When devices were asked, Unix milliseconds. */
export interface Asked {
  now: number;
  /** Every agent that answers was read since. */
  lastRead: number;
}

/**
 * When a watched device that is up answered, at least; null: it is not known to be up. One that answers ping is known to be
 * up now: who is down is held for longer than the time between two pings. An agent is read less often.
 */
const answeredAt = (now: string, lastRead: string): string =>
  `CASE WHEN d.monitor AND d.status = 'up' THEN CASE WHEN d.icmp_reachable THEN ${now}::timestamptz
     ELSE greatest(s.last_seen, ${lastRead}::timestamptz) END END`;

/** Device → when it answered, of those that are known to be up. Of one that is not watched the last scan is long ago. */
export async function readAnswered(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
  { now, lastRead }: Asked,
): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; at: Date | null }>(
    `SELECT d.id, ${answeredAt('$3', '$4')} AS at FROM devices d
       LEFT JOIN sightings s ON s.site_id = d.site_id AND s.device_id = d.id
     WHERE d.site_id = $1::uuid AND d.id = ANY($2::uuid[])`,
    [siteId, devices, new Date(now), new Date(lastRead)],
  );
  return new Map(rows.flatMap(({ id, at }): [string, number][] => (at ? [[id, at.getTime()]] : [])));
}

/** What routers say of some devices, if these are down. */
export type ReachOf = (downs: readonly Down[]) => Reach;

/**
 * For some of the devices `ids`. Null where nothing can be claimed: no router is among them, which is the usual case and
 * costs one look at them; or a collector did not report where it stands.
 */
export async function readReach(
  sql: Sql,
  siteId: string,
  ids: readonly string[],
  asked: Asked,
): Promise<ReachOf | null> {
  if (ids.length === 0 || (await readRouters(sql, siteId, ids, asked))?.length === 0) return null;
  const collectors = await readCollectors(sql, siteId);
  const routers = collectors && (await readRouters(sql, siteId, null, asked));
  if (!routers) return null;
  const watched = await readWatched(sql, siteId, ids, asked);
  const addresses = new Map(watched.map(({ id, address }) => [id, address]));
  const places = await readPlaces(sql, siteId, ids);
  return (downs) => {
    const lost = downs.map((down) => ({
      ...down,
      address: addresses.get(down.deviceId) ?? null,
      places: places.get(down.deviceId) ?? [],
    }));
    const down = new Set(downs.map(({ deviceId }) => deviceId));
    const answering = watched.flatMap(({ id, address, answeredAt }) =>
      down.has(id) || !answeredAt ? [] : [{ address, at: answeredAt.getTime() }],
    );
    return reachOf(lost, { collectors, routers, answering });
  };
}

/** Where the collectors that watch the site stand; null: none watches, or one did not report it. */
async function readCollectors(sql: Sql, siteId: string): Promise<string[] | null> {
  const rows = await sql.query<{ addresses: string[] | null; linked: boolean }>(
    `SELECT CASE WHEN addresses IS NOT NULL
         THEN ARRAY(SELECT host(a) || '/' || masklen(a) FROM unnest(addresses) a) END AS addresses,
       instance IS NOT NULL AS linked
     FROM collectors WHERE site_id = $1::uuid AND status = 'active' AND connected_at IS NOT NULL
       AND protocol >= ${PROTOCOL_WATCHES}`,
    [siteId],
  );
  // Between two connections a collector is as little lost as before.
  const watching = rows.some(({ linked }) => linked) ? rows.filter(({ linked }) => linked) : rows;
  const known = watching.flatMap(({ addresses }) => (addresses ? [addresses] : []));
  return known.length > 0 && known.length === watching.length ? known.flat() : null;
}

interface PlaceRow {
  deviceId: string;
  address: string;
  prefixLength: number | null;
  own: boolean;
}
const placeOf = ({ address, prefixLength, own }: PlaceRow): Place => ({ address, prefixLength, own });

/** No other device of the site, as far as it is still there, has the address `a.address`. */
const OWN = `NOT EXISTS (SELECT 1 FROM device_addresses o JOIN devices h ON h.site_id = o.site_id AND h.id = o.device_id
    WHERE o.site_id = a.site_id AND o.address = a.address AND o.device_id <> a.device_id
      AND (h.monitor OR h.gone_at IS NULL))`;

/** Devices with addresses in two networks of a family or more that are not known to leave packets alone; of `among`. */
async function readRouters(
  sql: Sql,
  siteId: string,
  among: readonly string[] | null,
  { now, lastRead }: Asked,
): Promise<Router[] | null> {
  const rows = await sql.query<PlaceRow & { answeredAt: Date | null }>(
    `WITH places AS MATERIALIZED (
       SELECT a.site_id, a.device_id, a.address, a.prefix_length,
         CASE family(a.address) WHEN 4 THEN 32 ELSE 128 END AS bits, ${answeredAt('$3', '$4')} AS answered
       FROM device_addresses a JOIN devices d ON d.site_id = a.site_id AND d.id = a.device_id
         LEFT JOIN sightings s ON s.site_id = d.site_id AND s.device_id = d.id
       WHERE a.site_id = $1::uuid AND ($2::uuid[] IS NULL OR a.device_id = ANY($2::uuid[])) AND a.origin = 'table'
         AND (d.monitor OR d.gone_at IS NULL) AND NOT a.address <<= ANY(${OWN_AFFAIR})),
     joining AS (
       SELECT DISTINCT device_id FROM places WHERE coalesce(prefix_length, 0) < bits GROUP BY device_id, bits
       HAVING count(DISTINCT network(set_masklen(address, coalesce(prefix_length, bits)))) > 1)
     SELECT a.device_id AS "deviceId", host(a.address) AS address, a.prefix_length AS "prefixLength",
       a.answered AS "answeredAt", ${OWN} AS own
     FROM places a JOIN joining j ON j.device_id = a.device_id
       LEFT JOIN device_facts f ON f.site_id = a.site_id AND f.device_id = a.device_id AND f."group" = 'vendor'
     WHERE coalesce(f.data ->> ${FORWARDING}, '1') <> '2'
     UNION ALL
     SELECT f.device_id, v.address #>> '{}', NULL, ${answeredAt('$3', '$4')}, false
     FROM device_facts f JOIN devices d ON d.site_id = f.site_id AND d.id = f.device_id
       LEFT JOIN sightings s ON s.site_id = d.site_id AND s.device_id = d.id
       CROSS JOIN LATERAL jsonb_path_query(f.data, '$[*].addresses[*].address') AS v(address)
     WHERE $2::uuid[] IS NULL AND f.site_id = $1::uuid AND (f."group" = 'vrfs' OR f."group" LIKE 'vrfs/%')
       AND (d.monitor OR d.gone_at IS NULL)
     ORDER BY 1, 2 LIMIT ${PLACES_MOST + 1}`,
    [siteId, among, new Date(now), new Date(lastRead)],
  );
  if (rows.length > PLACES_MOST) return null;
  const routers = new Map<string, Omit<Router, 'places'> & { places: Place[] }>();
  for (const row of rows) {
    const { deviceId, answeredAt } = row;
    const fresh = { deviceId, answeredAt: answeredAt?.getTime() ?? null, places: [] };
    const router = routers.get(deviceId) ?? fresh;
    router.places.push(placeOf(row));
    routers.set(row.deviceId, router);
  }
  return [...routers.values()];
}

/** Addresses that answer, and those at which some devices are watched. */
const readWatched = (sql: Sql, siteId: string, devices: readonly string[], { now, lastRead }: Asked) =>
  sql.query<{ id: string; address: string; answeredAt: Date | null }>(
    `SELECT d.id, host(d.address) AS address, ${answeredAt('$3', '$4')} AS "answeredAt" FROM devices d
       LEFT JOIN sightings s ON s.site_id = d.site_id AND s.device_id = d.id
     WHERE d.site_id = $1::uuid AND d.address IS NOT NULL
       AND (d.monitor AND d.status = 'up' OR d.id = ANY($2::uuid[]))`,
    [siteId, devices, new Date(now), new Date(lastRead)],
  );

async function readPlaces(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
): Promise<Map<string, Place[]>> {
  const rows = await sql.query<PlaceRow>(
    `SELECT a.device_id AS "deviceId", host(a.address) AS address, a.prefix_length AS "prefixLength", ${OWN} AS own
     FROM device_addresses a WHERE a.site_id = $1::uuid AND a.device_id = ANY($2::uuid[])`,
    [siteId, devices],
  );
  const places = new Map<string, Place[]>();
  for (const row of rows) places.set(row.deviceId, [...(places.get(row.deviceId) ?? []), placeOf(row)]);
  return places;
}
