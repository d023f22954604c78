/** Which VLANs each port is in: the table of VLANs (dot1qVlanCurrentTable, RFC 4363), port by port. */
import type { Sql } from '../../platform/db/sql.ts';
import { aboutDevice, type World } from '../world.ts';
import type { Writes } from './rows.ts';

const isVlans = (group: string): boolean => /^vlans(\/|$)/.test(group);

interface Placed extends Record<string, unknown> {
  device: string;
  id: string;
  name: string;
  was: number | null;
  is: number | null;
  /** Null: not known. */
  wasTagged: number[] | null;
  isTagged: number[] | null;
}

/** Of a VLAN table that was not read to its end, old rows stand beside new ones: the members stay as they are. */
const PLACE = `WITH vlans AS (
    SELECT f.device_id, v.vlan, v.egress, v.untagged FROM device_facts f, jsonb_to_recordset(f.data) AS v(vlan int, egress jsonb, untagged jsonb)
    WHERE f.site_id = $1::uuid AND f.device_id = ANY($2::uuid[]) AND (f."group" = 'vlans' OR starts_with(f."group", 'vlans/'))),
  whole AS (
    SELECT f.device_id FROM device_facts f WHERE f.site_id = $1::uuid AND f.device_id = ANY($2::uuid[])
      AND (f."group" = 'vlans' OR starts_with(f."group", 'vlans/'))
    GROUP BY f.device_id HAVING bool_and(f.complete)
      AND EXISTS (SELECT 1 FROM vlans v WHERE v.device_id = f.device_id AND v.egress IS NOT NULL)),
  members AS (
    SELECT m.device_id, m.vlan, m.port::int8 AS if_index, bool_or(m.plain) AS plain FROM (
      SELECT v.device_id, v.vlan, true AS plain, jsonb_array_elements_text(v.untagged) AS port FROM vlans v
      UNION ALL SELECT v.device_id, v.vlan, false, jsonb_array_elements_text(v.egress) FROM vlans v) m
    GROUP BY m.device_id, m.vlan, m.port),
  plain AS (
    SELECT device_id, if_index, array_agg(vlan ORDER BY vlan) AS every,
      CASE WHEN count(*) FILTER (WHERE plain) = 1 THEN min(vlan) FILTER (WHERE plain) END AS vlan
    FROM members GROUP BY device_id, if_index),
  placed AS (
    SELECT p.site_id, p.id, p.vlan AS was, p.tagged_vlans AS was_tagged, u.vlan,
      CASE WHEN w.device_id IS NULL THEN p.tagged_vlans ELSE coalesce(array_remove(u.every, u.vlan), '{}') END AS tagged
    FROM interfaces p LEFT JOIN plain u ON u.device_id = p.device_id AND u.if_index = p.if_index
      LEFT JOIN whole w ON w.device_id = p.device_id
    WHERE p.site_id = $1::uuid AND p.device_id = ANY($2::uuid[]) AND p.gone_at IS NULL)
  UPDATE interfaces i SET vlan = p.vlan, tagged_vlans = p.tagged FROM placed p
  WHERE i.site_id = p.site_id AND i.id = p.id
    AND (i.vlan IS DISTINCT FROM p.vlan OR i.tagged_vlans IS DISTINCT FROM p.tagged)
  RETURNING i.device_id AS device, i.id, i.name, p.was, p.vlan AS is, p.was_tagged AS "wasTagged", p.tagged AS "isTagged"`;

/**
 * Gives each port the VLAN in which it is untagged, where that is one, and the others that it is a member of, on devices
 * whose VLAN table or ports changed.
 */
export async function placeVlans(sql: Sql, world: World, { interfaces }: Writes): Promise<void> {
  const { siteId, devices } = world;
  const ported = new Set(interfaces.map(({ deviceId }) => deviceId));
  const ids = [...devices.values()]
    .filter(({ row, facts, dirty }) => facts.has('vlans') && (ported.has(row.id) || [...dirty].some(isVlans)))
    .map(({ row }) => row.id);
  if (ids.length === 0) return;
  for (const placed of await sql.query<Placed>(PLACE, [siteId, ids])) {
    const tracked = devices.get(placed.device);
    const turn = turnOf(placed);
    if (!tracked || Object.keys(turn.after).length === 0) continue;
    world.changes.push({
      ...aboutDevice(tracked, tracked.seen.at, tracked.seen.collectorId),
      ...{ kind: 'interface.changed', interfaceId: placed.id, ifName: placed.name, ...turn },
    });
  }
}

/** What changed of a port. What was not known before is no change. */
function turnOf({ was, is, wasTagged, isTagged }: Placed) {
  const without = (list: readonly number[], other: readonly number[]) => {
    const others = new Set(other);
    return list.filter((vlan) => !others.has(vlan));
  };
  const left = wasTagged && isTagged ? without(wasTagged, isTagged) : [];
  const joined = wasTagged && isTagged ? without(isTagged, wasTagged) : [];
  const moved = was !== null && was !== is;
  const trunk = left.length + joined.length > 0;
  return {
    before: { ...(moved && { vlan: was }), ...(trunk && { taggedVlans: left }) },
    after: { ...(moved && { vlan: is }), ...(trunk && { taggedVlans: joined }) },
  };
}
