/**
 * The event stream into the inventory: watched states, traps, losses. It decides nothing about identity, so it does not
 * queue behind a site's backlog of scans.
 */
import { isIP } from 'node:net';
import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { GapObservation, TrapObservation, WatchObservation } from '@rollcall/shared/observation';
import { linkTrap } from '@rollcall/shared/trap';
import type { Change } from '../changes.ts';
import type { Sql } from '../platform/db/sql.ts';
import { type Source, storeGap } from './gaps.ts';
import { moveTo } from './observe.ts';
import { type InterfaceRecord, noWrites } from './tables/rows.ts';
import { save } from './tables/save.ts';
import { watchedDevice, watchedInterface } from './watched.ts';
import { aboutDevice, emptyWorld, loadDevices, loadRows, type Tracked, type World } from './world.ts';

export type Happened =
  | { observation: WatchObservation; at: number }
  | { observation: TrapObservation; at: number }
  | { observation: GapObservation; at: number };

/**
 * Stores what happened and answers what changed by it, which devices and interfaces, and until when silences are settled.
 */
export async function storeHappened(
  sql: Sql,
  source: Source,
  happened: readonly Happened[],
): Promise<{
  changes: World['changes'];
  devices: string[];
  interfaces: string[];
  settled: number | null;
}> {
  const world = emptyWorld(source.siteId);
  const senderOf = await sendersOf(sql, source.siteId, happened);
  const subjects = happened.flatMap(({ observation: o }) =>
    o.kind === 'watch' ? [o.deviceId] : o.kind === 'trap' ? (senderOf(o) ?? []) : [],
  );
  const isAt = await addressesOf(sql, world, happened);
  await loadRows(sql, world, subjects);
  const ports = await readPorts(sql, source.siteId, happened, senderOf);
  for (const each of happened) {
    const { observation: o, at } = each;
    if (o.kind === 'watch') {
      const device = world.devices.get(o.deviceId);
      if (device && watch(world, device, o, at, source, ports) && isAt(o))
        moveTo(device, o.address ?? '', at);
    } else if (o.kind === 'trap')
      recordTrap(world, o, at, source, world.devices.get(senderOf(o) ?? ''), ports);
    else world.changes.push(...(await storeGap(sql, source, o, at)));
  }
  const writes = noWrites();
  const { changed } = ports;
  writes.interfaces.push(...changed);
  const devices = await save(sql, world, writes);
  await forgetHashes(sql, source.siteId, changed);
  return {
    changes: world.changes,
    devices,
    interfaces: changed.map(({ id }) => id),
    settled: settledBy(happened),
  };
}

/** On the server's clock, as the times of the reports are. */
function settledBy(happened: readonly Happened[]): number | null {
  const times = happened.flatMap(({ observation: o, at }) =>
    o.kind === 'watch' && o.settledUntil !== undefined ? [at - Math.max(0, o.at - o.settledUntil)] : [],
  );
  return times.length > 0 ? Math.max(...times) : null;
}

/**
 * Reads devices that are reported to answer at another address. What is answered tells whether the address of a report is
 * one of its device's, which is managed there from then on.
 */
async function addressesOf(
  sql: Sql,
  world: World,
  happened: readonly Happened[],
): Promise<(o: WatchObservation) => boolean> {
  const moved = happened.flatMap(({ observation: o }) =>
    o.kind === 'watch' && o.address !== undefined ? [o.deviceId] : [],
  );
  if (moved.length > 0) await loadDevices(sql, world, moved);
  return ({ deviceId, address, snmp }) => {
    const device = world.devices.get(deviceId);
    return (
      address !== undefined &&
      snmp === 'ok' &&
      device?.row.monitor === true &&
      device.row.address !== address &&
      device.addresses.has(address)
    );
  };
}

type SenderOf = (trap: TrapObservation) => string | undefined;

/**
 * Which device sent a trap: whose engine proved it, else whose address the trap names, else who answers at its source.
 * Addresses that stand for no device, as 127.0.0.1, are of nobody.
 */
async function sendersOf(sql: Sql, siteId: string, happened: readonly Happened[]): Promise<SenderOf> {
  const traps = happened.flatMap(({ observation: o }) => (o.kind === 'trap' ? [o] : []));
  if (traps.length === 0) return () => undefined;
  const addresses = traps.flatMap(({ address, agentAddress }) => [address, agentAddress ?? address]);
  const rows = await sql.query<{ address: string; device_id: string }>(
    `SELECT DISTINCT ON (a.address) host(a.address) AS address, a.device_id
     FROM device_addresses a
     LEFT JOIN evidence e ON e.site_id = a.site_id AND e.kind = 'address' AND e.value = host(a.address)
     WHERE a.site_id = $1::uuid AND a.address = ANY($2::inet[])
     ORDER BY a.address, (e.device_id = a.device_id) DESC NULLS LAST, a.last_seen DESC, a.device_id`,
    [siteId, [...new Set(addresses.filter((each) => isIP(each) > 0 && identifiesADevice(each, each)))]],
  );
  const engines = traps.flatMap(({ engineId }) => engineId ?? []);
  const proved =
    engines.length === 0
      ? []
      : await sql.query<{ value: string; device_id: string }>(
          `SELECT value, device_id FROM evidence WHERE site_id = $1::uuid AND kind = 'engine-id' AND value = ANY($2::text[])`,
          [siteId, [...new Set(engines)]],
        );
  const byAddress = new Map(rows.map((row) => [row.address, row.device_id]));
  const byEngine = new Map(proved.map((row) => [row.value, row.device_id]));
  return ({ address, agentAddress = '', engineId = '' }) =>
    byEngine.get(engineId) ?? byAddress.get(agentAddress) ?? byAddress.get(address);
}

/** The interfaces that watch and link traps speak of. */
async function readPorts(
  sql: Sql,
  siteId: string,
  happened: readonly Happened[],
  senderOf: SenderOf,
): Promise<Ports> {
  const wanted = happened.flatMap(({ observation: o }) => {
    if (o.kind === 'watch')
      return (o.interfaces ?? []).flatMap(({ ifIndex, aggregate }) =>
        [ifIndex, ...(aggregate ? [aggregate.ifIndex] : [])].map((index) => ({ device: o.deviceId, index })),
      );
    const index = o.kind === 'trap' ? linkTrap(o)?.ifIndex : undefined;
    const device = o.kind === 'trap' ? senderOf(o) : undefined;
    return index == null || device === undefined ? [] : [{ device, index }];
  });
  if (wanted.length === 0) return new Ports([]);
  // Of ports that are in other aggregates now, also those that they left: a change names both.
  const regrouped = happened.some(
    ({ observation: o }) =>
      o.kind === 'watch' && o.interfaces?.some(({ aggregate }) => aggregate !== undefined),
  );
  const told =
    'SELECT DISTINCT device, index FROM jsonb_to_recordset($2::jsonb) AS w(device uuid, index bigint)';
  const left = `UNION SELECT t.device, o.aggregate FROM (${told}) t JOIN interfaces o ON o.site_id = $1::uuid
    AND o.device_id = t.device AND o.if_index = t.index WHERE o.aggregate IS NOT NULL`;
  const rows = await sql.query<Record<string, unknown>>(
    `SELECT i.site_id AS "siteId", i.id, i.device_id AS "deviceId", i.if_index AS "ifIndex", i.name, i.description, i.alias,
       i.type, i.speed_bps AS "speedBps", i.mtu, i.mac_address AS "macAddress", i.admin_status AS "adminStatus",
       i.oper_status AS "operStatus", i.last_change AS "lastChange", i.last_up_at AS "lastUpAt", i.vlan, i.duplex, i.stp, i.aggregate,
       i.aggregate_active AS "aggregateActive", i.first_seen AS "firstSeen",
       i.last_seen AS "lastSeen", i.gone_at AS "goneAt"
     FROM (${told} ${regrouped ? left : ''}) w
     JOIN interfaces i ON i.site_id = $1::uuid AND i.device_id = w.device AND i.if_index = w.index
     ORDER BY i.id FOR UPDATE OF i`,
    [siteId, JSON.stringify(wanted)],
  );
  return new Ports(
    rows.map((raw) => {
      for (const [name, value] of Object.entries(raw)) if (value instanceof Date) raw[name] = value.getTime();
      return raw as unknown as InterfaceRecord;
    }),
  );
}

/** @returns whether the report counts. */
function watch(
  world: World,
  device: Tracked,
  o: WatchObservation,
  at: number,
  source: Source,
  ports: Ports,
): boolean {
  const watched = watchedDevice(device.row, o, at);
  if (!watched) return false;
  device.row = watched.row;
  device.seen = { at, collectorId: source.collectorId };
  const about = aboutDevice(device, at, source.collectorId);
  for (const transition of watched.transitions) world.changes.push({ ...about, ...transition });
  for (const seen of o.interfaces ?? []) {
    const port = ports.get(o.deviceId, seen.ifIndex);
    const moved = port && watchedInterface(port, seen, at, (index) => ports.get(o.deviceId, index)?.name);
    if (!moved) continue;
    ports.put(moved.row);
    const which = { interfaceId: port.id, ifName: port.name };
    for (const transition of moved.transitions)
      world.changes.push({ ...about, ...which, ...transition } as Change);
  }
  return true;
}

/** Interfaces that a batch speaks of, as they are and as they become. */
class Ports {
  readonly #rows = new Map<string, InterfaceRecord>();
  readonly #changed = new Map<string, InterfaceRecord>();

  constructor(rows: readonly InterfaceRecord[]) {
    for (const row of rows) this.#rows.set(`${row.deviceId}|${row.ifIndex}`, row);
  }

  get(deviceId: string, ifIndex: number): InterfaceRecord | undefined {
    return this.#rows.get(`${deviceId}|${ifIndex}`);
  }
  put(row: InterfaceRecord): void {
    this.#rows.set(`${row.deviceId}|${row.ifIndex}`, row);
    this.#changed.set(row.id, row);
  }
  get changed(): InterfaceRecord[] {
    return [...this.#changed.values()];
  }
}

/** The interface table of the last walk no longer equals what is stored: the next one is compared row by row. */
async function forgetHashes(sql: Sql, siteId: string, ports: readonly InterfaceRecord[]): Promise<void> {
  const ids = [...new Set(ports.map(({ deviceId }) => deviceId))].sort();
  if (ids.length === 0) return;
  await sql.query(
    `UPDATE device_facts SET hash = '' WHERE site_id = $1::uuid AND "group" = 'interfaces' AND hash <> ''
       AND device_id = ANY($2::uuid[])`,
    [siteId, ids],
  );
  await sql.query(
    `UPDATE sightings SET received = received - 'interfaces'
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND received ? 'interfaces'`,
    [siteId, ids],
  );
}

function recordTrap(
  world: World,
  o: TrapObservation,
  at: number,
  source: Source,
  device: Tracked | undefined,
  ports: Ports,
): void {
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
  const after = {
    source: o.address,
    ...(o.agentAddress === undefined ? {} : { agentAddress: o.agentAddress }),
    trapOid: o.trapOid,
    varbinds: o.varbinds,
    dropped: o.dropped ?? 0,
  };
  world.changes.push({ ...about, kind: 'trap.received', before: {}, after });
  // Written as it was told, so that a reading that differs is a change, and ends what the trap opened.
  const link = linkTrap(o);
  const port = device && link?.ifIndex != null ? ports.get(device.row.id, link.ifIndex) : undefined;
  const moved =
    port &&
    link &&
    watchedInterface(port, { ifIndex: port.ifIndex, ...LINK_STATES[link.state] }, at, () => undefined);
  if (moved) ports.put(moved.row);
}

/** IF-MIB numbers of what a link trap says. */
const LINK_STATES = {
  up: { adminStatus: 1, operStatus: 1 },
  down: { operStatus: 2 },
  shut: { adminStatus: 2, operStatus: 2 },
} as const;
