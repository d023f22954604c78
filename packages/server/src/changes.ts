/**
 * What was found to be different from what was known: the one thing that incidents are made of. A closed list; each
 * kind names what stood before and what stands now. Which changes matter, how much, and what ends them stands in
 * `incidents/kinds/kinds.ts`. Changes are handed to `recordChanges(sql, changes)` inside the transaction that stores them.
 */

import type { Threshold } from '@rollcall/shared/api/sites';
import type { SensorKind } from '@rollcall/shared/sensors';

interface On {
  siteId: string;
  /** When it was so, Unix milliseconds by the server's clock. */
  at: number;
}
/** Whom a change of the inventory is about. */
export interface About extends On {
  /** Who observed it; null when a person or a rule did. */
  collectorId: string | null;
  /** Null only for what concerns no device: lost observations, a trap of an unknown source. */
  deviceId: string | null;
  deviceName: string;
  address: string | null;
  monitor: boolean;
  /** There for kinds that begin with `interface.`. */
  interfaceId?: string;
  ifName?: string;
}

type Nothing = Record<string, never>;
interface Turn<Before, After = Before> {
  before: Before;
  after: After;
}
interface NewDevice {
  name: string;
  address: string | null;
  class: string;
  vendor: string | null;
  model: string | null;
}
interface Port {
  deviceId: string;
  deviceName: string;
  ifIndex: number;
  port: string;
}
interface Remote {
  port: string;
  chassisId: string | null;
  sysName: string | null;
  remotePort: string | null;
}
/** IF-MIB ifAdminStatus and ifOperStatus numbers. */
interface InterfaceState {
  adminStatus: number | null;
  operStatus: number | null;
}
interface InterfaceFacts {
  name: string;
  ifIndex: number;
  alias: string | null;
  type: number | null;
  speedBps: number | null;
  macAddress: string | null;
  /** half, full or unknown (EtherLike-MIB). */
  duplex: string | null;
  /** In which it is untagged. */
  vlan: number | null;
  mtu: number | null;
  description: string | null;
  /** Name of the aggregate (LAG) that it is a member of. */
  aggregate: string | null;
}
/** A piece of hardware (ENTITY-MIB entPhysicalTable). */
export interface Part {
  index: number;
  class: string;
  name: string | null;
  model: string | null;
  serialNumber: string | null;
  firmwareRevision: string | null;
}
export interface Vlan {
  vlan: number;
  name: string | null;
}
interface Measurement {
  of: Threshold;
  /** In the unit of the threshold. */
  value: number;
  /** The threshold that applies. */
  limit: number;
}
/** What sensors may have; kinds of events have these names. */
export const SENSOR_TROUBLES = [
  'hardware.failed',
  'sensor.critical',
  'sensor.warning',
  'power.on-battery',
  'storage.full',
  'memory.full',
  'processor.busy',
  'session.down',
] as const;
export type SensorTrouble = (typeof SENSOR_TROUBLES)[number];
interface UnhealthySensor {
  of: SensorTrouble;
  sensorId: string;
  name: string;
  kind: SensorKind;
  component: string;
  /** In the unit of the kind. */
  value: number | null;
  reason: string;
  /** Of a session: the address of its far end, where it is known. */
  peer?: string | null;
}
interface Hardware {
  serialNumber: string | null;
  /** A hardware address of it. */
  macAddress: string | null;
  model: string | null;
}
interface Named {
  deviceId: string;
  name: string;
}
interface Holder {
  deviceId: string;
  deviceName: string;
}
/** `address`: the one that it is about, which need not be where the device is managed. */
interface Contested {
  address: string;
}

/** Kinds that ingest and watch find. */
interface Observed {
  'device.new': Turn<Nothing, NewDevice>;
  /** Not answered in `missedScans` scans that covered its address. */
  'device.gone': Turn<{ lastSeen: number }, { missedScans: number }>;
  'device.returned': Turn<{ goneAt: number }, Nothing>;
  /** Management address. */
  'device.renumbered': Turn<{ address: string }>;
  /** Seen behind another switch port. */
  'device.moved': Turn<Port>;
  /** Same place and name, other hardware. */
  'device.swapped': Turn<Hardware>;
  /** Other version of the operating system; up or down. */
  'device.upgraded': Turn<{ osVersion: string }>;
  /** Its agent answers, and its collector does not read it. */
  'device.unread': Turn<Nothing, { reason: string }>;
  'device.restarted': Turn<{ bootedAt: number }>;
  /** Other known fields; only those that had a value before. */
  'device.changed': Turn<Record<string, string>>;
  /** Addresses that its agent lists: `before` those that went, `after` those that came. */
  'device.addresses': Turn<{ addresses: string[] }>;
  /** The same of its parts, by what they are. */
  'device.hardware': Turn<{ parts: Part[] }>;
  /** The same of its VLANs. */
  'device.vlans': Turn<{ vlans: Vlan[] }>;
  /** Two records proved to be one device; `before` is the record that no longer exists. */
  'device.merged': Turn<Named, { reason: string }>;
  /** A person said that a record is two devices; `after` is the new record. */
  'device.split': Turn<Nothing, Named>;
  /** `before` where its agent alone answered: it is asked seldom. */
  'device.down': Turn<Nothing | { snmp: 'ok' }, { icmp: 'down' }>;
  'device.up': Turn<Nothing, { icmp: 'up' }>;
  'device.snmp-lost': Turn<Nothing, { reason: 'timeout' | 'auth-failed' }>;
  'device.snmp-restored': Turn<Nothing>;
  'interface.added': Turn<Nothing, InterfaceFacts>;
  'interface.removed': Turn<InterfaceFacts, Nothing>;
  /** `taggedVlans`: of other VLANs than the untagged one, `before` those that it left, `after` those that it joined. */
  'interface.changed': Turn<Partial<InterfaceFacts> & { taggedVlans?: number[] }>;
  'interface.state': Turn<InterfaceState>;
  /** A measurement reached its threshold, or fell below what clears it. Of an interface there is `interfaceId`. */
  'measured.above': Turn<Nothing, Measurement>;
  'measured.below': Turn<Nothing, Measurement>;
  /** A sensor is judged warning or critical, or otherwise so than before. */
  'sensor.unhealthy': Turn<Nothing, UnhealthySensor>;
  /** It is so no more, or there is no such sensor any more. */
  'sensor.healthy': Turn<Nothing, { sensorId: string }>;
  'neighbour.changed': Turn<Remote | Nothing>;
  /** An address answered as another device than before. */
  'address.moved': Turn<Holder, Holder & Contested>;
  /** Two devices that are seen now claim one address of their own. */
  'address.conflict': Turn<Holder, Contested & { reason: string }>;
  /** Strong evidence contradicts strong evidence: nothing was merged. */
  'identity.conflict': Turn<
    Holder & { address: string | null },
    { evidence: string; value: string; reason: string }
  >;
  'trap.received': Turn<
    Nothing,
    {
      /** Source of the datagram. */
      source: string;
      /** The sender behind it, where the trap names another. */
      agentAddress?: string;
      trapOid: string;
      varbinds: { oid: string; type: string; value: string }[];
      /** Traps of this source that the collector dropped since its last one. */
      dropped: number;
    }
  >;
  /** A collector dropped observations because a bound was reached. */
  'observations.lost': Turn<
    Nothing,
    { stream: string; from: number; to: number; count: number; reason: string }
  >;
}

/** Kinds that the server finds about its own parts. */
interface Kept {
  'collector.offline': { collectorId: string; collectorName: string; lastSeen: number; reason: string };
  'collector.online': { collectorId: string; collectorName: string };
  /** A copied key, or what looks like one. */
  'collector.quarantined': { collectorId: string; collectorName: string; reason: string };
  /** It has another key from now on, because a person wanted it to. */
  'collector.key-changed': {
    collectorId: string;
    collectorName: string;
    /** Where it connected from. */
    address: string;
    /** Of the new key: SHA-256, hex. */
    fingerprint: string;
  };
  'collector.restored': { collectorId: string; collectorName: string };
  /** Its clock left the bound, or is back inside. */
  'collector.clock': { collectorId: string; collectorName: string; offsetMs: number; ok: boolean };
  /** It speaks an older protocol or version than this server wants, or no longer does. */
  'collector.version': { collectorId: string; collectorName: string; software: string; ok: boolean };
  /** What it observed waits for longer than it should, or no longer does. */
  'collector.backlog': {
    collectorId: string;
    collectorName: string;
    behindMs: number;
    waiting: number;
    ok: boolean;
  };
  /** It collects nothing, because it cannot keep anything; or goes on. */
  'collector.paused': { collectorId: string; collectorName: string; reason: string; ok: boolean };
  /** A check of a server process of itself. `server`: its host. */
  'server.checked': {
    server: string;
    check: 'disk' | 'certificate' | 'metrics';
    message: string;
    ok: boolean;
  };
  /** Readings of devices that the engine for time series does not have. */
  'samples.lost': { count: number; reason: string };
  'scan.failed': { scanId: string; targets: string; reason: string };
  /** A webhook or mail subscription failed twice in a row or more. */
  'subscription.failing': { subscriptionId: string; name: string; error: string };
  /** A webhook or mail subscription that failed for days was given up. */
  'subscription.disabled': { subscriptionId: string; name: string; reason: string };
}

export type ObservedKind = keyof Observed;
export type ChangeKind = ObservedKind | keyof Kept;
export type ChangeOf<K extends ChangeKind> = K extends ObservedKind
  ? About & { kind: K } & Observed[K]
  : K extends keyof Kept
    ? On & { kind: K } & Kept[K]
    : never;
export type Change = { [K in ChangeKind]: ChangeOf<K> }[ChangeKind];
