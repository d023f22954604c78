/**
 * The tables of walks: parts are joined, a table is merged when its last part is here, and a table whose hash is the
 * one of the last complete walk is not even read.
 */
import type { TableName } from '@rollcall/shared/observation';
import type { Sql } from '../../platform/db/sql.ts';
import { receivedTable } from '../identity/unchanged.ts';
import { hashOf } from '../observe.ts';
import { aboutDevice, current, putFacts, type Tracked, type World } from '../world.ts';
import { keepPart } from './kept.ts';
import { type InterfaceChange, mergeInterfaces } from './merge-interfaces.ts';
import { type KnownNeighbour, mergeAddresses, mergeEntities, mergeNeighbours } from './merge-tables.ts';
import {
  type AddressRecord,
  type EntityRecord,
  type InterfaceRecord,
  LINK_KEPT_MS,
  MERGED_TABLES,
  type MergedTable,
  noWrites,
  type Timed,
  type WalkPartRow,
  type Writes,
} from './rows.ts';
import * as store from './store.ts';

/** One table of one device, all parts together. */
interface Walked {
  device: Tracked;
  table: TableName;
  rows: unknown[];
  complete: boolean;
  at: number;
  /** Of what was received, where the table came in one part. */
  digest: string | undefined;
}

const isMerged = (table: TableName): boolean => MERGED_TABLES.some((each) => each === table);
/** Tables that links are made of. */
const LINKING = new Set<TableName>(['interfaces', 'neighbours', 'fdb', 'arp']);

/** Merges the `rows` observations of a batch; reads what is stored and takes waiting parts away, writes nothing yet. */
export async function mergeTables(
  sql: Sql,
  world: World,
  observations: readonly Timed[],
  newId: (at: number) => string,
): Promise<Writes> {
  const writes = noWrites();
  const merged: Parts[] = [];
  for (const [device, parts] of byDevice(world, observations)) {
    for (const { observation, digest } of parts)
      device.row = { ...device.row, received: receivedTable(device.row.received, observation, digest) };
    for (const part of parts.filter(({ observation }) => !isMerged(observation.table))) {
      if (await keepPart(sql, world, device, part, writes))
        world.relink ||= LINKING.has(part.observation.table);
    }
    for (const table of MERGED_TABLES) {
      const list = parts.filter(({ observation }) => observation.table === table);
      if (list.length > 0) merged.push({ device, table, list });
    }
  }
  const whole = await joinParts(sql, world.siteId, merged, writes);
  const changed = whole.filter((walked) => !unchanged(walked));
  world.relink ||= changed.some(({ table }) => LINKING.has(table));
  await mergeInterfaceTables(sql, world, of(changed, 'interfaces'), writes, newId);
  await mergeOthers(sql, world, changed, writes);
  return writes;
}

const of = (walked: readonly Walked[], table: TableName): Walked[] =>
  walked.filter((each) => each.table === table);

function byDevice(world: World, timed: readonly Timed[]): Map<Tracked, Timed[]> {
  const map = new Map<Tracked, Timed[]>();
  for (const each of timed) {
    const device = world.devices.get(current(world, each.device));
    if (!device) continue;
    const list = map.get(device);
    if (list) list.push(each);
    else map.set(device, [each]);
  }
  return map;
}

/** The parts of one table of one device in this batch: of one walk, because a second one is merged in a round of its own. */
interface Parts {
  device: Tracked;
  table: MergedTable;
  list: Timed[];
}

/** Joins the parts of this batch with those that wait from earlier ones; what is still unfinished waits on. */
async function joinParts(
  sql: Sql,
  siteId: string,
  tables: readonly Parts[],
  writes: Writes,
): Promise<Walked[]> {
  const ended: (Parts & { last: Timed })[] = [];
  for (const { device, table, list } of tables) {
    const last = list.find(({ observation }) => observation.last);
    if (last) ended.push({ device, table, list, last });
    else
      for (const { observation: o } of list)
        writes.parts.push({
          siteId,
          deviceId: device.row.id,
          tableName: table,
          part: o.part,
          walk: o.walk,
          rows: o.rows,
        });
  }
  const waiting = await takeParts(sql, siteId, ended);
  return ended.map(({ device, table, list, last }): Walked => {
    const earlier = waiting.filter(
      (each) =>
        each.deviceId === device.row.id && each.tableName === table && each.walk === last.observation.walk,
    );
    const parts = new Map(
      [...earlier, ...list.map(({ observation }) => observation)].map((o) => [o.part, o.rows]),
    );
    const ordered = [...parts].sort(([a], [b]) => a - b);
    // A part that was dropped on its way makes the table one that was not seen whole.
    const gapless = ordered.length === last.observation.part + 1;
    return {
      device,
      table,
      rows: ordered.flatMap(([, rows]) => rows),
      complete: gapless && last.observation.complete === true,
      at: last.at,
      digest: parts.size === 1 ? last.digest : undefined,
    };
  });
}

/** Takes away what waits for the end of these tables, parts of older walks too. */
async function takeParts(sql: Sql, siteId: string, ended: readonly Parts[]): Promise<WalkPartRow[]> {
  const known = ended.filter(({ device }) => device.stored !== null);
  if (known.length === 0) return [];
  return sql.query<WalkPartRow & Record<string, unknown>>(
    `DELETE FROM walk_parts p USING unnest($2::uuid[], $3::text[]) AS r(id, name)
     WHERE p.site_id = $1::uuid AND p.device_id = r.id AND p.table_name = r.name
     RETURNING p.device_id AS "deviceId", p.table_name AS "tableName", p.part, p.walk, p.rows`,
    [siteId, known.map(({ device }) => device.row.id), known.map(({ table }) => table)],
  );
}

/** Notes that a table was walked; true when it is, row for row, the one of the last complete walk. */
function unchanged({ device, table, rows, complete, at, digest }: Walked): boolean {
  const hash = complete ? (digest ?? hashOf(rows)) : '';
  const before = device.facts.get(table);
  const same = complete && before?.complete === true && before.hash === hash;
  if (complete || rows.length > 0 || before) {
    putFacts(device, table, { rows: rows.length }, hash, at, complete);
  }
  return same || (!complete && rows.length === 0);
}

async function stored<Row extends { deviceId: string }>(
  sql: Sql,
  siteId: string,
  walked: readonly Walked[],
  statement: string,
  more: readonly unknown[] = [],
): Promise<Map<string, Row[]>> {
  const map = new Map<string, Row[]>();
  const ids = walked.filter(({ device }) => device.stored !== null).map(({ device }) => device.row.id);
  if (ids.length === 0) return map;
  const rows = await sql.query<Row & Record<string, unknown>>(statement, [siteId, ids, ...more]);
  for (const raw of rows) {
    const row = raw as Record<string, unknown>;
    for (const [name, value] of Object.entries(row)) if (value instanceof Date) row[name] = value.getTime();
    const list = map.get(raw.deviceId);
    if (list) list.push(raw);
    else map.set(raw.deviceId, [raw]);
  }
  return map;
}

const WHERE = 'WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[])';
const SEEN = 'first_seen AS "firstSeen", last_seen AS "lastSeen"';
const WHOM = 'site_id AS "siteId", device_id AS "deviceId"';

/** LLDP tells of a device every 30 s, and of one that is silent for 120 s more (IEEE 802.1AB). */
const UNTIL_HEARD_MS = 150_000;
/** That a port is down may be found so much later than that a cable is at another port: what is heard there since was moved. */
const FOUND_LATE_MS = 300_000;

async function mergeInterfaceTables(
  sql: Sql,
  world: World,
  walked: readonly Walked[],
  writes: Writes,
  newId: (at: number) => string,
): Promise<void> {
  const known = await stored<InterfaceRecord>(
    sql,
    world.siteId,
    walked,
    `SELECT ${WHOM}, id, if_index AS "ifIndex", name, description, alias, type, speed_bps AS "speedBps", mtu,
       mac_address AS "macAddress", admin_status AS "adminStatus", oper_status AS "operStatus",
       last_change AS "lastChange", last_up_at AS "lastUpAt", vlan, duplex, stp, aggregate, aggregate_active AS "aggregateActive", ${SEEN}, gone_at AS "goneAt" FROM interfaces ${WHERE}`,
  );
  for (const { device, rows, complete, at } of walked) {
    const merged = mergeInterfaces({
      siteId: world.siteId,
      deviceId: device.row.id,
      stored: known.get(device.row.id) ?? [],
      seen: rows as Parameters<typeof mergeInterfaces>[0]['seen'],
      complete,
      at,
      bootedAt: device.row.bootedAt,
      newId: () => newId(at),
    });
    writes.interfaces.push(...merged.write);
    writes.lift.push(...merged.lift);
    device.row = { ...device.row, interfaceCount: merged.count };
    report(world, device, at, merged.changes);
  }
}

function report(
  world: World,
  device: Tracked,
  at: number,
  changes: readonly (
    | InterfaceChange
    | ReturnType<typeof mergeNeighbours | typeof mergeAddresses | typeof mergeEntities>['changes'][number]
  )[],
): void {
  const about = aboutDevice(device, at, device.seen.collectorId);
  for (const change of changes) world.changes.push({ ...about, ...change });
}

async function mergeOthers(
  sql: Sql,
  world: World,
  changed: readonly Walked[],
  writes: Writes,
): Promise<void> {
  const base = ({ device, complete, at }: Walked) => ({
    siteId: world.siteId,
    deviceId: device.row.id,
    complete,
    at,
  });
  const addresses = of(changed, 'addresses');
  const knownAddresses = await stored<AddressRecord>(
    sql,
    world.siteId,
    addresses,
    `SELECT ${WHOM}, host(address) AS address, prefix_length AS "prefixLength", if_index AS "ifIndex", origin, ${SEEN}
     FROM device_addresses ${WHERE}`,
  );
  for (const walked of addresses) {
    const { write, remove, changes } = mergeAddresses({
      ...base(walked),
      stored: knownAddresses.get(walked.device.row.id) ?? [],
      seen: walked.rows as Parameters<typeof mergeAddresses>[0]['seen'],
      reached: (address) => walked.device.addresses.has(address),
    });
    writes.addresses.push(...write);
    writes.lostAddresses.push(...remove);
    report(world, walked.device, walked.at, changes);
  }
  const entities = of(changed, 'entities');
  const knownEntities = await stored<EntityRecord>(
    sql,
    world.siteId,
    entities,
    `SELECT ${WHOM}, index, class, name, description, model, serial, manufacturer,
       hardware_revision AS "hardwareRevision", firmware_revision AS "firmwareRevision",
       software_revision AS "softwareRevision", parent, position, fru, ${SEEN} FROM entities ${WHERE}`,
  );
  for (const walked of entities) {
    const { write, remove, changes } = mergeEntities({
      ...base(walked),
      stored: knownEntities.get(walked.device.row.id) ?? [],
      seen: walked.rows as Parameters<typeof mergeEntities>[0]['seen'],
    });
    writes.entities.push(...write);
    writes.lostEntities.push(...remove);
    report(world, walked.device, walked.at, changes);
  }
  const neighbours = of(changed, 'neighbours');
  const latest = Math.max(LINK_KEPT_MS, ...neighbours.map(({ at }) => at));
  const knownNeighbours = await stored<KnownNeighbour>(
    sql,
    world.siteId,
    neighbours,
    `SELECT ${WHOM}, protocol, key, if_index AS "ifIndex", local_port AS "localPort", chassis_id AS "chassisId",
       port_id AS "portId", port_description AS "portDescription", sys_name AS "sysName", sys_descr AS "sysDescr",
       platform, coalesce(capabilities, '{}') AS capabilities, addresses::text[] AS addresses, remote_device_id AS "remoteDeviceId",
       remote_if_index AS "remoteIfIndex", ${SEEN}, EXISTS (
         SELECT 1 FROM devices d JOIN sightings s ON s.site_id = d.site_id AND s.device_id = d.id
         WHERE d.site_id = n.site_id AND d.id = n.remote_device_id AND d.monitor AND d.status = 'down' AND s.last_seen > $4
       ) AS "deviceDown", EXISTS (
         SELECT 1 FROM interfaces i
         WHERE i.site_id = n.site_id AND i.device_id = n.device_id AND i.if_index = n.if_index AND i.gone_at IS NULL AND (
           i.oper_status = 1 AND i.last_change > $3
           OR i.oper_status IN (2, 6, 7) AND coalesce(i.last_up_at, i.last_change) > $4
           AND EXISTS (SELECT 1 FROM devices d WHERE d.site_id = n.site_id AND d.id = n.remote_device_id AND d.monitor)
           AND NOT EXISTS (
             SELECT 1 FROM neighbours o WHERE o.site_id = n.site_id AND o.remote_device_id = n.remote_device_id AND o.protocol <> 'fdb'
               AND (o.device_id, o.if_index) IS DISTINCT FROM (n.device_id, n.if_index) AND o.first_seen > i.last_change - $5 * interval '1 ms'))
       ) AS "portSilent"
     FROM neighbours n ${WHERE} AND protocol <> 'fdb'`,
    [new Date(latest - UNTIL_HEARD_MS), new Date(latest - LINK_KEPT_MS), FOUND_LATE_MS],
  );
  for (const walked of neighbours) {
    const { write, remove, changes, kept } = mergeNeighbours({
      ...base(walked),
      stored: knownNeighbours.get(walked.device.row.id) ?? [],
      seen: walked.rows as Parameters<typeof mergeNeighbours>[0]['seen'],
    });
    writes.neighbours.push(...write);
    writes.lostNeighbours.push(...remove);
    report(world, walked.device, walked.at, changes);
    if (kept) readAgain(walked);
  }
}

/** What is stored is not what the table says: the same table says something new when its neighbours answer again. */
function readAgain({ device, table, rows, complete, at }: Walked): void {
  const { [table]: _, ...received } = device.row.received;
  device.row = { ...device.row, received };
  putFacts(device, table, { rows: rows.length }, '', at, complete);
}

/** Writes what the merge came to. Devices must be written already. */
export async function writeTables(sql: Sql, siteId: string, writes: Writes): Promise<void> {
  const stays = new Set(writes.interfaces.map(({ id }) => id));
  await store.removeInterfaces(
    sql,
    siteId,
    writes.lift.flatMap(({ id }) => (stays.has(id) ? [] : [{ id }])),
  );
  await store.liftInterfaces(
    sql,
    siteId,
    writes.lift.flatMap(({ id }) => (stays.has(id) ? [id] : [])),
  );
  await store.writeInterfaces(sql, writes.interfaces);
  await store.removeAddresses(
    sql,
    siteId,
    writes.lostAddresses.map(({ deviceId, address, origin }) => ({ deviceId, address, origin })),
  );
  await store.writeAddresses(sql, writes.addresses);
  await store.removeEntities(
    sql,
    siteId,
    writes.lostEntities.map(({ deviceId, index }) => ({ deviceId, index })),
  );
  await store.writeEntities(sql, writes.entities);
  await store.removeNeighbours(
    sql,
    siteId,
    writes.lostNeighbours.map(({ deviceId, protocol, key }) => ({ deviceId, protocol, key })),
  );
  await store.writeNeighbours(sql, writes.neighbours);
  await store.removeFacts(sql, siteId, writes.lostFacts);
  await store.seeFacts(sql, siteId, writes.seenFacts);
  await store.writeWalkParts(sql, writes.parts);
}
