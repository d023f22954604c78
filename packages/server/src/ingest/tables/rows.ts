/** Rows of the inventory as ingest holds them: times in Unix milliseconds, everything else as in the table. What is to be written of them. */
import type { RowsObservation, TableName } from '@rollcall/shared/observation';

/** A link that nothing confirms any more, and nothing contradicts either, stays known for so long. */
export const LINK_KEPT_MS = 30 * 24 * 3600_000;

/** What every look at a device writes, in a narrow row of its own (`sightings`). */
export interface Sighting {
  lastSeen: number;
  lastScanId: string | null;
  rttMs: number | null;
  walk: string | null;
  /** When an observation of it was last merged; null until then. */
  mergedAt: number | null;
  /** Digests of what was received last: `device`, and each table that came whole in one part. */
  received: Readonly<Record<string, string>>;
  /** When the last status report came; null until one has. Scans leave it alone. */
  watchedAt: number | null;
}

export interface SightingRow extends Sighting {
  siteId: string;
  deviceId: string;
}

/** A device with its sighting. */
export interface DeviceRow extends Sighting {
  siteId: string;
  id: string;
  collectorId: string | null;
  name: string;
  nameOverride: string | null;
  address: string | null;
  macAddress: string | null;
  class: string;
  classOverride: string | null;
  vendor: string | null;
  model: string | null;
  os: string | null;
  osVersion: string | null;
  serialNumber: string | null;
  sysName: string | null;
  sysDescr: string | null;
  sysObjectId: string | null;
  location: string | null;
  contact: string | null;
  classifiedBy: Record<string, string>;
  bootedAt: number | null;
  monitor: boolean;
  status: 'up' | 'down' | 'unknown';
  icmpReachable: boolean | null;
  snmpReachable: boolean | null;
  credentialId: string | null;
  snmpVersion: string | null;
  interfaceCount: number;
  firstSeen: number;
  missedScans: number;
  goneAt: number | null;
  searchText: string;
  /** What the watch said last of SNMP; null until it has. Scans leave it alone. */
  watchedSnmp: 'ok' | 'timeout' | 'auth-failed' | null;
}

const SIGHTING = new Set<string>([
  'lastSeen',
  'lastScanId',
  'rttMs',
  'walk',
  'mergedAt',
  'received',
  'watchedAt',
] satisfies (keyof Sighting)[]);

const sameIn = (a: DeviceRow, b: DeviceRow, wanted: (field: string) => boolean): boolean =>
  (Object.keys(b) as (keyof DeviceRow)[]).every(
    (field) =>
      !wanted(field) ||
      a[field] === b[field] ||
      (typeof b[field] === 'object' && JSON.stringify(a[field]) === JSON.stringify(b[field])),
  );
/** Whether a row needs no writing, its sighting apart. */
export const sameDevice = (a: DeviceRow, b: DeviceRow): boolean =>
  sameIn(a, b, (field) => !SIGHTING.has(field));
export const sameSighting = (a: DeviceRow, b: DeviceRow): boolean =>
  sameIn(a, b, (field) => SIGHTING.has(field));

export interface EvidenceRow {
  siteId: string;
  kind: string;
  value: string;
  deviceId: string;
  firstSeen: number;
  lastSeen: number;
}

export interface AddressRecord {
  siteId: string;
  deviceId: string;
  address: string;
  prefixLength: number | null;
  ifIndex: number | null;
  origin: 'table' | 'reached';
  firstSeen: number;
  lastSeen: number;
}

export interface InterfaceRecord {
  siteId: string;
  id: string;
  deviceId: string;
  ifIndex: number;
  name: string;
  description: string | null;
  alias: string | null;
  type: number | null;
  speedBps: number | null;
  mtu: number | null;
  macAddress: string | null;
  adminStatus: number | null;
  operStatus: number | null;
  lastChange: number | null;
  lastUpAt: number | null;
  vlan: number | null;
  /** half, full or unknown; null where nobody asked. */
  duplex: string | null;
  stp: string | null;
  aggregate: number | null;
  /** False where it is in no aggregate; null where nobody asked. */
  aggregateActive: boolean | null;
  firstSeen: number;
  lastSeen: number;
  goneAt: number | null;
}

export interface EntityRecord {
  siteId: string;
  deviceId: string;
  index: number;
  class: string;
  name: string | null;
  description: string | null;
  model: string | null;
  serial: string | null;
  manufacturer: string | null;
  hardwareRevision: string | null;
  firmwareRevision: string | null;
  softwareRevision: string | null;
  parent: number | null;
  position: number | null;
  fru: boolean | null;
  firstSeen: number;
  lastSeen: number;
}

export interface NeighbourRecord {
  siteId: string;
  deviceId: string;
  protocol: string;
  key: string;
  ifIndex: number | null;
  localPort: string | null;
  chassisId: string | null;
  portId: string | null;
  portDescription: string | null;
  sysName: string | null;
  sysDescr: string | null;
  platform: string | null;
  capabilities: string[];
  addresses: string[];
  remoteDeviceId: string | null;
  remoteIfIndex: number | null;
  firstSeen: number;
  lastSeen: number;
}

export interface FactsRow {
  siteId: string;
  deviceId: string;
  group: string;
  data: unknown;
  hash: string;
  seenAt: number;
  complete: boolean;
}

/** A part of a table whose last part is not here yet. */
export interface WalkPartRow {
  siteId: string;
  deviceId: string;
  tableName: MergedTable;
  part: number;
  walk: string;
  rows: unknown[];
}

/** Tables whose rows have a table of their own; the others are kept as facts, part by part. */
export const MERGED_TABLES = [
  'interfaces',
  'addresses',
  'entities',
  'neighbours',
] as const satisfies TableName[];
export type MergedTable = (typeof MERGED_TABLES)[number];

/** Groups of facts of a `device` observation; the table groups beside them keep only the hash of their last walk. */
export const DEVICE_GROUPS = ['system', 'chassis', 'vendor', 'identity'] as const;

/** What the tables of a batch come to; written by `writeTables`. */
export interface Writes {
  interfaces: InterfaceRecord[];
  lift: InterfaceRecord[];
  addresses: AddressRecord[];
  lostAddresses: AddressRecord[];
  entities: EntityRecord[];
  lostEntities: EntityRecord[];
  neighbours: NeighbourRecord[];
  lostNeighbours: NeighbourRecord[];
  lostFacts: { deviceId: string; group: string }[];
  /** Read again by monitoring, as they were. */
  seenFacts: { deviceId: string; group: string; at: number }[];
  parts: WalkPartRow[];
}

export const noWrites = (): Writes => ({
  interfaces: [],
  lift: [],
  addresses: [],
  lostAddresses: [],
  entities: [],
  lostEntities: [],
  neighbours: [],
  lostNeighbours: [],
  lostFacts: [],
  seenFacts: [],
  parts: [],
});

/** Rows of a walk, with the device that was walked. */
export interface Timed {
  device: string;
  observation: RowsObservation;
  at: number;
  /** Of what was received. */
  digest?: string | undefined;
}
