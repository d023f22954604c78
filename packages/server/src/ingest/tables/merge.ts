/**
 * Known + seen → known next. Pure. What was not seen stays as it is: an empty, failed or partial walk blanks nothing.
 */
import type { Change, ChangeOf } from '../../changes.ts';
import { searchable } from '../../platform/db/list.ts';
import { placeholderSerial } from '../identity/fingerprint.ts';
import type { DeviceRow, Sighting } from './rows.ts';

/** What one observation says of a device; an absent member says nothing. */
export interface Seen {
  at: number;
  collectorId: string;
  scanId: string | null;
  address: string;
  /** The agent's own table, empty when unknown. */
  addresses: readonly string[];
  macAddress?: string | undefined;
  hostname?: string | undefined;
  icmpReachable?: boolean | undefined;
  snmpReachable?: boolean | undefined;
  rttMs?: number | undefined;
  /** Hundredths of a second. */
  sysUpTime?: number | undefined;
  walk?: string | undefined;
  credentialId?: string | undefined;
  snmpVersion?: string | undefined;
}

export const newDevice = (siteId: string, id: string, at: number): DeviceRow => ({
  siteId,
  id,
  collectorId: null,
  lastScanId: null,
  name: '',
  nameOverride: null,
  address: null,
  macAddress: null,
  class: 'unknown',
  classOverride: null,
  vendor: null,
  model: null,
  os: null,
  osVersion: null,
  serialNumber: null,
  sysName: null,
  sysDescr: null,
  sysObjectId: null,
  location: null,
  contact: null,
  classifiedBy: {},
  bootedAt: null,
  monitor: false,
  status: 'unknown',
  icmpReachable: null,
  snmpReachable: null,
  rttMs: null,
  credentialId: null,
  snmpVersion: null,
  interfaceCount: 0,
  firstSeen: at,
  lastSeen: at,
  missedScans: 0,
  goneAt: null,
  walk: null,
  mergedAt: null,
  received: {},
  searchText: '',
  watchedAt: null,
  watchedSnmp: null,
});

/** A later sight within this time and the same scan moves nothing: last_seen is not worth a row version. */
const SEEN_GRAIN_MS = 60_000;
/** Round trips are noise: a new one is kept only where it is another order. */
const rttMoved = (before: number | null, after: number): boolean =>
  before === null || after > before * 2 + 1 || after < before / 2 - 1;

/** What of a device being seen may alter. */
export type Sighted = Pick<
  DeviceRow,
  | Exclude<keyof Sighting, 'watchedAt'>
  | 'collectorId'
  | 'address'
  | 'macAddress'
  | 'icmpReachable'
  | 'snmpReachable'
  | 'bootedAt'
  | 'monitor'
  | 'status'
  | 'missedScans'
  | 'goneAt'
  | 'credentialId'
  | 'snmpVersion'
>;

/** What being seen does to a device; `known` tells whether the device already had that address. */
export function see<Row extends Sighted>(row: Row, seen: Seen, known: boolean): Row {
  const older = seen.at < row.lastSeen;
  const fresh =
    row.collectorId === null || seen.scanId !== row.lastScanId || seen.at - row.lastSeen >= SEEN_GRAIN_MS;
  const next: Row = { ...row, goneAt: null };
  if (!older && fresh) {
    next.lastSeen = seen.at;
    next.lastScanId = seen.scanId ?? row.lastScanId;
    next.collectorId = seen.collectorId;
  }
  next.address = managementAddress(row, seen, known);
  // Another address that answers says nothing of this one.
  if (next.address === seen.address) next.missedScans = 0;
  next.macAddress = seen.macAddress ?? row.macAddress;
  next.icmpReachable = seen.icmpReachable ?? row.icmpReachable;
  next.snmpReachable = seen.snmpReachable ?? row.snmpReachable;
  if (seen.rttMs !== undefined && rttMoved(row.rttMs, seen.rttMs)) next.rttMs = seen.rttMs;
  next.walk = seen.walk ?? row.walk;
  next.credentialId = seen.credentialId ?? row.credentialId;
  next.snmpVersion = seen.snmpVersion ?? row.snmpVersion;
  next.bootedAt = bootTime(row.bootedAt, seen.sysUpTime, seen.at);
  // A watched device is up or down by its watch.
  if (!row.monitor) next.status = 'up';
  return next;
}

/**
 * The address a device is managed by stays while nothing speaks against it; what a scan found as a whole is judged at its
 * end (`identity/main-address.ts`). It changes at once to one that is new to the device where its watch does not hear
 * the old one, and outside of a scan where its own table no longer lists that.
 */
function managementAddress(row: Sighted, seen: Seen, known: boolean): string {
  if (row.address === null || row.address === seen.address) return seen.address;
  if (!known && row.monitor && row.status === 'down' && seen.at > row.lastSeen) return seen.address;
  const left = seen.addresses.length > 0 && !seen.addresses.includes(row.address);
  return left && !known && seen.scanId === null ? seen.address : row.address;
}

/** sysUpTime wraps after 2³² hundredths of a second. */
const UPTIME_WRAP_MS = 2 ** 32 * 10;
/** Boot times this close together are of one start. */
const BOOT_TOLERANCE_MS = 120_000;

/** Boot time as it was, unless this sight proves another one: clocks drift, answers are late, counters wrap. */
export function bootTime(before: number | null, sysUpTime: number | undefined, at: number): number | null {
  if (sysUpTime === undefined) return before;
  const booted = at - sysUpTime * 10;
  return before !== null && isSameBoot(before, booted, at) ? before : booted;
}

/** Whether two readings tell of one boot, the later one's from a reading at that time. */
export function isSameBoot(before: number, booted: number, at: number): boolean {
  const tolerance = BOOT_TOLERANCE_MS + Math.max(0, at - before) / 5_000;
  const off = Math.abs(booted - before);
  // A wrapped counter looks like a boot exactly one period later.
  const rest = off % UPTIME_WRAP_MS;
  return off <= tolerance || (booted > before && Math.min(rest, UPTIME_WRAP_MS - rest) <= tolerance);
}

/** Shown name: the operator's, else sysName, else reverse DNS, else the address. */
export const displayName = (row: DeviceRow, hostname: string | null): string =>
  row.nameOverride || row.sysName?.trim() || hostname || row.address || row.id;

/** Most characters of the searched text: a trigram index pays for each. */
const SEARCH_CHARACTERS = 3000;
/** That many of them are for words at least; identifiers that leave room leave it to words. */
const SEARCH_WORDS = 1500;
/** Everything `search` looks through, lower case: words on the first line, then a line for each identifier. */
export function searchText(row: DeviceRow, macs: readonly string[], addresses: readonly string[]): string {
  const { name, sysName, vendor, model, os, location, sysDescr, address, serialNumber, macAddress } = row;
  const words = searchable([name, sysName, vendor, model, os, location, sysDescr].filter(Boolean).join(' '));
  const identifiers = [address, serialNumber, macAddress, ...macs.slice(0, 64), ...addresses.slice(0, 64)]
    .flatMap((each) => (each ? `\n${searchable(each)}` : []))
    .join('');
  const room = Math.max(SEARCH_WORDS, SEARCH_CHARACTERS - identifiers.length);
  return (words.slice(0, room) + identifiers).slice(0, SEARCH_CHARACTERS);
}

const FIELD_NAMES = {
  sysName: 'sysName',
  sysObjectId: 'sysObjectID',
  vendor: 'vendor',
  os: 'os',
  class: 'class',
  location: 'location',
  contact: 'contact',
} as const satisfies Partial<Record<keyof DeviceRow, string>>;

/** What is reported when a device's row goes from `before` (null: not known) to `after`. */
export function deviceChanges(
  before: DeviceRow | null,
  after: DeviceRow,
  about: { at: number; collectorId: string | null },
): Change[] {
  const whom = {
    siteId: after.siteId,
    at: about.at,
    collectorId: about.collectorId,
    deviceId: after.id,
    deviceName: after.name,
    address: after.address,
    monitor: after.monitor,
  };
  if (before === null) {
    const { name, address, vendor, model } = after;
    return [
      {
        ...whom,
        kind: 'device.new',
        before: {},
        after: { name, address, class: after.class, vendor, model },
      },
    ];
  }
  const changes: Change[] = [];
  if (before.goneAt !== null && after.goneAt === null) {
    changes.push({ ...whom, kind: 'device.returned', before: { goneAt: before.goneAt }, after: {} });
  }
  if (before.address !== null && after.address !== null && before.address !== after.address) {
    changes.push({
      ...whom,
      kind: 'device.renumbered',
      before: { address: before.address },
      after: { address: after.address },
    });
  }
  const swapped = otherSerial(before, after);
  if (swapped) {
    changes.push({
      ...whom,
      kind: 'device.swapped',
      before: hardwareOf(before),
      after: hardwareOf(after),
    });
  }
  if (before.osVersion && after.osVersion && before.osVersion !== after.osVersion) {
    changes.push({
      ...whom,
      kind: 'device.upgraded',
      before: { osVersion: before.osVersion },
      after: { osVersion: after.osVersion },
    });
  }
  if (before.bootedAt !== null && after.bootedAt !== null && after.bootedAt > before.bootedAt) {
    changes.push({
      ...whom,
      kind: 'device.restarted',
      before: { bootedAt: before.bootedAt },
      after: { bootedAt: after.bootedAt },
    });
  }
  const other = fieldChanges(before, after, swapped);
  if (Object.keys(other.before).length > 0) changes.push({ ...whom, kind: 'device.changed', ...other });
  return changes;
}

/** By its serial number it is other hardware. */
export const otherSerial = (before: DeviceRow, after: DeviceRow): boolean =>
  isSerial(before.serialNumber) && isSerial(after.serialNumber) && before.serialNumber !== after.serialNumber;

export const hardwareOf = ({ serialNumber, macAddress, model }: DeviceRow) => ({
  serialNumber,
  macAddress,
  model,
});

const isSerial = (text: string | null): text is string => text !== null && !placeholderSerial(text);

function fieldChanges(
  before: DeviceRow,
  after: DeviceRow,
  swapped: boolean,
): Pick<ChangeOf<'device.changed'>, 'before' | 'after'> {
  const out = { before: {} as Record<string, string>, after: {} as Record<string, string> };
  const note = (word: string, a: string | null, b: string | null) => {
    if (!a || !b || a === b) return;
    out.before[word] = a;
    out.after[word] = b;
  };
  // Without an agent both were guessed, from hardware address and name; how soon the agent is heard is chance.
  const guessed = before.sysObjectId === null && after.sysObjectId !== null;
  for (const [field, word] of Object.entries(FIELD_NAMES) as [keyof typeof FIELD_NAMES, string][]) {
    if (field === 'class' && before.class === 'unknown') continue;
    if (guessed && (field === 'vendor' || field === 'class')) continue;
    note(word, before[field], after[field]);
  }
  if (!swapped) note('model', before.model, after.model);
  return out;
}
