/**
 * What ingest learned that is different from what was known: the one thing it tells to the rest of the server.
 * A closed list; each kind names what stood before and what stands now. Whether a change is worth an event, how bad
 * it is and which case it belongs to is decided by whoever receives it.
 */
import type { Sql } from '../kernel/sql.ts';

/** Whom a change is about. */
export interface About {
  siteId: string;
  /** When it was observed, Unix milliseconds by the server's clock. */
  at: number;
  /** Who observed it; null when a person or a rule did. */
  collectorId: string | null;
  /** Null only for what concerns no device: lost observations, a trap of an unknown source. */
  deviceId: string | null;
  deviceName: string;
  address: string | null;
  monitor: boolean;
}

type Nothing = Record<string, never>;
type Known = {
  name: string;
  address: string | null;
  class: string;
  vendor: string | null;
  model: string | null;
};
type Port = { deviceId: string; deviceName: string; ifIndex: number; port: string };
type Remote = { port: string; chassisId: string | null; sysName: string | null; remotePort: string | null };
type InterfaceState = { adminStatus: number | null; operStatus: number | null };
type InterfaceFacts = {
  name: string;
  ifIndex: number;
  alias: string | null;
  type: number | null;
  speedBps: number | null;
  macAddress: string | null;
};

/** Kind → what stood before, what stands now, and what more a reader needs. */
interface Kinds {
  'device.new': { before: Nothing; after: Known };
  /** Not answered in `missedScans` scans that covered its address. */
  'device.gone': { before: { lastSeen: number }; after: { missedScans: number } };
  'device.returned': { before: { goneAt: number }; after: Nothing };
  /** Management address. */
  'device.renumbered': { before: { address: string }; after: { address: string } };
  /** Seen behind another switch port. */
  'device.moved': { before: Port; after: Port };
  /** Same place and name, other hardware. */
  'device.swapped': {
    before: { serialNumber: string | null; model: string | null };
    after: { serialNumber: string | null; model: string | null };
  };
  /** Other version of the operating system; up or down. */
  'device.upgraded': { before: { osVersion: string }; after: { osVersion: string } };
  'device.restarted': { before: { bootedAt: number }; after: { bootedAt: number } };
  /** Other known fields; only those that had a value before. */
  'device.changed': { before: Record<string, string>; after: Record<string, string> };
  /** Two records proved to be one box; `before` is the record that no longer exists. */
  'device.merged': { before: { deviceId: string; name: string }; after: { reason: string } };
  /** A person said that a record is two boxes; `after` is the new record. */
  'device.split': { before: Nothing; after: { deviceId: string; name: string } };
  'device.down': { before: Nothing; after: { icmp: 'down' } };
  'device.up': { before: Nothing; after: { icmp: 'up' } };
  'device.snmp-lost': { before: Nothing; after: { reason: 'timeout' | 'auth-failed' } };
  'device.snmp-restored': { before: Nothing; after: Nothing };
  'interface.added': { before: Nothing; after: InterfaceFacts };
  'interface.removed': { before: InterfaceFacts; after: Nothing };
  'interface.changed': { before: Partial<InterfaceFacts>; after: Partial<InterfaceFacts> };
  /** IF-MIB ifAdminStatus, ifOperStatus numbers. */
  'interface.state': { before: InterfaceState; after: InterfaceState };
  'neighbour.changed': { before: Remote | Nothing; after: Remote | Nothing };
  /** An address answered as another device than before. */
  'address.moved': {
    before: { deviceId: string; deviceName: string };
    after: { deviceId: string; deviceName: string };
  };
  /** Two devices that are seen now claim one address of their own. */
  'address.conflict': { before: { deviceId: string; deviceName: string }; after: { reason: string } };
  /** Strong evidence contradicts strong evidence: nothing was merged. */
  'identity.conflict': {
    before: { deviceId: string; deviceName: string };
    after: { evidence: string; value: string; reason: string };
  };
  'trap.received': {
    before: Nothing;
    after: {
      source: string;
      trapOid: string;
      varbinds: { oid: string; type: string; value: string }[];
      dropped: number;
    };
  };
  /** A collector dropped observations because a bound was reached. */
  'observations.lost': {
    before: Nothing;
    after: { stream: string; from: number; to: number; count: number; reason: string };
  };
}

export type ChangeKind = keyof Kinds;
/** A change of one kind. `interfaceId` and `ifName` are there for kinds that begin with `interface.`. */
export type ChangeOf<Kind extends ChangeKind> = About & {
  kind: Kind;
  interfaceId?: string;
  ifName?: string;
} & Kinds[Kind];
export type Change = { [Kind in ChangeKind]: ChangeOf<Kind> }[ChangeKind];

/** Turns changes into events and cases, inside the transaction that stores what they speak of. */
export type RecordChanges = (sql: Sql, changes: readonly Change[]) => Promise<void>;
