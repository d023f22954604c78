/** How many devices a scan found: counted from the devices while it runs, written down with its end. */
import type { Change } from '../changes.ts';
import type { Sql } from '../platform/db/sql.ts';

/** Events that say that a known device is no longer what it was. */
const CHANGES = [
  'device.addresses',
  'device.changed',
  'device.hardware',
  'device.moved',
  'device.renumbered',
  'device.swapped',
  'device.upgraded',
  'device.vlans',
  'interface.added',
  'interface.removed',
  'neighbour.changed',
] as const satisfies readonly Change['kind'][];

/**
 * Corrected times of collectors err by half a round trip at most, and an assignment takes half a round trip to arrive:
 * nothing a scan found is from before it began. What is from before was found by another, perhaps a moment ago.
 */
const BEGAN = 'coalesce(s.started_at, s.created_at)';
const MINE = 'v.site_id = s.site_id AND v.last_scan_id = s.id';

/** One row per scan `s`: found, new, changed; zeros, for nothing, where that is written down already. */
export const TALLY = `(SELECT count(*) AS found, count(*) FILTER (WHERE d.first_seen >= ${BEGAN}) AS new,
    (SELECT count(DISTINCT e.device_id) FROM events e
     WHERE e.site_id = s.site_id AND e.timestamp >= ${BEGAN} AND e.kind IN (${CHANGES.map((kind) => `'${kind}'`).join(', ')})
       AND s.devices_found IS NULL AND e.device_id IN (SELECT v.device_id FROM sightings v WHERE ${MINE})) AS changed
  FROM sightings v JOIN devices d ON d.site_id = v.site_id AND d.id = v.device_id
  WHERE s.devices_found IS NULL AND ${MINE})`;

/** Writes down what a scan that just ended found. */
export async function writeTally(sql: Sql, scanId: string): Promise<void> {
  await sql.query(
    `UPDATE scans SET devices_found = t.found, devices_new = t.new, devices_changed = t.changed
     FROM (SELECT t.* FROM scans s, LATERAL ${TALLY} t WHERE s.id = $1::uuid) t WHERE id = $1::uuid`,
    [scanId],
  );
}
