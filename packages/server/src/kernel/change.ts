/**
 * What ingest, watch, scans and collectors found to be different: the one thing incidents are made of.
 * A change is a fact with its before and after; which changes matter, how much, and what ends them stands in
 * `incidents/kinds.ts`. Changes are handed to `record(sql, changes)` inside the transaction that stores them.
 */
import type { DeviceClass, DeviceStatus } from '@rollcall/shared/model';

interface Base<K extends string> {
  kind: K;
  siteId: string;
  /** When it was so, Unix milliseconds by the server's clock (collector time, corrected). */
  at: number;
}
interface OnDevice<K extends string> extends Base<K> {
  deviceId: string;
  /** Its shown name at that moment. */
  device: string;
}
interface OnInterface<K extends string> extends OnDevice<K> {
  interfaceId: string;
  interface: string;
  ifIndex: number;
}
interface OnCollector<K extends string> extends Base<K> {
  collectorId: string;
  collector: string;
}
/** A value that changed, both sides. */
interface Turned<T> {
  before: T;
  after: T;
}
export type ChangeValue = string | number | boolean | null | readonly (string | number)[];

/** Something that makes two devices look like one, or one like two. */
export interface EvidenceClaim {
  kind: string;
  value: string;
}
/** A far end as a neighbour protocol named it. */
export interface FarEnd {
  protocol: string;
  name: string | null;
  port: string | null;
  deviceId: string | null;
}

export type Change =
  // ── Inventory: found by scans ──
  | (OnDevice<'device.new'> & {
      after: { address: string | null; class: DeviceClass; vendor: string | null; model: string | null };
    })
  /** Not answered for as many scans of its addresses as the site's setting says. */
  | (OnDevice<'device.gone'> & { missedScans: number; lastSeen: number })
  | OnDevice<'device.returned'>
  /** Seen behind another switch port. */
  | (OnDevice<'device.moved'> &
      Turned<{ switchId: string | null; switch: string | null; port: string | null }>)
  /** Managed by another address. */
  | (OnDevice<'device.renumbered'> & Turned<{ address: string | null }>)
  /** The same place, another chassis. */
  | (OnDevice<'device.swapped'> & Turned<{ serialNumber: string | null }>)
  | (OnDevice<'device.upgraded'> & Turned<{ os: string | null; osVersion: string | null }>)
  /** Any other stored fact: one change per observation, the fields that differ on both sides. */
  | (OnDevice<'device.changed'> & Turned<Record<string, ChangeValue>>)
  | OnInterface<'interface.added'>
  | OnInterface<'interface.removed'>
  /** IF-MIB numbers: 1 up, 2 down, 3 testing … 7 lowerLayerDown; null when not reported. */
  | (OnInterface<'interface.state'> & Turned<{ adminStatus: number | null; operStatus: number | null }>)
  | (OnInterface<'interface.speed'> & Turned<{ speedBps: number | null; duplex?: string | null }>)
  /** Another far end on a port; null on one side when it appeared or went. */
  | (OnDevice<'neighbour.changed'> & {
      localPort: string | null;
      interfaceId: string | null;
    } & Turned<FarEnd | null>)
  /** Evidence that speaks for and against being one device: nothing was merged. */
  | (OnDevice<'identity.conflict'> & {
      otherId: string;
      other: string;
      reason: string;
      evidence: readonly EvidenceClaim[];
    })
  | (OnDevice<'identity.settled'> & { otherId: string })
  /** One address claimed by two devices at once. */
  | (OnDevice<'address.conflict'> & { address: string; otherId: string; other: string })
  | (OnDevice<'address.settled'> & { address: string })
  // ── Watch and traps ──
  | (OnDevice<'device.status'> & Turned<DeviceStatus>)
  | (OnDevice<'snmp.status'> & Turned<'ok' | 'timeout' | 'auth-failed' | null>)
  /** Boot times, Unix milliseconds. */
  | (OnDevice<'rebooted'> & Turned<number | null>)
  | (Base<'trap'> & {
      /** Null when no device of the site has the address. */
      deviceId: string | null;
      device: string;
      /** Set for linkDown and linkUp whose ifIndex is known. */
      interfaceId: string | null;
      interface: string | null;
      address: string;
      trapOid: string;
      /** Traps of this source that the collector dropped since its last one. */
      dropped: number;
      varbinds: readonly { oid: string; type: string; value: string }[];
    })
  // ── Collectors and scans ──
  | (OnCollector<'collector.offline'> & { reason: string; lastSeen: number })
  | OnCollector<'collector.online'>
  /** Observations lost for ever, counted exactly. */
  | (OnCollector<'collector.gap'> & { stream: string; count: number; reason: string })
  | (OnCollector<'collector.quarantined'> & { reason: string })
  /** An admin let it in again. */
  | OnCollector<'collector.restored'>
  /** Offset of its clock, milliseconds, at the moment it crossed the bound; `ok` when it is back inside. */
  | (OnCollector<'collector.clock'> & { offsetMs: number; ok: boolean })
  | (OnCollector<'collector.version'> & { software: string; ok: boolean })
  | (Base<'scan.failed'> & { scanId: string; targets: string; reason: string });

export type ChangeKind = Change['kind'];
export type ChangeOf<K extends ChangeKind> = Extract<Change, { kind: K }>;
