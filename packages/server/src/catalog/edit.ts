/** What people change about devices. */
import { TAGS_MOST } from '@rollcall/shared/api/annotations';
import type { DeviceClass } from '@rollcall/shared/model';
import { requireFields } from '../platform/db/custom-fields.ts';
import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope, searchable } from '../platform/db/list.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql, Transaction } from '../platform/db/sql.ts';
import { Problem } from '../platform/problem.ts';
import {
  type AnnotationPatch,
  type Assignment,
  annotationAssignments,
  assign,
  type By,
  differs,
  setBy,
} from './annotations/sql.ts';
import { conditionOf, type DeviceFilters, requireKnown } from './device-filter.ts';

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
export interface DevicePatch extends Omit<AnnotationPatch, 'addTags' | 'removeTags'> {
  monitor?: 0 | 1 | undefined;
  name?: string | null | undefined;
  class?: DeviceClass | null | undefined;
}
/** What is set of many at once. */
export type BulkPatch = Pick<DevicePatch, 'monitor'> & Omit<AnnotationPatch, 'tags'>;

/** Writes down what was done to a device, in the transaction of the deed. */
export type Note = (sql: Transaction, device: { id: string; siteId: string; name: string }) => Promise<void>;

interface Locked {
  id: string;
  siteId: string;
  name: string;
  monitor: boolean;
}

/** Locks a device in scope and names it and its site; null where there is none. */
async function lockDevice(sql: Sql, id: string, scope: Scope): Promise<Locked | null> {
  const p = new Parameters();
  const [row] = await sql.query<Locked & Record<string, unknown>>(
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
  { id, patch, scope, by, note }: { id: string; patch: DevicePatch; scope: Scope; by: By; note: Note },
): Promise<string | null> {
  return db.transaction(async (sql) => {
    await requireFields(sql, 'device', patch.fields);
    const device = await lockDevice(sql, id, scope);
    if (!device) return null;
    await applyPatch(sql, events, { device, patch, by });
    await note(sql, { ...device, name: patch.name ?? device.name });
    return device.siteId;
  });
}

/** Writes a patch to a device that is locked. Its custom fields were checked. */
export async function applyPatch(
  sql: Sql,
  events: EventActions,
  { device, patch, by }: { device: Locked; patch: DevicePatch; by: By },
): Promise<void> {
  const { monitor } = patch;
  const p = new Parameters();
  const next = [
    ...(monitor === undefined ? [] : watched(`${p.add(monitor === 1)}::boolean`)),
    ...(patch.name === undefined ? [] : named(p, patch.name)),
    ...(patch.class === undefined ? [] : classed(p, patch.class)),
    ...annotationAssignments(p, 'd', patch),
  ];
  if (next.length === 0) return;
  const assignments = [...next, ...setBy(p, 'd', next, patch, by)];
  await sql.query(
    `UPDATE devices d SET ${assign(assignments)} WHERE d.site_id = ${p.add(device.siteId)}::uuid AND d.id = ${p.add(device.id)}::uuid`,
    p.values,
  );
  const devices = { siteId: device.siteId, deviceIds: [device.id] };
  if (monitor !== undefined && device.monitor !== (monitor === 1))
    await forgetWatch(sql, device.siteId, [device.id]);
  if (monitor === 0 && device.monitor) await events.onMonitoringStopped(sql, devices, by.at);
  await announce(sql, device.siteId, 'device', [device.id]);
}

/** The rule of the shown name: the operator's, else sysName, else reverse DNS, else the address (ingest/tables/merge.ts). */
function named(p: Parameters, name: string | null): Assignment[] {
  if (name === null)
    return [
      ['name_override', 'NULL'],
      [
        'name',
        `coalesce(nullif(trim(d.sys_name), ''),
      (SELECT nullif(f.data ->> 'hostname', '') FROM device_facts f
        WHERE f.site_id = d.site_id AND f.device_id = d.id AND f."group" = 'identity'),
      host(d.address), d.id::text)`,
      ],
    ];
  const text = `${p.add(name)}::text`;
  return [
    ['name_override', text],
    ['name', text],
    ['search_text', `${p.add(searchable(name))} || ' ' || d.search_text`],
  ];
}

/** What the rules said stays in `classified_by`; `reclassify` brings it back where an override goes. */
function classed(p: Parameters, value: DeviceClass | null): Assignment[] {
  if (value === null) return [['class_override', 'NULL']];
  const text = `${p.add(value)}::text`;
  return [
    ['class_override', text],
    ['class', text],
  ];
}

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

interface Bulk {
  filter: DeviceFilters;
  set: BulkPatch;
  scope: Scope;
  by: By;
}

/**
 * Changes every device that a filter matches, in steps; a reader while it runs sees some done.
 * @throws Problem `conflict` when `expect` is given and another number matches; nothing was changed then.
 */
export async function bulkChange(
  db: Database,
  events: EventActions,
  {
    expect,
    note,
    ...bulk
  }: Bulk & {
    expect?: number | undefined;
    /** Writes down how many were changed, in the transaction that changes them; not where none was. */
    note: (sql: Transaction, changed: number) => Promise<void>;
  },
): Promise<{ matched: number; changed: number }> {
  const matched = await countDevices(db, bulk);
  if (expect !== undefined && expect !== matched)
    throw new Problem('conflict', `${matched} devices match, not ${expect}; nothing was changed`);
  if (bulk.set.addTags) await requireRoomForTags(db, bulk);
  let changed = 0;
  for (;;) {
    const step = await db.transaction(async (sql) => {
      await requireFields(sql, 'device', bulk.set.fields);
      const devices = await bulkStep(sql, events, bulk);
      if (devices > 0) await note(sql, devices);
      return devices;
    });
    changed += step;
    if (step < BULK_ROWS) return { matched, changed };
  }
}

async function countDevices(sql: Sql, { filter, scope }: Bulk): Promise<number> {
  const p = new Parameters();
  const [row] = await sql.query<{ n: number }>(
    `SELECT count(*) AS n FROM devices d WHERE ${conditionOf(p, filter, scope)}`,
    p.values,
  );
  if (!row?.n) await requireKnown(sql, filter, scope);
  return row?.n ?? 0;
}

async function requireRoomForTags(
  sql: Sql,
  { filter, scope, set: { addTags, removeTags } }: Bulk,
): Promise<void> {
  const p = new Parameters();
  const where = conditionOf(p, filter, scope);
  const [tags] = annotationAssignments(p, 'd', { addTags, removeTags });
  const [full] = await sql.query<{ name: string }>(
    `SELECT d.name FROM devices d WHERE ${where} AND cardinality(${tags?.[1]}) > ${TAGS_MOST} LIMIT 1`,
    p.values,
  );
  if (full)
    throw new Problem('conflict', `${full.name} would have more than ${TAGS_MOST} tags; nothing was changed`);
}

/** Assigns `monitor`; where that is a change, the watch has not spoken yet: `forgetWatch` besides. */
const watched = (monitor: string): Assignment[] => [
  ['monitor', monitor],
  ['watched_snmp', `CASE WHEN d.monitor = ${monitor} THEN d.watched_snmp END`],
];

const forgetWatch = (sql: Sql, siteId: string, deviceIds: readonly string[]): Promise<unknown> =>
  sql.query(
    `UPDATE sightings SET watched_at = NULL
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND watched_at IS NOT NULL`,
    [siteId, deviceIds],
  );

async function bulkStep(sql: Sql, events: EventActions, { filter, set, scope, by }: Bulk): Promise<number> {
  const p = new Parameters();
  const where = conditionOf(p, filter, scope);
  const monitor = set.monitor === undefined ? 'd.monitor' : `${p.add(set.monitor === 1)}::boolean`;
  const next = [
    ...(set.monitor === undefined ? [] : watched(monitor)),
    ...annotationAssignments(p, 'd', set),
  ];
  const changed = await sql.query<{ siteId: string; deviceIds: string[]; switched: string[] }>(
    `WITH chosen AS (
       SELECT d.site_id, d.id, d.monitor <> ${monitor} AS switched FROM devices d WHERE ${where} AND ${differs('d', next)}
       ORDER BY d.site_id, d.id LIMIT ${BULK_ROWS} FOR UPDATE),
     changed AS (
       UPDATE devices d SET ${assign([...next, ...setBy(p, 'd', next, set, by)])} FROM chosen
       WHERE d.site_id = chosen.site_id AND d.id = chosen.id RETURNING d.site_id, d.id, chosen.switched)
     SELECT site_id AS "siteId", array_agg(id) AS "deviceIds", coalesce(array_agg(id) FILTER (WHERE switched), '{}') AS switched
     FROM changed GROUP BY site_id ORDER BY site_id`,
    p.values,
  );
  for (const { siteId, deviceIds, switched } of changed) {
    await forgetWatch(sql, siteId, switched);
    if (set.monitor === 0 && switched.length > 0)
      await events.onMonitoringStopped(sql, { siteId, deviceIds: switched }, by.at);
    await announce(sql, siteId, 'device', deviceIds);
  }
  return changed.reduce((sum, { deviceIds }) => sum + deviceIds.length, 0);
}
