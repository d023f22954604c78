/** Samples as they wait for the end of their hour: one row per device and interval. */
import { createHash } from 'node:crypto';
import type { Annotations } from '@rollcall/shared/api/annotations';
import type { Threshold } from '@rollcall/shared/api/sites';
import { LEAST_SPEED_BPS, PORT_COUNTERS, type Samples } from '@rollcall/shared/samples';
import { type Change, SENSOR_TROUBLES } from '../changes.ts';
import { readSiteSettings } from '../platform/db/site-settings.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Measured, ReadPresent, StoredSamples } from '../ports.ts';
import { recordBacklog } from './backlog.ts';
import { readBaselines, readUsualPackets } from './baselines.ts';
import { OF_DEVICE } from './chunk.ts';
import { isLabelled, limitsOf, saidOf } from './limits/resolve.ts';
import { highestOf, type SampleData, seriesOfRows } from './row.ts';
import { type StoredSensors, storeSensors } from './sensors/store.ts';
import { sensorChanges } from './sensors/trouble.ts';
import { grouped } from './series.ts';
import { crossings } from './thresholds.ts';

const DAY_MS = 86_400_000;
/** Samples are taken so late, where they are kept for longer. */
const LATE_DAYS = 13;
/** A collector's clock is corrected; what still lies so far ahead is nonsense. */
export const AHEAD_MS = 60_000;

/** A device as its measurements are told. */
interface Owner {
  id: string;
  name: string;
  address: string | null;
  monitor: boolean;
  class: string;
  tags: string[];
  fields: Annotations['fields'];
  /** Its own, as stored. */
  thresholds: unknown;
}

/** An interface as samples are matched with it. */
interface Port {
  id: string;
  deviceId: string;
  name: string;
  ifIndex: number;
  speedBps: number | null;
  operStatus: number | null;
  tags: string[];
  fields: Annotations['fields'];
  /** Its own, as stored. */
  thresholds: unknown;
}

export interface HowSamplesAreKept {
  /** They are to be written to an engine for time series. */
  toEngine: boolean;
  /** So many days they are kept as they came. */
  sampleDays: number;
}

interface StoreContext extends HowSamplesAreKept {
  siteId: string;
  collectorId: string;
  now: number;
  readPresent: ReadPresent;
}

/** Stores samples of a collector's batch; those of devices that are no more are left out. */
export async function storeSamples(
  sql: Sql,
  measured: readonly Measured[],
  { siteId, collectorId, now, readPresent, toEngine, sampleDays }: StoreContext,
): Promise<StoredSamples> {
  // Their day is summarised again, which takes all of its samples: none of it may be deleted by now.
  const oldest = now - Math.min(LATE_DAYS, sampleDays - 1) * DAY_MS;
  const isTimely = ({ at }: Measured) => at > oldest && at < now + AHEAD_MS;
  const timely = measured.filter(isTimely);
  const refused = measured.filter((one) => !isTimely(one));
  if (timely.length === 0) return { changes: [], refused };
  const { known, sent, taken } = await ofDevices(sql, siteId, timely);
  const ports = await portsOf(sql, siteId, [...known.keys()]);
  const sensors = await storeSensors(sql, taken, { siteId, isLinkDown: linkDown(ports) });
  const rows = taken.map(({ observation, at }) =>
    rowOf(observation, at, { known: ports.get(observation.deviceId) ?? [], sensors }),
  );
  const stored = await insert(sql, siteId, rows, toEngine);
  // Not what is told of a record that was merged: its outages of that time are not known of the receiver.
  const measuredItself = taken.filter(
    ({ observation: { deviceId } }, i) =>
      stored.has(i) && known.get(deviceId)?.monitor && sent[i]?.observation.deviceId === deviceId,
  );
  await recordBacklog(sql, measuredItself, { siteId, collectorId });
  return {
    changes: [
      ...(await changesOf(sql, rows, { siteId, collectorId, readPresent, known, ports })),
      ...(await changesOfSensors(sql, sensors, { siteId, collectorId, readPresent, known, now })),
    ],
    refused: [...refused, ...sent.filter((_, i) => !stored.has(i))],
  };
}

/**
 * The devices that are there, their samples as they were sent, and as they are taken: what was measured of a record that is
 * merged by now is its receiver's.
 */
async function ofDevices(
  sql: Sql,
  siteId: string,
  measured: readonly Measured[],
): Promise<{ known: Map<string, Owner>; sent: Measured[]; taken: Measured[] }> {
  const asked = [...new Set(measured.map(({ observation }) => observation.deviceId))];
  const known = await readOwners(sql, siteId, asked);
  const missing = asked.filter((id) => !known.has(id));
  const merged = missing.length === 0 ? new Map<string, string>() : await receivers(sql, siteId, missing);
  if (merged.size > 0)
    for (const [id, owner] of await readOwners(sql, siteId, [...merged.values()])) known.set(id, owner);
  const ownerOf = ({ observation: { deviceId } }: Measured) => merged.get(deviceId) ?? deviceId;
  const sent = measured.filter((one) => known.has(ownerOf(one)));
  const taken = sent.map((one) => ({
    ...one,
    observation: { ...one.observation, deviceId: ownerOf(one) },
  }));
  return { known, sent, taken };
}

async function readOwners(sql: Sql, siteId: string, ids: readonly string[]): Promise<Map<string, Owner>> {
  const owners = await sql.query<Owner & Record<string, unknown>>(
    `SELECT id, name, host(address) AS address, monitor, class, tags, fields, thresholds FROM devices
     WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) ORDER BY id FOR KEY SHARE`,
    [siteId, ids],
  );
  return new Map(owners.map((owner) => [owner.id, owner]));
}

/** Into which records others were merged. */
async function receivers(sql: Sql, siteId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; into: string }>(
    'SELECT id, into_id AS into FROM merged_devices WHERE site_id = $1::uuid AND id = ANY($2::uuid[])',
    [siteId, ids],
  );
  return new Map(rows.map(({ id, into }) => [id, into]));
}

/** @returns places of the rows that are stored; of two with the same key the first is */
async function insert(
  sql: Sql,
  siteId: string,
  rows: readonly ReturnType<typeof rowOf>[],
  toEngine: boolean,
): Promise<Set<number>> {
  const keyOf = (device: string, at: Date | string, part: number) =>
    `${device} ${new Date(at).getTime()} ${part}`;
  const first = new Map<string, number>();
  for (const [i, { device, at, part }] of rows.entries()) {
    const key = keyOf(device, at, part);
    if (!first.has(key)) first.set(key, i);
  }
  const stored = await sql.query<{ device: string; at: Date; part: number }>(
    `INSERT INTO samples (site_id, device_id, at, part, over_ms, data, highest, unsent)
     SELECT $1::uuid, r.device, r.at, r.part, r.over, r.data, r.highest, nullif($3, false)
     FROM jsonb_to_recordset($2::jsonb) AS r(device uuid, at timestamptz, part int8, over int, data jsonb, highest jsonb)
     ON CONFLICT DO NOTHING RETURNING device_id AS device, at, part::float8 AS part`,
    [siteId, JSON.stringify([...first.values()].map((i) => rows[i])), toEngine],
  );
  return new Set(stored.flatMap(({ device, at, part }) => first.get(keyOf(device, at, part)) ?? []));
}

interface Context {
  siteId: string;
  collectorId: string;
  readPresent: ReadPresent;
  known: ReadonlyMap<string, Owner>;
  ports: ReadonlyMap<string, Port[]>;
}

/** Of monitored devices, what crosses a threshold. */
async function changesOf(
  sql: Sql,
  rows: readonly ReturnType<typeof rowOf>[],
  { siteId, collectorId, readPresent, known, ports }: Context,
): Promise<Change[]> {
  const settings = await readSiteSettings(sql, siteId);
  const isPresent = await readPresent(sql, siteId, [...known.keys()], Object.values(EXCEEDED));
  const present = (id: string) => new Set(THRESHOLDS.filter((of) => isPresent(EXCEEDED[of], id)));
  const unusualAt = await readBaselines(sql, siteId, {
    devices: [...known.keys()],
    ends: rows.map(({ at }) => Date.parse(at)),
  });
  const usualPackets = await readUsualPackets(sql, siteId, [...known.keys()]);
  const changes: Change[] = [];
  for (const [id, some] of grouped(rows, ({ device }) => device)) {
    const device = known.get(id);
    if (!device?.monitor) continue;
    const byId = new Map((ports.get(id) ?? []).map((port) => [port.id, port]));
    const ofDevice = (end: number) => limitsOf(saidOf(settings, device, undefined, unusualAt(id, end)));
    const ofPorts = limitsOf(saidOf(settings, device));
    const inOrder = some.map(({ at, over, data }) => ({ at: new Date(at), overMs: over, data }));
    for (const [seriesId, series] of seriesOfRows(inOrder)) {
      const isDevice = seriesId === OF_DEVICE;
      const port = byId.get(seriesId);
      const judged = { isUp: port?.operStatus === UP, usualPackets: usualPackets(id, seriesId) };
      const isSaid = port && (port.thresholds || isLabelled(settings, port));
      const own = isSaid ? limitsOf(saidOf(settings, device, port)) : ofPorts;
      const limits = isDevice ? ofDevice : () => own;
      const found = crossings(series, {
        ...(isDevice ? {} : { port: judged }),
        ...{ limits, present: present(isDevice ? id : seriesId) },
      });
      for (const { kind, at, ...after } of found)
        changes.push({
          ...{ kind, siteId, collectorId, at, before: {}, after },
          ...{ deviceId: id, deviceName: device.name, address: device.address, monitor: true },
          ...(isDevice ? {} : { interfaceId: seriesId, ifName: port?.name ?? '' }),
        });
    }
  }
  return changes;
}

/** Of monitored devices, which sensors are unhealthy, and which are no more. */
async function changesOfSensors(
  sql: Sql,
  { judged, gone }: StoredSensors,
  { siteId, collectorId, readPresent, known, now }: Omit<Context, 'ports'> & { now: number },
): Promise<Change[]> {
  const devices = [...new Set([...judged, ...gone].map(({ deviceId }) => deviceId))];
  if (devices.length === 0) return [];
  const isPresent = await readPresent(sql, siteId, devices, SENSOR_TROUBLES);
  return devices.flatMap((id) => {
    const device = known.get(id);
    if (!device?.monitor) return [];
    const { name: deviceName, address } = device;
    return sensorChanges(
      { siteId, collectorId, deviceId: id, deviceName, address, monitor: true },
      {
        judged: judged.filter(({ deviceId }) => deviceId === id),
        gone: gone.flatMap((one) => (one.deviceId === id ? [one.id] : [])),
        at: now,
      },
      (sensorId) => new Set(SENSOR_TROUBLES.filter((kind) => isPresent(kind, sensorId))),
    );
  });
}

/** The event of each threshold. */
const EXCEEDED: Readonly<Record<Threshold, string>> = {
  utilisation: 'interface.utilisation',
  errors: 'interface.errors',
  noTraffic: 'interface.no-traffic',
  loss: 'device.loss',
  latency: 'device.latency',
};
const THRESHOLDS = Object.keys(EXCEEDED) as Threshold[];

async function portsOf(sql: Sql, siteId: string, devices: readonly string[]): Promise<Map<string, Port[]>> {
  const rows = await sql.query<Port & Record<string, unknown>>(
    `SELECT id, device_id AS "deviceId", name, if_index AS "ifIndex", speed_bps AS "speedBps", oper_status AS "operStatus", tags, fields, thresholds
     FROM interfaces WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND gone_at IS NULL`,
    [siteId, devices],
  );
  return grouped(rows, ({ deviceId }) => deviceId);
}

/** IF-MIB ifOperStatus. */
const UP = 1;
const linkDown = (ports: ReadonlyMap<string, Port[]>) => (deviceId: string, ifIndex: number) => {
  const port = ports.get(deviceId)?.find((one) => one.ifIndex === ifIndex);
  return typeof port?.operStatus === 'number' && port.operStatus !== UP;
};

/** Tells apart the parts of a reading that has no interfaces: below -1, by its first sensor. */
function sensorPart(key: string): number {
  return -2 - createHash('sha256').update(key).digest().readUInt32BE(0);
}

function rowOf(
  { deviceId, overMs, ping, ports, sensors, gap, lagMs }: Samples,
  at: number,
  { known, sensors: stored }: { known: readonly Port[]; sensors: StoredSensors },
) {
  const data: SampleData = { ping: ping as SampleData['ping'], gap, lagMs };
  if (ports) {
    const port = matcher(known);
    const found = ports.ifIndex.map((ifIndex, i) => port(ports.name[i] ?? '', ifIndex));
    const kept = found.flatMap((one, i) => (one ? [{ one, i }] : []));
    data.ports = { id: kept.map(({ one }) => one.id), speedBps: kept.map(({ one }) => speedOf(one)) };
    for (const counter of PORT_COUNTERS) {
      const column = ports[counter];
      if (column) data.ports[counter] = kept.map(({ i }) => column[i] ?? null);
    }
    const { gap: gaps } = ports;
    if (gaps) data.ports.gap = kept.map(({ i }) => gaps[i] ?? null);
  }
  const valued = (sensors ?? []).flatMap(({ key, value }) => {
    const id = stored.idOf(deviceId, key);
    return id === undefined || value === undefined ? [] : [{ id, value }];
  });
  if (valued.length > 0)
    data.sensors = { id: valued.map(({ id }) => id), sensor: valued.map(({ value }) => value) };
  const part = Math.min(...(ports?.ifIndex ?? []), Number.MAX_SAFE_INTEGER);
  const first = sensors?.[0]?.key;
  const only = ping === undefined && first !== undefined ? sensorPart(first) : -1;
  return {
    device: deviceId,
    at: new Date(at).toISOString(),
    part: part === Number.MAX_SAFE_INTEGER ? only : part,
    over: overMs,
    data,
    highest: highestOf(data, overMs),
  };
}

/** Null: none that says anything. */
const speedOf = ({ speedBps }: Port): number | null =>
  speedBps !== null && speedBps >= LEAST_SPEED_BPS ? speedBps : null;

/** The interface that a sample is of: by its name, which stays when ifIndex moves; by ifIndex where names repeat or are none. */
function matcher(known: readonly Port[]): (name: string, ifIndex: number) => Port | undefined {
  const byName = grouped(known, ({ name }) => name);
  const byIndex = new Map(known.map((port) => [port.ifIndex, port]));
  return (name, ifIndex) => {
    const named = byName.get(name) ?? [];
    return named.length === 1
      ? named[0]
      : (named.find((port) => port.ifIndex === ifIndex) ?? byIndex.get(ifIndex));
  };
}
