/** Keeps where hardware addresses were learnt, as intervals: the forwarding and ARP tables of devices that were read anew. */
import type { Sql } from '../../platform/db/sql.ts';
import type { World } from '../world.ts';

const isLearnt = (group: string): boolean => /^(fdb|arp)(\/|$)/.test(group);

/** Most addresses kept of one device at a time. */
const PER_DEVICE = 50_000;
/**
 * An address that comes back to its port within this time was never away: bridges forget a silent station after minutes
 * (IEEE 802.1D, ageing time of 300 s), and parts of one table may arrive in several batches.
 */
const AWAY = "interval '1 hour'";

/**
 * What the stored tables of the devices say; group addresses are nobody's. VLAN 0: not told. Address empty: no ARP, and the name is
 * the one that the station told by DHCP. Name empty: the address has none; null: not told. What a device tells is cast to nothing
 * that it may not fit: one such row would cost its whole site the batch.
 */
const TOLD = `
  SELECT * FROM (
    SELECT f.device_id, r.mac, r."ifIndex" AS if_index,
      CASE WHEN r.vlan BETWEEN 1 AND 4095 THEN r.vlan::int ELSE 0 END AS vlan,
      coalesce(r.address, '') AS address, coalesce(max(r.name), max(r.hostname)) AS name, max(f.seen_at) AS at,
      row_number() OVER (PARTITION BY f.device_id ORDER BY r.mac, r."ifIndex") AS place
    FROM device_facts f, jsonb_to_recordset(f.data) AS r(mac text, "ifIndex" bigint, vlan numeric, address text, name text, hostname text)
    WHERE f.site_id = $1::uuid AND f.device_id = ANY($2::uuid[])
      AND (f."group" IN ('fdb', 'arp') OR starts_with(f."group", 'fdb/') OR starts_with(f."group", 'arp/'))
      AND r."ifIndex" IS NOT NULL AND coalesce(r.address, '::') ~ '^[0-9a-f.:]+$' AND substr(r.mac, 2, 1) = ANY('{0,2,4,6,8,a,c,e}')
    GROUP BY 1, 2, 3, 4, 5) every_row
  WHERE place <= ${PER_DEVICE}`;

/** Ends what the tables no longer have, begins what is new in them, and takes over what names differ. Runs after the facts are written. */
export async function keepEndpoints(sql: Sql, { siteId, devices }: World): Promise<void> {
  const ids = [...devices.values()].filter(({ dirty }) => [...dirty].some(isLearnt)).map(({ row }) => row.id);
  if (ids.length === 0) return;
  const params = [siteId, ids];
  await sql.query(
    `WITH told AS MATERIALIZED (${TOLD}), read AS (
       SELECT f.device_id, f."group" LIKE 'arp%' AS arp, max(f.seen_at) AS at FROM device_facts f
       WHERE f.site_id = $1::uuid AND f.device_id = ANY($2::uuid[]) AND (f."group" LIKE 'fdb%' OR f."group" LIKE 'arp%')
       GROUP BY 1, 2)
     UPDATE endpoints e SET until = read.at FROM read
     WHERE e.site_id = $1::uuid AND e.device_id = ANY($2::uuid[]) AND e.until IS NULL
       AND read.device_id = e.device_id AND read.arp = (e.address <> '')
       AND NOT EXISTS (SELECT 1 FROM told t WHERE t.device_id = e.device_id AND t.mac = e.mac
         AND t.if_index = e.if_index AND t.vlan = e.vlan AND t.address = e.address)`,
    params,
  );
  // `before` is what stands open or ended just now; one of a place at most, so that a place has one open interval.
  await sql.query(
    `WITH told AS MATERIALIZED (${TOLD}), before AS MATERIALIZED (
       SELECT DISTINCT ON (e.mac, e.device_id, e.if_index, e.vlan, e.address) e.mac, e.device_id, e.if_index, e.vlan,
         e.address, e.since, e.until, e.resumed_at, e.name
       FROM endpoints e WHERE e.site_id = $1::uuid AND e.device_id = ANY($2::uuid[])
       ORDER BY e.mac, e.device_id, e.if_index, e.vlan, e.address, e.since DESC)
     INSERT INTO endpoints (site_id, mac, device_id, if_index, vlan, address, since, resumed_at, name)
     SELECT $1::uuid, t.mac, t.device_id, t.if_index, t.vlan, t.address,
       CASE WHEN b.until IS NULL OR b.until > t.at - ${AWAY} THEN coalesce(b.since, t.at) ELSE t.at END,
       CASE WHEN b.until IS NULL THEN b.resumed_at WHEN b.until > t.at - ${AWAY} THEN t.at END,
       CASE WHEN t.name IS NOT NULL THEN nullif(t.name, '') WHEN b.until IS NULL OR b.until > t.at - ${AWAY} THEN b.name END
     FROM told t LEFT JOIN before b ON b.device_id = t.device_id AND b.mac = t.mac AND b.if_index = t.if_index
       AND b.vlan = t.vlan AND b.address = t.address
     WHERE b.since IS NULL OR b.until IS NOT NULL OR t.name IS NOT NULL AND nullif(t.name, '') IS DISTINCT FROM b.name
     ORDER BY t.mac, t.device_id, t.if_index, t.vlan, t.address
     ON CONFLICT (site_id, mac, device_id, if_index, vlan, address, since) DO UPDATE
     SET until = NULL, resumed_at = EXCLUDED.resumed_at, name = EXCLUDED.name`,
    params,
  );
}
