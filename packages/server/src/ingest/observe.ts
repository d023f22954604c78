/** One host or device observation into the world: identify, claim evidence, merge facts. No database, no clock. */
import { hash } from 'node:crypto';
import type { DeviceObservation, HostObservation } from '@rollcall/shared/observation';
import type { Classification, Classify } from './classification/classify.ts';
import type { DeviceFacts } from './classification/facts.ts';
import { claim, report } from './identity/claim.ts';
import {
  claims,
  deviceFingerprint,
  type Fingerprint,
  hostFingerprint,
  keyText,
  virtualMac,
} from './identity/fingerprint.ts';
import { type Decision, identify, type Run } from './identity/identify.ts';
import {
  displayName,
  hardwareOf,
  newDevice,
  otherSerial,
  type Seen,
  searchText,
  see,
} from './tables/merge.ts';
import { type DeviceRow, sameDevice } from './tables/rows.ts';
import {
  aboutDevice,
  current,
  knownAbout,
  list,
  putFacts,
  type Tracked,
  track,
  type World,
} from './world.ts';

/** An observation with what can be said of it without knowing anything else. */
export type Prepared =
  | { kind: 'host'; observation: HostObservation; print: Fingerprint; at: number }
  | {
      kind: 'device';
      observation: DeviceObservation;
      print: Fingerprint;
      at: number;
      /** What its own facts alone come to. */
      classified: Classification;
      /** Of what was received. */
      digest: string | undefined;
    };

export interface Rules {
  /** Of the set and of the code that applies it: what another id described is described anew. */
  id: string;
  classify: Classify;
}

export interface Observing {
  rules: Rules;
  collectorId: string;
  newId: (at: number) => string;
}

/** Null where what was observed stands for no device. */
export function prepareHost(observation: HostObservation, at: number): Prepared | null {
  const print = hostFingerprint(observation);
  return print && { kind: 'host', observation, print, at };
}
/** Null as above. */
export function prepareDevice(
  observation: DeviceObservation,
  at: number,
  rules: Rules,
  digest?: string,
): Prepared | null {
  const classified = rules.classify(factsOf(observation));
  const print = deviceFingerprint(observation, classified.serial);
  return print && { kind: 'device', observation, print, at, classified, digest };
}

const factsOf = (o: DeviceObservation): DeviceFacts => ({
  system: o.system,
  chassis: o.chassis,
  vendor: o.vendor,
});

/** Merges one observation into the world and answers the device it belongs to. */
export function observe(world: World, prepared: Prepared, context: Observing): Tracked {
  const { observation, print, at } = prepared;
  const decision = identify(print, at, knownAbout(world, print), runOf(prepared));
  const device = deviceOf(world, decision, at, context);
  // An absorbed record may hold this address: it is new to the device all the same.
  const knew = device.addresses.has(print.address);
  for (const other of decision.absorb)
    absorb(world, other.deviceId, device, other.reason, context.collectorId);
  const later = report(world, decision, device, at, context.collectorId);
  const seen = prepared.kind === 'host' ? seenHost(prepared, context) : seenDevice(prepared, context);
  seen.scanId = (observation.job && world.scans.get(observation.job)) ?? null;
  const before = device.row;
  const swapped = decision.reason === 'replaced' && isOtherHardware(world, device, print);
  if (swapped) forgetHardware(device, print);
  device.row = see(device.row, seen, knew);
  device.seen = { at, collectorId: context.collectorId };
  later.push(...claim(world, device, print, at));
  if (prepared.kind === 'device') {
    world.walks.set(prepared.observation.walk, device.row.id);
    for (const address of print.addresses) list(world, address, device.row.id, at);
    mergeFacts(device, prepared, context.rules);
  } else mergeHost(device, print, at, context.rules);
  finish(device);
  for (const tell of later) world.changes.push(tell());
  // A serial number on either side tells it with the row.
  if (swapped && !otherSerial(before, device.row))
    world.changes.push({
      ...aboutDevice(device, at, context.collectorId),
      ...{ kind: 'device.swapped', before: hardwareOf(before), after: hardwareOf(device.row) },
    });
  if (prepared.kind === 'host' && prepared.observation.unread !== undefined)
    world.changes.push({
      ...aboutDevice(device, at, context.collectorId),
      kind: 'device.unread',
      before: {},
      after: { reason: prepared.observation.unread },
    });
  device.row = {
    ...device.row,
    mergedAt: prepared.kind === 'device' ? at : before.mergedAt,
    received: receivedDevice(before, device.row, prepared),
  };
  world.relink ||= device.dirty.has('identity') || decision.absorb.length > 0;
  return device;
}

function runOf(prepared: Prepared): Run | null {
  const sysUpTime = prepared.kind === 'device' ? prepared.observation.system.sysUpTime : undefined;
  const { at } = prepared;
  return sysUpTime === undefined ? null : { bootedAt: at - sysUpTime * 10, readAt: at };
}

/**
 * Name and address are the device's and not one hardware address is: it was replaced. A pair that answers in turn at one
 * address is two devices of one record: that is told once of each.
 */
function isOtherHardware(world: World, device: Tracked, print: Fingerprint): boolean {
  const known = new Set(device.print?.macs);
  if (known.size === 0 || print.macs.length === 0 || print.macs.some((mac) => known.has(mac))) return false;
  const own = claims(print).filter(({ kind }) => kind === 'engine-id' || kind === 'mac-set');
  return !own.some((key) => world.holders.get(keyText(key)) === device.row.id);
}

/** What the hardware before said of itself is not kept where that of now says nothing. */
function forgetHardware(device: Tracked, print: Fingerprint): void {
  device.print = { ...print, hostname: device.print?.hostname ?? null };
  for (const group of ['chassis', 'vendor']) device.facts.delete(group);
}

/** What was received last of a device is its walk, until something else alters it. */
function receivedDevice(before: DeviceRow, after: DeviceRow, prepared: Prepared): DeviceRow['received'] {
  const { device: _, ...tables } = after.received;
  if (prepared.kind === 'device') return prepared.digest ? { ...tables, device: prepared.digest } : tables;
  return sameDevice(before, after) ? after.received : tables;
}

function deviceOf(world: World, decision: Decision, at: number, context: Observing): Tracked {
  const known = decision.deviceId ? world.devices.get(current(world, decision.deviceId)) : undefined;
  if (known) return known;
  const row = newDevice(world.siteId, context.newId(at), at);
  const device = track(null, row);
  world.devices.set(row.id, device);
  return device;
}

/** Another record proved to be this device. */
function absorb(world: World, otherId: string, into: Tracked, reason: string, collectorId: string): void {
  const other = world.devices.get(otherId);
  if (!other || other === into) return;
  world.devices.delete(otherId);
  world.absorbed.set(otherId, into.row.id);
  world.absorbing.add(otherId);
  for (const [key, holder] of world.holders) if (holder === otherId) world.holders.set(key, into.row.id);
  for (const claimed of world.claimed.values())
    if (claimed.deviceId === otherId) claimed.deviceId = into.row.id;
  for (const [walk, id] of world.walks) if (id === otherId) world.walks.set(walk, into.row.id);
  for (const address of other.addresses) into.addresses.add(address);
  for (const [address, devices] of world.listing) {
    const since = devices.get(otherId);
    if (since === undefined) continue;
    devices.delete(otherId);
    list(world, address, into.row.id, since);
  }
  if (other.stored === null) return;
  world.changes.push({
    ...aboutDevice(into, into.seen.at, collectorId),
    kind: 'device.merged',
    before: { deviceId: otherId, name: other.row.name },
    after: { reason },
  });
}

const seenHost = ({ observation: o, at }: Prepared & { kind: 'host' }, context: Observing): Seen => ({
  at,
  collectorId: context.collectorId,
  scanId: null,
  address: o.address,
  addresses: [],
  macAddress: o.mac && virtualMac(o.mac) ? undefined : o.mac,
  hostname: o.hostname,
  icmpReachable: o.rttMs === undefined ? undefined : o.rttMs !== null,
  snmpReachable: o.snmp === 'not-asked' ? undefined : o.snmp === 'answered',
  rttMs: o.rttMs ?? undefined,
});

const seenDevice = (
  { observation: o, print, at }: Prepared & { kind: 'device' },
  context: Observing,
): Seen => ({
  at,
  collectorId: context.collectorId,
  scanId: null,
  address: print.address,
  addresses: print.addresses,
  icmpReachable: o.rttMs === undefined ? undefined : o.rttMs !== null,
  snmpReachable: true,
  rttMs: o.rttMs ?? undefined,
  sysUpTime: o.system.sysUpTime,
  walk: o.walk,
  credentialId: o.credentialId,
  snmpVersion: o.snmpVersion,
  macAddress: print.chassis[0] ?? print.macs[0],
});

/** Adds what this walk read to what earlier ones read, and classifies the sum. */
function mergeFacts(
  device: Tracked,
  { observation: o, print, at, classified }: Prepared & { kind: 'device' },
  rules: Rules,
): void {
  const first = device.facts.size === 0;
  const { sysUpTime: _, ...system } = o.system;
  const stored = <T>(group: string): T | undefined => device.facts.get(group)?.data as T | undefined;
  const facts = {
    system: { ...stored<object>('system'), ...system },
    chassis: o.chassis.length > 0 ? o.chassis : (stored<DeviceFacts['chassis']>('chassis') ?? []),
    vendor: { ...stored<object>('vendor'), ...o.vendor },
  } as { -readonly [Group in keyof DeviceFacts]: DeviceFacts[Group] };
  const changed = [
    ...(['system', 'chassis', 'vendor'] as const).map((group) =>
      putFacts(device, group, facts[group], stableHash(facts[group]), at, true),
    ),
    putPrint(device, print, at),
  ];
  // For people, not for rules. A walk that could not read all says nothing of what it lacks.
  if (o.raw || (device.facts.has('raw') && !o.failed))
    putFacts(device, 'raw', o.raw ?? {}, stableHash(o.raw ?? {}), at, true);
  if (!changed.some(Boolean) && device.row.classifiedBy.rules === rules.id) return;
  device.row = describe(device.row, facts, first ? classified : rules.classify(facts), rules.id);
}

/** The row's described fields from its facts. */
export function describe(row: DeviceRow, facts: DeviceFacts, c: Classification, rulesId: string): DeviceRow {
  return {
    ...row,
    class: row.classOverride ?? c.class,
    vendor: c.vendor,
    model: c.model,
    os: c.os,
    osVersion: c.osVersion,
    serialNumber: c.serial,
    sysName: facts.system.sysName ?? null,
    sysDescr: facts.system.sysDescr ?? null,
    sysObjectId: facts.system.sysObjectId ?? null,
    location: facts.system.sysLocation ?? null,
    contact: facts.system.sysContact ?? null,
    classifiedBy: { ...c.by, class: c.by.class ? `${c.class}: ${c.by.class}` : c.class, rules: rulesId },
  };
}

/** A walk that could not read a part keeps what the last one read of it. */
function putPrint(device: Tracked, print: Fingerprint, at: number): boolean {
  const before = device.print;
  const keep = (now: string[], then: string[] | undefined) => (now.length > 0 ? now : (then ?? []));
  const next: Fingerprint = before?.snmp
    ? {
        ...print,
        address: device.row.address ?? print.address,
        addresses: keep(print.addresses, before.addresses),
        macs: keep(print.macs, before.macs),
        serials: keep(print.serials, before.serials),
        chassis: keep(print.chassis, before.chassis),
        engineId: print.engineId ?? before.engineId,
        lldpChassisId: print.lldpChassisId ?? before.lldpChassisId,
        sysName: print.sysName ?? before.sysName,
        sysObjectId: print.sysObjectId ?? before.sysObjectId,
        hostname: print.hostname ?? before.hostname,
      }
    : {
        ...print,
        address: device.row.address ?? print.address,
        hostname: print.hostname ?? before?.hostname ?? null,
      };
  device.print = next;
  return putFacts(device, 'identity', next, stableHash(next), at, true);
}

/** A host says nothing about an agent that was read before, but its name. */
function mergeHost(device: Tracked, print: Fingerprint, at: number, rules: Rules): void {
  const before = device.print;
  const { aliasOf: _, ...seen } = print;
  const next: Fingerprint = before?.snmp
    ? { ...before, hostname: print.hostname ?? before.hostname }
    : {
        ...seen,
        address: device.row.address ?? print.address,
        macs: [...new Set([...(before?.macs ?? []), ...print.macs])].slice(-8).sort(),
        hostname: print.hostname ?? before?.hostname ?? null,
      };
  device.print = next;
  const changed = putFacts(device, 'identity', next, stableHash(next), at, true);
  if (next.snmp || (!changed && device.row.classifiedBy.rules === rules.id)) return;
  const facts = hostFacts(next);
  device.row = describe(device.row, facts, rules.classify(facts), rules.id);
}

/** What classification may know of a host without an agent. */
export const hostFacts = (print: Fingerprint | null): DeviceFacts => ({
  system: {},
  chassis: [],
  vendor: {},
  host: { mac: print?.macs[0] ?? null, name: print?.hostname ?? null },
});

/** The device is managed at another of its addresses from now on. */
export function moveTo(device: Tracked, address: string, at: number): void {
  const { device: _, ...received } = device.row.received;
  device.row = { ...device.row, address, missedScans: 0, received };
  if (device.print) {
    device.print = { ...device.print, address };
    putFacts(device, 'identity', device.print, stableHash(device.print), at, true);
  }
  finish(device);
}

function finish(device: Tracked): void {
  const name = displayName(device.row, device.print?.hostname ?? null);
  const row = { ...device.row, name };
  device.row = {
    ...row,
    searchText: searchText(row, device.print?.macs ?? [], device.print?.addresses ?? []),
  };
}

/** Short hash of a value whose members always come in one order. */
export const hashOf = (value: unknown): string => hashText(JSON.stringify(value));
const hashText = (text: string): string => hash('sha1', text, 'base64url').slice(0, 22);

/** The same for what was read back from the database, which keeps members in an order of its own. */
const stableHash = (value: unknown): string => hashText(canonicalJson(value));

/** JSON with the members of every object in the order of their names. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
