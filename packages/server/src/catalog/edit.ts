/** What people change about devices. */
import type { DeviceClass } from '@rollcall/shared/model';
import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope, searchable } from '../platform/db/list.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql, Transaction } from '../platform/db/sql.ts';
import { Problem } from '../platform/problem.ts';
import { conditionOf, type DeviceFilters, requireCollector } from './device-filter.ts';

/** Devices of one site. */
export interface SiteDevices {
  siteId: string;
  deviceIds: readonly string[];
}

/** What happens to the events of devices; incidents does it, within the same transaction. */
export interface EventActions {
  /** Nobody watches these devices any more: what only the watch would clear is closed. */
  onMonitoringStopped(sql: Sql, devices: SiteDevices, at: number): Promise<void>;
  /** These devices are about to be deleted: their live events are closed, their conditions forgotten. */
  onDevicesDeleted(sql: Sql, devices: SiteDevices, by: string, at: number): Promise<void>;
}

/** `undefined` leaves a field; null gives it back to discovery. */
interface DevicePatch {
  monitor?: 0 | 1 | undefined;
  name?: string | null | undefined;
  class?: DeviceClass | null | undefined;
}

/** Writes down what was done to a device, in the transaction of the deed. */
export type Note = (sql: Transaction, device: { id: string; siteId: string; name: string }) => Promise<void>;

/** Locks a device in scope and names it and its site; null where there is none. */
async function lockDevice(
  sql: Sql,
  id: string,
  scope: Scope,
): Promise<{ id: string; siteId: string; name: string; monitor: boolean } | null> {
  const p = new Parameters();
  const [row] = await sql.query<{ id: string; siteId: string; name: string; monitor: boolean }>(
    `SELECT d.id, d.site_id AS "siteId", d.name, d.monitor FROM devices d
     WHERE d.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)} FOR UPDATE`,
    p.values,
  );
  return row ?? null;
}

/**
 * Applies a patch. A given name is searchable at once; the name it replaces stays searchable until the device is seen
 * again. @returns the device's site, or null where the device does not exist or is not in scope.
 */
export async function patchDevice(
  db: Database,
  events: EventActions,
  { id, patch, scope, at, note }: { id: string; patch: DevicePatch; scope: Scope; at: number; note: Note },
): Promise<string | null> {
  return db.transaction(async (sql) => {
    const device = await lockDevice(sql, id, scope);
    if (!device) return null;
    const p = new Parameters();
    const set = [
      patch.monitor !== undefined && watched(`${p.add(patch.monitor === 1)}::boolean`),
      patch.name !== undefined && named(p, patch.name),
      patch.class !== undefined && classed(p, patch.class),
    ].filter(Boolean);
    await sql.query(
      `UPDATE devices d SET ${set.join(', ')} WHERE d.site_id = ${p.add(device.siteId)}::uuid AND d.id = ${p.add(id)}::uuid`,
      p.values,
    );
    const devices = { siteId: device.siteId, deviceIds: [id] };
    if (patch.monitor !== undefined && device.monitor !== (patch.monitor === 1))
      await forgetWatch(sql, device.siteId, [id]);
    if (patch.monitor === 0 && device.monitor) await events.onMonitoringStopped(sql, devices, at);
    await announce(sql, device.siteId, 'device', [id]);
    await note(sql, { ...device, name: patch.name ?? device.name });
    return device.siteId;
  });
}

/** The rule of the shown name: the operator's, else sysName, else reverse DNS, else the address (ingest/tables/merge.ts). */
function named(p: Parameters, name: string | null): string {
  if (name === null)
    return `name_override = NULL, name = coalesce(nullif(trim(d.sys_name), ''),
      (SELECT nullif(f.data ->> 'hostname', '') FROM device_facts f
        WHERE f.site_id = d.site_id AND f.device_id = d.id AND f."group" = 'identity'),
      host(d.address), d.id::text)`;
  const text = `${p.add(name)}::text`;
  return `name_override = ${text}, name = ${text},
    search_text = ${p.add(searchable(name))} || ' ' || d.search_text`;
}

/** What the rules said stays in `classified_by`; `reclassify` brings it back where an override goes. */
const classed = (p: Parameters, value: DeviceClass | null): string =>
  value === null
    ? 'class_override = NULL'
    : `class_override = ${p.add(value)}::text, class = ${p.add(value)}::text`;

/** Forgets a device; its events stay as history. @returns false where it does not exist or is not in scope. */
export async function deleteDevice(
  db: Database,
  events: EventActions,
  { id, scope, by, at, note }: { id: string; scope: Scope; by: string; at: number; note: Note },
): Promise<boolean> {
  return db.transaction(async (sql) => {
    const device = await lockDevice(sql, id, scope);
    if (!device) return false;
    const { siteId } = device;
    await events.onDevicesDeleted(sql, { siteId, deviceIds: [id] }, by, at);
    await sql.query(
      'UPDATE neighbours SET remote_device_id = NULL, remote_if_index = NULL WHERE site_id = $1::uuid AND remote_device_id = $2::uuid',
      [siteId, id],
    );
    await sql.query('DELETE FROM devices WHERE site_id = $1::uuid AND id = $2::uuid', [siteId, id]);
    await announce(sql, siteId, 'device', [id]);
    await note(sql, device);
    return true;
  });
}

/** Devices changed per transaction of a bulk change: a bound for how long rows stay locked. */
const BULK_ROWS = 10_000;

/**
 * Sets `monitor` on every device that a filter matches, in steps; a reader while it runs sees some done.
 * @throws Problem `conflict` when `expect` is given and another number matches; nothing was changed then.
 */
export async function bulkMonitor(
  db: Database,
  events: EventActions,
  {
    filter,
    monitor,
    expect,
    scope,
    at,
  }: { filter: DeviceFilters; monitor: 0 | 1; expect?: number | undefined; scope: Scope; at: number },
): Promise<{ matched: number; changed: number }> {
  const matched = await countDevices(db, filter, scope);
  if (expect !== undefined && expect !== matched)
    throw new Problem('conflict', `${matched} devices match, not ${expect}; nothing was changed`);
  let changed = 0;
  for (;;) {
    const step = await db.transaction((sql) => bulkStep(sql, events, { filter, monitor, scope, at }));
    changed += step;
    if (step < BULK_ROWS) return { matched, changed };
  }
}

async function countDevices(sql: Sql, filter: DeviceFilters, scope: Scope): Promise<number> {
  const p = new Parameters();
  const [row] = await sql.query<{ n: number }>(
    `SELECT count(*) AS n FROM devices d WHERE ${conditionOf(p, filter, scope)}`,
    p.values,
  );
  if (!row?.n) await requireCollector(sql, filter, scope);
  return row?.n ?? 0;
}

/** Assigns `monitor`; where that is a change, the watch has not spoken yet: `forgetWatch` besides. */
const watched = (monitor: string): string =>
  `monitor = ${monitor}, watched_snmp = CASE WHEN d.monitor = ${monitor} THEN d.watched_snmp END`;

const forgetWatch = (sql: Sql, siteId: string, deviceIds: readonly string[]): Promise<unknown> =>
  sql.query(
    `UPDATE sightings SET watched_at = NULL
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND watched_at IS NOT NULL`,
    [siteId, deviceIds],
  );

async function bulkStep(
  sql: Sql,
  events: EventActions,
  { filter, monitor, scope, at }: { filter: DeviceFilters; monitor: 0 | 1; scope: Scope; at: number },
): Promise<number> {
  const p = new Parameters();
  const where = conditionOf(p, filter, scope);
  const value = `${p.add(monitor === 1)}::boolean`;
  const changed = await sql.query<{ siteId: string; deviceIds: string[] }>(
    `WITH chosen AS (
       SELECT d.site_id, d.id FROM devices d WHERE ${where} AND d.monitor <> ${value}
       ORDER BY d.site_id, d.id LIMIT ${BULK_ROWS} FOR UPDATE),
     changed AS (
       UPDATE devices d SET ${watched(value)} FROM chosen
       WHERE d.site_id = chosen.site_id AND d.id = chosen.id RETURNING d.site_id, d.id)
     SELECT site_id AS "siteId", array_agg(id) AS "deviceIds" FROM changed GROUP BY site_id ORDER BY site_id`,
    p.values,
  );
  for (const devices of changed) {
    await forgetWatch(sql, devices.siteId, devices.deviceIds);
    if (monitor === 0) await events.onMonitoringStopped(sql, devices, at);
    await announce(sql, devices.siteId, 'device', devices.deviceIds);
  }
  return changed.reduce((sum, { deviceIds }) => sum + deviceIds.length, 0);
}
