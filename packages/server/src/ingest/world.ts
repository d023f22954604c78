/**
 * The part of a site that one batch touches, in memory: read at the start of the transaction, changed by one
 * observation after the other, written at its end. Later observations of a batch see what earlier ones decided.
 */
import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { Observation } from '@rollcall/shared/observation';
import type { About, Change } from '../changes.ts';
import { arrayOf } from '../platform/db/arrays.ts';
import type { Sql } from '../platform/db/sql.ts';
import {
  type EvidenceKey,
  type Fingerprint,
  fingerprintOfHost,
  keyText,
  lookups,
} from './identity/fingerprint.ts';
import type { Candidate, Known, Run } from './identity/identify.ts';
import { DEVICE_GROUPS, type DeviceRow, type FactsRow } from './tables/rows.ts';

export interface FactsState {
  hash: string;
  seenAt: number;
  complete: boolean;
  /** Read only for the groups of a `device` observation. */
  data?: unknown;
}

/** A device in memory. */
export interface Tracked {
  /** As it is in the database; null until it is written. */
  stored: DeviceRow | null;
  row: DeviceRow;
  print: Fingerprint | null;
  facts: Map<string, FactsState>;
  /** Groups of facts to write. */
  dirty: Set<string>;
  /** Addresses it claims as evidence, as far as they are known here. */
  addresses: Set<string>;
  /** Time and collector of the last observation of this batch. */
  seen: { at: number; collectorId: string | null };
}

export interface World {
  siteId: string;
  devices: Map<string, Tracked>;
  /** `keyText` → device. */
  holders: Map<string, string>;
  /** Last time evidence was written. */
  evidenceSeen: Map<string, number>;
  /** Evidence to write. */
  claimed: Map<string, EvidenceKey & { deviceId: string; at: number }>;
  /** Address → devices whose own table names it, with the time since which it does. */
  listing: Map<string, Map<string, number>>;
  /** Walk → device. */
  walks: Map<string, string>;
  /** Job → scan. */
  scans: Map<string, string>;
  apart: Set<string>;
  /** Records that became part of another: id → where to, in order. */
  absorbed: Map<string, string>;
  /** Those of `absorbed` that are not written yet. */
  absorbing: Set<string>;
  /** Addresses whose device changed: the old one no longer answers there. */
  left: { deviceId: string; address: string }[];
  changes: Change[];
  /** Something that links are made of is new or differs. */
  relink: boolean;
}

type State = Extract<Observation, { kind: 'host' | 'device' | 'rows' }>;

/** One identity decision at a time per site, whichever server instance or collector: parallel writers queue here. */
export const lockSite = async (sql: Sql, siteId: string): Promise<void> => {
  await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended('identity:' || $1::text, 0))`, [siteId]);
};

/** Reads everything that deciding about `observations` may need, in a handful of statements whatever their number. */
export async function openWorld(
  sql: Sql,
  siteId: string,
  observations: readonly State[],
  prints: readonly Fingerprint[],
): Promise<World> {
  const world = emptyWorld(siteId);
  await Promise.resolve();
  const keys = new Map(prints.flatMap(lookups).map((key) => [keyText(key), key]));
  await readEvidence(sql, world, [...keys.values()]);
  const reached = [...new Set(prints.map((print) => print.address))];
  await readListing(sql, world, reached);
  await readWalks(sql, world, observations);
  const scans = await scansOf(
    sql,
    siteId,
    observations.flatMap((o) => o.job ?? []),
  );
  for (const [job, scan] of scans) world.scans.set(job, scan);
  await loadDevices(sql, world, [
    ...world.holders.values(),
    ...[...world.listing.values()].flatMap((devices) => [...devices.keys()]),
    ...world.walks.values(),
    ...observations.flatMap((o) => (o.kind === 'rows' && o.deviceId ? [o.deviceId] : [])),
  ]);
  await readDecisions(sql, world);
  return world;
}

export const emptyWorld = (siteId: string): World => ({
  siteId,
  devices: new Map(),
  holders: new Map(),
  evidenceSeen: new Map(),
  claimed: new Map(),
  listing: new Map(),
  walks: new Map(),
  scans: new Map(),
  apart: new Set(),
  absorbed: new Map(),
  absorbing: new Set(),
  left: [],
  changes: [],
  relink: false,
});

/** Key by key, off the index: left to join, PostgreSQL reads the evidence of the whole site for a thousand of them. */
async function readEvidence(sql: Sql, world: World, keys: readonly EvidenceKey[]): Promise<void> {
  if (keys.length === 0) return;
  const rows = await sql.query<EvidenceKey & { device_id: string; last_seen: Date }>(
    `SELECT e.kind, e.value, e.device_id, e.last_seen
     FROM unnest($2::text[], $3::text[]) AS k(kind, value)
     CROSS JOIN LATERAL (
       SELECT * FROM evidence e WHERE e.site_id = $1::uuid AND e.kind = k.kind AND e.value = k.value LIMIT 1) e`,
    [world.siteId, arrayOf('text', keys, 'kind'), arrayOf('text', keys, 'value')],
  );
  for (const row of rows) {
    world.holders.set(keyText(row), row.device_id);
    world.evidenceSeen.set(keyText(row), row.last_seen.getTime());
  }
}

async function readListing(sql: Sql, world: World, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const rows = await sql.query<{ address: string; device_id: string; first_seen: Date }>(
    `SELECT host(address) AS address, device_id, first_seen FROM device_addresses
     WHERE site_id = $1::uuid AND origin = 'table' AND address = ANY($2::inet[])`,
    [world.siteId, addresses],
  );
  for (const row of rows) list(world, row.address, row.device_id, row.first_seen.getTime());
}

/** Notes that a device names an address; the first time counts. */
export function list(world: World, address: string, deviceId: string, at: number): void {
  const devices = world.listing.get(address) ?? new Map<string, number>();
  world.listing.set(address, devices.set(deviceId, devices.get(deviceId) ?? at));
}

/** Walks of earlier batches. A walk that a newer one replaced is not found: its rows are not mixed in. */
async function readWalks(sql: Sql, world: World, observations: readonly State[]): Promise<void> {
  const here = new Set(observations.flatMap((o) => (o.kind === 'device' ? [o.walk] : [])));
  const rows = observations.flatMap((o) =>
    o.kind === 'rows' && !o.deviceId && !here.has(o.walk) ? [o] : [],
  );
  const of = (some: typeof rows) => [...new Set(some.map(({ walk }) => walk))];
  const found = async (statement: string, params: unknown[]) => {
    for (const { id, walk } of await sql.query<{ id: string; walk: string }>(statement, params))
      world.walks.set(walk, id);
  };
  if (rows.length > 0)
    await found(
      `SELECT DISTINCT v.device_id AS id, v.walk FROM device_addresses a
       JOIN sightings v ON v.site_id = a.site_id AND v.device_id = a.device_id
       WHERE a.site_id = $1::uuid AND a.address = ANY($2::inet[]) AND v.walk = ANY($3::uuid[])`,
      [world.siteId, [...new Set(rows.map(({ address }) => address))], of(rows)],
    );
  // No device is found by an address that stands for none.
  const placeless = rows.filter(({ address }) => !identifiesADevice(address, address));
  if (placeless.length > 0)
    await found(
      'SELECT device_id AS id, walk FROM sightings WHERE site_id = $1::uuid AND walk = ANY($2::uuid[])',
      [world.siteId, of(placeless)],
    );
}

/** Job → scan. */
export async function scansOf(
  sql: Sql,
  siteId: string,
  jobs: readonly string[],
): Promise<Map<string, string>> {
  if (jobs.length === 0) return new Map();
  const rows = await sql.query<{ id: string; scan_id: string }>(
    'SELECT id, scan_id FROM jobs WHERE id = ANY($1::uuid[]) AND site_id = $2::uuid',
    [[...new Set(jobs)], siteId],
  );
  return new Map(rows.map((row) => [row.id, row.scan_id]));
}

async function readDecisions(sql: Sql, world: World): Promise<void> {
  if (world.devices.size < 2) return;
  const rows = await sql.query<{ device_id: string; other_id: string }>(
    `SELECT device_id, other_id FROM identity_decisions
     WHERE site_id = $1::uuid AND verb = 'split' AND undone_at IS NULL AND device_id = ANY($2::uuid[])`,
    [world.siteId, [...world.devices.keys()]],
  );
  for (const row of rows) {
    world.apart.add(`${row.device_id}|${row.other_id}`);
    world.apart.add(`${row.other_id}|${row.device_id}`);
  }
}

/** Adds devices with their facts and addresses to the world. Unknown ids are left out. */
export async function loadDevices(sql: Sql, world: World, ids: readonly string[]): Promise<void> {
  const wanted = await loadRows(sql, world, ids);
  if (wanted.length === 0) return;
  const params = [world.siteId, wanted];
  const facts = await sql.query<Record<string, unknown>>(
    `SELECT device_id, "group", hash, seen_at, complete, CASE WHEN "group" = ANY($3::text[]) THEN data END AS data
     FROM device_facts WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[])`,
    [...params, [...DEVICE_GROUPS]],
  );
  for (const fact of facts) {
    const device = world.devices.get(fact.device_id as string);
    if (!device) continue;
    const state: FactsState = {
      hash: fact.hash as string,
      seenAt: (fact.seen_at as Date).getTime(),
      complete: fact.complete as boolean,
      ...(fact.data === null ? {} : { data: fact.data }),
    };
    device.facts.set(fact.group as string, state);
    if (fact.group === 'identity') device.print = fact.data as Fingerprint;
  }
  const addresses = await sql.query<{ device_id: string; value: string }>(
    `SELECT device_id, value FROM evidence WHERE site_id = $1::uuid AND kind = 'address' AND device_id = ANY($2::uuid[])`,
    params,
  );
  for (const row of addresses) world.devices.get(row.device_id)?.addresses.add(row.value);
}

/** Adds devices without what is known besides their rows: enough for what decides nothing about identity. */
export async function loadRows(sql: Sql, world: World, ids: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(ids)].filter((id) => !world.devices.has(id)).sort();
  if (wanted.length === 0) return [];
  // Locked in the order of the key: other writers of device rows wait or are waited for, never crosswise.
  const devices = await sql.query<Record<string, unknown>>(
    `SELECT d.*, v.last_seen, v.last_scan_id, v.rtt_ms, v.walk, v.merged_at, v.received, v.watched_at
     FROM devices d JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
     WHERE d.site_id = $1::uuid AND d.id = ANY($2::uuid[]) ORDER BY d.id FOR UPDATE`,
    [world.siteId, wanted],
  );
  for (const raw of devices) {
    const row = deviceRow(raw);
    world.devices.set(row.id, track(row, row));
  }
  return wanted;
}

export const track = (stored: DeviceRow | null, row: DeviceRow): Tracked => ({
  stored,
  row,
  print: null,
  facts: new Map(),
  dirty: new Set(),
  addresses: new Set(),
  seen: { at: row.lastSeen, collectorId: row.collectorId },
});

const TIMES = new Set(['booted_at', 'first_seen', 'last_seen', 'gone_at', 'watched_at', 'merged_at']);
/** Column → member. Kept: a batch has tens of thousands of values. */
const members = new Map<string, string>();
function memberOf(column: string): string {
  const known = members.get(column);
  if (known !== undefined) return known;
  const member = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  members.set(column, member);
  return member;
}

/** A row of `devices` as ingest holds it. */
function deviceRow(raw: Record<string, unknown>): DeviceRow {
  const out: Record<string, unknown> = {};
  for (const name in raw) {
    const value = raw[name];
    out[memberOf(name)] = value instanceof Date && TIMES.has(name) ? value.getTime() : value;
  }
  return out as unknown as DeviceRow;
}

/** The record that a device became, after merges of this batch. */
export function current(world: World, deviceId: string): string {
  let id = deviceId;
  for (let into = world.absorbed.get(id); into; into = world.absorbed.get(id)) id = into;
  return id;
}

/** The device of a walk, while no newer walk replaced it; of tables that monitoring read, the one that they name. */
export function walkedDevice(
  world: World,
  { walk, deviceId }: { walk: string; deviceId?: string | undefined },
): Tracked | undefined {
  const id = deviceId ?? world.walks.get(walk);
  const device = id === undefined ? undefined : world.devices.get(current(world, id));
  return deviceId !== undefined || device?.row.walk === walk ? device : undefined;
}

/** What is known about the devices that hold any evidence of a fingerprint. */
export function knownAbout(world: World, print: Fingerprint): Known {
  const lists = world.listing.get(print.address) ?? new Map<string, number>();
  const ids = new Set<string>(lists.keys());
  for (const key of lookups(print)) {
    const holder = key.kind === 'shared' ? undefined : world.holders.get(keyText(key));
    if (holder) ids.add(holder);
  }
  const candidates: Candidate[] = [];
  for (const id of new Set([...ids].map((each) => current(world, each)))) {
    const device = world.devices.get(id);
    if (!device) continue;
    const { row } = device;
    candidates.push({
      deviceId: id,
      print: device.print ?? fingerprintOfHost({ address: row.address ?? '', mac: row.macAddress }),
      firstSeen: row.firstSeen,
      lastSeen: row.lastSeen,
      lists: lists.has(id),
      addressCount: device.addresses.size,
      run: runOf(row),
    });
  }
  return { candidates, holders: world.holders, apart: world.apart };
}

/** How long its agent is known to have run. A ping proves nothing of it: something else may have the address. */
function runOf({ bootedAt, mergedAt, watchedSnmp, watchedAt }: DeviceRow): Run | null {
  const readAt = Math.max(mergedAt ?? 0, watchedSnmp === 'ok' ? (watchedAt ?? 0) : 0);
  return bootedAt === null || readAt === 0 ? null : { bootedAt, readAt };
}

/** Facts of one group: kept if new, and seen-at moved coarsely if the same. */
export function putFacts(
  device: Tracked,
  group: string,
  data: unknown,
  hash: string,
  at: number,
  complete: boolean,
): boolean {
  const before = device.facts.get(group);
  const same = before?.hash === hash && before.complete === complete;
  if (same && at - before.seenAt < FACTS_GRAIN_MS) return false;
  device.facts.set(group, { hash, seenAt: at, complete, data });
  device.dirty.add(group);
  return !same;
}
/** "Seen at" of unchanged facts is exact to this. */
const FACTS_GRAIN_MS = 6 * 3600_000;

export const factsRow = (device: Tracked, group: string): FactsRow | undefined => {
  const state = device.facts.get(group);
  if (!state) return undefined;
  const { hash, seenAt, complete } = state;
  return {
    siteId: device.row.siteId,
    deviceId: device.row.id,
    group,
    data: state.data ?? {},
    hash,
    seenAt,
    complete,
  };
};

/** Whom a change of a device is about. */
export const aboutDevice = (device: Tracked, at: number, collectorId: string | null): About => ({
  siteId: device.row.siteId,
  at,
  collectorId,
  deviceId: device.row.id,
  deviceName: device.row.name,
  address: device.row.address,
  monitor: device.row.monitor,
});
