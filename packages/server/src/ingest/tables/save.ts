/** Writes the world back: devices first, because everything else refers to them; each table by one statement. */
import { NOTE_MOST, TAGS_MOST } from '@rollcall/shared/api/annotations';
import { arrayOf } from '../../platform/db/arrays.ts';
import { WATCH_CHANNEL } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { current, factsRow, type World } from '../world.ts';
import { keepEndpoints } from './endpoints.ts';
import { deviceChanges } from './merge.ts';
import { type Moved, moveMeasurements, type Pair, TWINS } from './move-measurements.ts';
import { placeVlans } from './place-vlans.ts';
import { type DeviceRow, sameDevice, sameSighting, type Writes } from './rows.ts';
import * as store from './store.ts';
import { writeTables } from './walked.ts';

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
  const absorbed = [...world.absorbing].map((from) => ({ from, into: current(world, from) }));
  world.absorbing.clear();
  await joinRecords(sql, world.siteId, absorbed);
  await leaveAddresses(sql, world);
  await claimEvidence(sql, world);
  await writeTables(sql, world.siteId, writes);
  // Now that the receiver has its interfaces, those of the record are found among them.
  await endRecords(sql, world.siteId, absorbed);
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

const PAIRS = 'jsonb_to_recordset($2::jsonb) AS p("from" uuid, "into" uuid)';

/**
 * Moves what each record holds to another and deletes it. Interfaces and tables are the receiver's own, with what people said of both.
 * @returns what was measured of each, in their order
 */
export async function absorbInto(sql: Sql, siteId: string, pairs: readonly Pair[]): Promise<Moved[]> {
  await joinRecords(sql, siteId, pairs);
  return endRecords(sql, siteId, pairs);
}

/** What the records are recognised and reached by goes over. */
async function joinRecords(sql: Sql, siteId: string, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return;
  const params = [siteId, JSON.stringify(pairs)];
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
}

/** What people said and what was measured of the records goes over, then they end. @returns what was measured, in their order */
async function endRecords(sql: Sql, siteId: string, pairs: readonly Pair[]): Promise<Moved[]> {
  if (pairs.length === 0) return [];
  // One after another: of two that go into the same record, the second adds to what the first gave.
  const moved: Moved[] = [];
  for (const pair of pairs) {
    await keepWords(sql, siteId, pair);
    moved.push(await moveMeasurements(sql, siteId, pair));
    await rememberMerge(sql, siteId, pair);
  }
  await sql.query(`DELETE FROM devices d USING ${PAIRS} WHERE d.site_id = $1::uuid AND d.id = p."from"`, [
    siteId,
    JSON.stringify(pairs),
  ]);
  return moved;
}

/** What people said of `o`, added to what they said of `d`. */
const WORDS = `thresholds = COALESCE(d.thresholds, o.thresholds),
  tags = ARRAY(SELECT DISTINCT ON (lower(t)) t FROM unnest(d.tags || o.tags) WITH ORDINALITY AS one(t, n)
    ORDER BY lower(t), n LIMIT ${TAGS_MOST}),
  note = CASE WHEN position(o.note IN d.note) > 0 THEN d.note
    ELSE left(concat_ws(E'\\n', nullif(d.note, ''), o.note), ${NOTE_MOST}) END,
  fields = o.fields || d.fields, set_by = o.set_by || d.set_by`;

/** What people said of a record and of its interfaces. */
async function keepWords(sql: Sql, siteId: string, { from, into }: Pair): Promise<void> {
  const params = [siteId, from, into];
  await sql.query(
    `UPDATE devices d SET monitor = d.monitor OR o.monitor, name_override = COALESCE(d.name_override, o.name_override),
       name = COALESCE(d.name_override, o.name_override, d.name),
       class_override = COALESCE(d.class_override, o.class_override),
       class = COALESCE(d.class_override, o.class_override, d.class), ${WORDS}
     FROM devices o WHERE o.site_id = $1::uuid AND o.id = $2::uuid AND d.site_id = $1::uuid AND d.id = $3::uuid
       AND (o.monitor OR o.name_override IS NOT NULL OR o.class_override IS NOT NULL OR o.thresholds IS NOT NULL OR o.own_text <> '')`,
    params,
  );
  await sql.query(
    `UPDATE interfaces d SET ${WORDS}
     FROM (${TWINS}) t JOIN interfaces o ON o.site_id = $1::uuid AND o.id = t.from
     WHERE d.site_id = $1::uuid AND d.id = t.into AND (o.own_text <> '' OR o.thresholds IS NOT NULL)`,
    params,
  );
}

/** What was merged into the record before is the receiver's now, too. */
async function rememberMerge(sql: Sql, siteId: string, { from, into }: Pair): Promise<void> {
  const params = [siteId, from, into];
  await sql.query(
    'UPDATE merged_devices SET into_id = $3::uuid WHERE site_id = $1::uuid AND into_id = $2::uuid',
    params,
  );
  await sql.query(
    `INSERT INTO merged_devices (site_id, id, into_id) VALUES ($1::uuid, $2::uuid, $3::uuid)
     ON CONFLICT (id, site_id) DO UPDATE SET into_id = excluded.into_id, at = excluded.at`,
    params,
  );
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
