/** Writes the world back: devices first, because everything else refers to them; each table by one statement. */
import { arrayOf } from '../../platform/db/arrays.ts';
import { WATCH_CHANNEL } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { aboutDevice, current, factsRow, type World } from '../world.ts';
import { keepEndpoints } from './endpoints.ts';
import { deviceChanges } from './merge.ts';
import { type DeviceRow, sameDevice, sameSighting } from './rows.ts';
import * as store from './store.ts';
import { writeTables } from './walked.ts';
import type { Writes } from './writes.ts';

/** Writes what changed since the last save and answers the devices that did. */
export async function save(sql: Sql, world: World, writes: Writes): Promise<string[]> {
  const tracked = [...world.devices.values()];
  const changed = tracked.filter(({ stored, row }) => !stored || !sameDevice(stored, row));
  const seen = tracked.filter(({ stored, row }) => !stored || !sameSighting(stored, row));
  await writeDeviceRows(
    sql,
    changed.map(({ row }) => row),
    seen.map(({ row }) => row),
  );
  await absorbRecords(sql, world);
  await leaveAddresses(sql, world);
  await claimEvidence(sql, world);
  await writeTables(sql, world.siteId, writes);
  await store.writeFacts(
    sql,
    tracked.flatMap((device) => [...device.dirty].flatMap((group) => factsRow(device, group) ?? [])),
  );
  await placeVlans(sql, world, writes);
  await keepEndpoints(sql, world);
  for (const device of changed)
    world.changes.unshift(...deviceChanges(device.stored, device.row, device.seen));
  for (const device of tracked) {
    device.stored = device.row;
    device.dirty.clear();
  }
  return [...new Set([...changed, ...seen])].map(({ row }) => row.id);
}

const isVlans = (group: string): boolean => /^vlans(\/|$)/.test(group);

/**
 * Gives each port the VLAN in which it is untagged (dot1qVlanCurrentUntaggedPorts, RFC 4363), where that is one, on
 * devices whose VLAN table or ports changed.
 */
async function placeVlans(sql: Sql, world: World, { interfaces }: Writes): Promise<void> {
  const { siteId, devices } = world;
  const ported = new Set(interfaces.map(({ deviceId }) => deviceId));
  const ids = [...devices.values()]
    .filter(({ row, facts, dirty }) => facts.has('vlans') && (ported.has(row.id) || [...dirty].some(isVlans)))
    .map(({ row }) => row.id);
  if (ids.length === 0) return;
  const moved = await sql.query<{
    device: string;
    id: string;
    name: string;
    before: number | null;
    after: number | null;
  }>(
    `WITH untagged AS (
       SELECT f.device_id, port::int AS if_index, CASE WHEN count(DISTINCT v.vlan) = 1 THEN min(v.vlan) END AS vlan
       FROM device_facts f, jsonb_to_recordset(f.data) AS v(vlan int, untagged jsonb),
         jsonb_array_elements_text(v.untagged) AS port
       WHERE f.site_id = $1::uuid AND f.device_id = ANY($2::uuid[])
         AND (f."group" = 'vlans' OR starts_with(f."group", 'vlans/'))
       GROUP BY f.device_id, port)
     UPDATE interfaces i SET vlan = u.vlan
     FROM interfaces p LEFT JOIN untagged u ON u.device_id = p.device_id AND u.if_index = p.if_index
     WHERE p.site_id = $1::uuid AND p.device_id = ANY($2::uuid[]) AND p.gone_at IS NULL AND i.site_id = p.site_id AND i.id = p.id
       AND i.vlan IS DISTINCT FROM u.vlan
     RETURNING i.device_id AS device, i.id, i.name, p.vlan AS before, u.vlan AS after`,
    [siteId, ids],
  );
  for (const { device, id, name, before, after } of moved) {
    const tracked = devices.get(device);
    // What was not known before is no change.
    if (!tracked || before === null) continue;
    world.changes.push({
      ...aboutDevice(tracked, tracked.seen.at, tracked.seen.collectorId),
      ...{ kind: 'interface.changed', interfaceId: id, ifName: name },
      ...{ before: { vlan: before }, after: { vlan: after } },
    });
  }
}

/** Writes devices and sightings, each into its table. */
export async function writeDeviceRows(
  sql: Sql,
  devices: readonly DeviceRow[],
  seen: readonly DeviceRow[] = devices,
): Promise<void> {
  await store.writeDevices(sql, devices);
  await store.writeSightings(
    sql,
    seen.map(
      ({ siteId, id: deviceId, lastSeen, lastScanId, rttMs, walk, mergedAt, received, watchedAt }) => ({
        ...{ siteId, deviceId, lastSeen, lastScanId, rttMs, walk, mergedAt, received, watchedAt },
      }),
    ),
  );
}

/** Records that proved to be another record's device: what they hold goes over, then they end. */
async function absorbRecords(sql: Sql, world: World): Promise<void> {
  const pairs = [...world.absorbing].map((from) => ({ from, into: current(world, from) }));
  if (pairs.length > 0) await absorbInto(sql, world.siteId, pairs);
  world.absorbing.clear();
}

/** Moves what each record holds to another and deletes it. Interfaces and tables are the receiver's own. */
export async function absorbInto(
  sql: Sql,
  siteId: string,
  pairs: readonly { from: string; into: string }[],
): Promise<void> {
  const params = [siteId, JSON.stringify(pairs)];
  const PAIRS = 'jsonb_to_recordset($2::jsonb) AS p("from" uuid, "into" uuid)';
  await sql.query(
    `UPDATE evidence e SET device_id = p."into" FROM ${PAIRS} WHERE e.site_id = $1::uuid AND e.device_id = p."from"`,
    params,
  );
  await sql.query(
    `INSERT INTO device_addresses (site_id, device_id, address, prefix_length, if_index, origin, first_seen, last_seen)
     SELECT a.site_id, p."into", a.address, a.prefix_length, NULL, a.origin, a.first_seen, a.last_seen
     FROM ${PAIRS} JOIN device_addresses a ON a.site_id = $1::uuid AND a.device_id = p."from"
     ORDER BY p."into", a.address
     ON CONFLICT DO NOTHING`,
    params,
  );
  await sql.query(
    `UPDATE neighbours n SET remote_device_id = p."into" FROM ${PAIRS}
     WHERE n.site_id = $1::uuid AND n.remote_device_id = p."from"`,
    params,
  );
  await sql.query(
    `UPDATE devices d SET monitor = d.monitor OR o.monitor, name_override = COALESCE(d.name_override, o.name_override),
       name = COALESCE(d.name_override, o.name_override, d.name),
       class_override = COALESCE(d.class_override, o.class_override),
       class = COALESCE(d.class_override, o.class_override, d.class),
       thresholds = COALESCE(d.thresholds, o.thresholds)
     FROM ${PAIRS} JOIN devices o ON o.site_id = $1::uuid AND o.id = p."from"
     WHERE d.site_id = $1::uuid AND d.id = p."into"
       AND (o.monitor OR o.name_override IS NOT NULL OR o.class_override IS NOT NULL OR o.thresholds IS NOT NULL)`,
    params,
  );
  for (const pair of pairs) await moveMeasurements(sql, siteId, pair);
  await sql.query(
    `DELETE FROM devices d USING ${PAIRS} WHERE d.site_id = $1::uuid AND d.id = p."from"`,
    params,
  );
}

/** What was measured of a record goes on as that of the receiver, for the time in which that was not measured itself. */
async function moveMeasurements(
  sql: Sql,
  siteId: string,
  { from, into }: { from: string; into: string },
): Promise<void> {
  const move = (table: string, more: string, ...same: string[]) =>
    sql.query(
      `UPDATE ${table} m SET device_id = $3::uuid${more} WHERE m.site_id = $1::uuid AND m.device_id = $2::uuid
         AND NOT EXISTS (SELECT 1 FROM ${table} o WHERE o.site_id = m.site_id AND o.device_id = $3::uuid
           AND ${same.map((column) => `o.${column} = m.${column}`).join(' AND ')})`,
      [siteId, from, into],
    );
  await move('samples', '', 'at', 'part');
  // The summaries of a day that both have a part of are made again.
  await move('sample_chunks', ', summarised = false', 'step', 'begins');
  // A sensor that the receiver has as well is its own; the health of both follows with the next reading.
  await move('sensors', '', 'key');
  await move('monitoring_history', '', 'since');
}

async function leaveAddresses(sql: Sql, world: World): Promise<void> {
  const rows = world.left
    .map(({ deviceId, address }) => ({ deviceId: current(world, deviceId), address, origin: 'reached' }))
    .filter(({ deviceId, address }) => world.holders.get(`address:${address}`) !== deviceId);
  world.left.length = 0;
  await store.removeAddresses(sql, world.siteId, rows);
}

async function claimEvidence(sql: Sql, world: World): Promise<void> {
  const { siteId } = world;
  const rows = [...world.claimed.values()].map(({ kind, value, deviceId, at }) => ({
    siteId,
    kind,
    value,
    deviceId,
    firstSeen: at,
    lastSeen: at,
  }));
  world.claimed.clear();
  await store.writeEvidence(sql, rows);
  const reached = rows.filter(({ kind }) => kind === 'address');
  if (reached.length === 0) return;
  // Where else a watched device answers is asked when its address falls silent.
  if (reached.some(({ deviceId }) => world.devices.get(deviceId)?.row.monitor))
    await sql.query('SELECT pg_notify($1, $2)', [WATCH_CHANNEL, siteId]);
  await sql.query(
    `INSERT INTO device_addresses (site_id, device_id, address, origin, first_seen, last_seen)
     SELECT $1::uuid, r."deviceId", r.value::inet, 'reached', r.at, r.at
     FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) AS r("deviceId", value, at)
     ORDER BY r."deviceId", r.value
     ON CONFLICT DO NOTHING`,
    [
      siteId,
      arrayOf('uuid', reached, 'deviceId'),
      arrayOf('text', reached, 'value'),
      arrayOf('timestamptz', reached, 'lastSeen'),
    ],
  );
}
