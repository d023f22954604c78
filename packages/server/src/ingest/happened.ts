/**
 * The event stream into the inventory: watched states, traps, losses. It decides nothing about identity, so it does not
 * queue behind a site's backlog of scans.
 */
import type { GapObservation, TrapObservation, WatchObservation } from '@rollcall/shared/observation';
import type { Sql } from '../kernel/sql.ts';
import { bootTime } from './merge.ts';
import { aboutDevice } from './observe.ts';
import type { DeviceRow, InterfaceRecord } from './rows.ts';
import { sameRow, save } from './save.ts';
import { noWrites } from './walked.ts';
import { emptyWorld, loadDevices, type Tracked, type World } from './world.ts';

export type Happened =
  | { observation: WatchObservation; at: number }
  | { observation: TrapObservation; at: number }
  | { observation: GapObservation; at: number };

export interface Source {
  siteId: string;
  collectorId: string;
  epoch: string;
}

/** Stores what happened and answers what changed by it, and which devices and interfaces. */
export async function storeHappened(
  sql: Sql,
  source: Source,
  happened: readonly Happened[],
): Promise<{ changes: World['changes']; devices: string[]; interfaces: string[] }> {
  const world = emptyWorld(source.siteId);
  const senders = await sendersOf(sql, source.siteId, happened);
  const watched = happened.flatMap(({ observation: o }) => (o.kind === 'watch' ? [o.deviceId] : []));
  await loadDevices(sql, world, [...watched, ...senders.values()]);
  const ports = await readPorts(sql, source.siteId, happened);
  const changed = new Set<InterfaceRecord>();
  for (const each of happened) {
    const { observation: o, at } = each;
    if (o.kind === 'watch') {
      const device = world.devices.get(o.deviceId);
      if (device) watch(world, device, o, at, source, ports, changed);
    } else if (o.kind === 'trap') tellTrap(world, o, at, source, senders);
    else await storeGap(sql, world, o, at, source);
  }
  const writes = noWrites();
  writes.interfaces.push(...changed);
  const devices = await save(sql, world, writes);
  await forgetHashes(sql, source.siteId, [...changed]);
  return { changes: world.changes, devices, interfaces: [...changed].map(({ id }) => id) };
}

/** Which device answers at the source of each trap. */
async function sendersOf(
  sql: Sql,
  siteId: string,
  happened: readonly Happened[],
): Promise<Map<string, string>> {
  const addresses = happened.flatMap(({ observation: o }) => (o.kind === 'trap' ? [o.address] : []));
  if (addresses.length === 0) return new Map();
  const rows = await sql.query<{ address: string; device_id: string }>(
    `SELECT DISTINCT ON (a.address) host(a.address) AS address, a.device_id
     FROM device_addresses a
     LEFT JOIN evidence e ON e.site_id = a.site_id AND e.kind = 'address' AND e.value = host(a.address)
     WHERE a.site_id = $1::uuid AND a.address = ANY($2::inet[])
     ORDER BY a.address, (e.device_id = a.device_id) DESC NULLS LAST, a.last_seen DESC, a.device_id`,
    [siteId, [...new Set(addresses)]],
  );
  return new Map(rows.map((row) => [row.address, row.device_id]));
}

/** Interfaces of the watched devices: `device|ifIndex` → row. */
async function readPorts(
  sql: Sql,
  siteId: string,
  happened: readonly Happened[],
): Promise<Map<string, InterfaceRecord>> {
  const wanted = happened.flatMap(({ observation: o }) =>
    o.kind === 'watch'
      ? (o.interfaces ?? []).map(({ ifIndex }) => ({ device: o.deviceId, index: ifIndex }))
      : [],
  );
  if (wanted.length === 0) return new Map();
  const rows = await sql.query<Record<string, unknown>>(
    `SELECT i.site_id AS "siteId", i.id, i.device_id AS "deviceId", i.if_index AS "ifIndex", i.name, i.description, i.alias,
       i.type, i.speed_bps AS "speedBps", i.mtu, i.mac_address AS "macAddress", i.admin_status AS "adminStatus",
       i.oper_status AS "operStatus", i.last_change AS "lastChange", i.vlan, i.first_seen AS "firstSeen",
       i.last_seen AS "lastSeen", i.gone_at AS "goneAt"
     FROM (SELECT DISTINCT device, index FROM jsonb_to_recordset($2::jsonb) AS w(device uuid, index int)) w
     JOIN interfaces i ON i.site_id = $1::uuid AND i.device_id = w.device AND i.if_index = w.index
     ORDER BY i.id FOR UPDATE OF i`,
    [siteId, JSON.stringify(wanted)],
  );
  return new Map(
    rows.map((raw) => {
      for (const [name, value] of Object.entries(raw)) if (value instanceof Date) raw[name] = value.getTime();
      const row = raw as unknown as InterfaceRecord;
      return [`${row.deviceId}|${row.ifIndex}`, row];
    }),
  );
}

function watch(
  world: World,
  device: Tracked,
  o: WatchObservation,
  at: number,
  source: Source,
  ports: Map<string, InterfaceRecord>,
  changed: Set<InterfaceRecord>,
): void {
  const before = device.row;
  device.row = watchedRow(before, o, at);
  device.seen = { at, collectorId: source.collectorId };
  const about = aboutDevice(device, at, source.collectorId);
  if (o.icmp === 'down' && before.icmpReachable !== false) {
    world.changes.push({ ...about, kind: 'device.down', before: {}, after: { icmp: 'down' } });
  }
  if (o.icmp === 'up' && before.icmpReachable === false) {
    world.changes.push({ ...about, kind: 'device.up', before: {}, after: { icmp: 'up' } });
  }
  if (o.snmp !== undefined && o.snmp !== 'ok' && before.snmpReachable !== false) {
    world.changes.push({ ...about, kind: 'device.snmp-lost', before: {}, after: { reason: o.snmp } });
  }
  if (o.snmp === 'ok' && before.snmpReachable === false) {
    world.changes.push({ ...about, kind: 'device.snmp-restored', before: {}, after: {} });
  }
  for (const state of o.interfaces ?? []) {
    const port = ports.get(`${o.deviceId}|${state.ifIndex}`);
    if (!port) continue;
    const was = { adminStatus: port.adminStatus, operStatus: port.operStatus };
    const now = {
      adminStatus: state.adminStatus ?? port.adminStatus,
      operStatus: state.operStatus ?? port.operStatus,
    };
    if (state.speedBps !== undefined && state.speedBps !== port.speedBps) {
      port.speedBps = Math.round(state.speedBps);
      changed.add(port);
    }
    if (was.adminStatus === now.adminStatus && was.operStatus === now.operStatus) continue;
    Object.assign(port, now, { lastSeen: at, lastChange: at, goneAt: null });
    changed.add(port);
    const which = { interfaceId: port.id, ifName: port.name };
    world.changes.push({ ...about, ...which, kind: 'interface.state', before: was, after: now });
  }
}

/** What a watch says of a device's row. Up is who answers anything; down is who was asked and answers nothing. */
function watchedRow(row: DeviceRow, o: WatchObservation, at: number): DeviceRow {
  const icmpReachable = o.icmp === undefined ? row.icmpReachable : o.icmp === 'up';
  const snmpReachable = o.snmp === undefined ? row.snmpReachable : o.snmp === 'ok';
  const up = o.icmp === 'up' || o.snmp === 'ok';
  const next: DeviceRow = {
    ...row,
    icmpReachable,
    snmpReachable,
    rttMs: o.rttMs ?? row.rttMs,
    bootedAt: bootTime(row.bootedAt, o.sysUpTime, at),
    status: up || icmpReachable || (o.icmp === undefined && snmpReachable) ? 'up' : 'down',
  };
  if (sameRow(row, next) && at - row.lastSeen < WATCH_GRAIN_MS) return row;
  return up ? { ...next, lastSeen: Math.max(at, row.lastSeen), missedScans: 0, goneAt: null } : next;
}
/** "Last seen" of a watched device that does not change is exact to this. */
const WATCH_GRAIN_MS = 5 * 60_000;

/** The interface table of the last walk no longer equals what is stored: the next one is compared row by row. */
async function forgetHashes(sql: Sql, siteId: string, ports: readonly InterfaceRecord[]): Promise<void> {
  const ids = [...new Set(ports.map(({ deviceId }) => deviceId))].sort();
  if (ids.length === 0) return;
  await sql.query(
    `UPDATE device_facts SET hash = '' WHERE site_id = $1::uuid AND "group" = 'interfaces' AND hash <> ''
       AND device_id = ANY($2::uuid[])`,
    [siteId, ids],
  );
}

function tellTrap(
  world: World,
  o: TrapObservation,
  at: number,
  source: Source,
  senders: ReadonlyMap<string, string>,
): void {
  const device = world.devices.get(senders.get(o.address) ?? '');
  const about = device
    ? aboutDevice(device, at, source.collectorId)
    : {
        siteId: source.siteId,
        at,
        collectorId: source.collectorId,
        deviceId: null,
        deviceName: '',
        address: o.address,
        monitor: false,
      };
  const after = { source: o.address, trapOid: o.trapOid, varbinds: o.varbinds, dropped: o.dropped ?? 0 };
  world.changes.push({ ...about, kind: 'trap.received', before: {}, after });
}

async function storeGap(
  sql: Sql,
  world: World,
  o: GapObservation,
  at: number,
  source: Source,
): Promise<void> {
  const rows = await sql.query(
    `INSERT INTO gaps (site_id, collector_id, epoch, stream, from_seq, to_seq, count, reason, at)
     VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING 1`,
    [
      source.siteId,
      source.collectorId,
      source.epoch,
      o.stream,
      o.fromSeq,
      o.toSeq,
      o.count,
      o.reason,
      new Date(at),
    ],
  );
  if (rows.length === 0) return;
  world.changes.push({
    siteId: source.siteId,
    at,
    collectorId: source.collectorId,
    deviceId: null,
    deviceName: '',
    address: null,
    monitor: false,
    kind: 'observations.lost',
    before: {},
    after: { stream: o.stream, from: o.fromSeq, to: o.toSeq, count: o.count, reason: o.reason },
  });
}
