/** The other walked tables over the known ones: addresses, entities, neighbours. Pure. */
import { canonicalAddress } from '@rollcall/shared/ip';
import type { AddressRow, EntityRow, NeighbourRow } from '@rollcall/shared/observation';
import type { ChangeOf } from '../../changes.ts';
import type { AddressRecord, EntityRecord, NeighbourRecord } from './rows.ts';

export interface WalkedTable<Stored, Row> {
  siteId: string;
  deviceId: string;
  stored: readonly Stored[];
  seen: readonly Row[];
  complete: boolean;
  at: number;
}

export interface MergedTable<Stored> {
  write: Stored[];
  remove: Stored[];
}

const UNSET = new Set(['0.0.0.0', '::']);

/**
 * The agent's own addresses, loopback and link-local ones too: they are facts of its interfaces, though no evidence. One
 * that it no longer lists stays known while the device answers there.
 */
export function mergeAddresses(
  table: WalkedTable<AddressRecord, AddressRow> & { reached: (address: string) => boolean },
): MergedTable<AddressRecord> & { changes: TableChange[] } {
  const stored = new Map(table.stored.map((row) => [row.address, row]));
  const write: AddressRecord[] = [];
  const seen = new Set<string>();
  for (const row of table.seen) {
    const address = canonicalAddress(row.address);
    if (address === null || UNSET.has(address) || seen.has(address)) continue;
    seen.add(address);
    const before = stored.get(address);
    const after: AddressRecord = {
      siteId: table.siteId,
      deviceId: table.deviceId,
      address,
      prefixLength: row.prefixLength ?? before?.prefixLength ?? null,
      ifIndex: row.ifIndex ?? before?.ifIndex ?? null,
      origin: 'table',
      firstSeen: before?.firstSeen ?? table.at,
      lastSeen: table.at,
    };
    if (!before || differ(before, after, ['prefixLength', 'ifIndex', 'origin'])) write.push(after);
  }
  const remove: AddressRecord[] = [];
  for (const row of table.complete ? table.stored : []) {
    if (seen.has(row.address) || row.origin !== 'table') continue;
    if (table.reached(row.address))
      write.push({ ...row, origin: 'reached', ifIndex: null, lastSeen: table.at });
    else remove.push(row);
  }
  const known = table.stored.filter(({ origin }) => origin === 'table').map(({ address }) => address);
  const listed = new Set(known);
  const went = table.complete ? known.filter((address) => !seen.has(address)) : [];
  const came = [...seen].filter((address) => !listed.has(address));
  const changes = changeOf('device.addresses', known, { addresses: went }, { addresses: came });
  return { write, remove, changes };
}

type TableChange = {
  [Kind in 'device.addresses' | 'device.hardware']: Pick<ChangeOf<Kind>, 'kind' | 'before' | 'after'>;
}['device.addresses' | 'device.hardware'];

/** A change of a list, unless there was none before, or nothing differs. */
function changeOf<Kind extends string, Sides extends Record<string, readonly unknown[]>>(
  kind: Kind,
  known: readonly unknown[],
  before: Sides,
  after: Sides,
): { kind: Kind; before: Sides; after: Sides }[] {
  const differs = [before, after].some((side) => Object.values(side).some((list) => list.length > 0));
  return known.length > 0 && differs ? [{ kind, before, after }] : [];
}

const ENTITY_FIELDS = [
  'class',
  'name',
  'description',
  'model',
  'serial',
  'manufacturer',
  'hardwareRevision',
  'firmwareRevision',
  'softwareRevision',
  'parent',
  'position',
  'fru',
] as const;

/** Classes that come with a part, and are none by themselves unless they have a serial number. */
const NO_PARTS = new Set(['sensor', 'port', 'container', 'backplane', 'other', 'unknown']);
const isPart = ({ class: kind, serial }: EntityRecord): boolean => Boolean(serial) || !NO_PARTS.has(kind);
const partOf = (row: EntityRecord) => ({
  ...{ index: row.index, class: row.class, name: row.name, model: row.model },
  ...{ serialNumber: row.serial, firmwareRevision: row.firmwareRevision },
});

/** What of the parts went and came. By what they are: after a restart the same part may have another index. */
function partChanges(before: readonly EntityRecord[], after: readonly EntityRecord[]): TableChange[] {
  const whatOf = ({ index: _, ...what }: ReturnType<typeof partOf>) => JSON.stringify(what);
  const parts = (rows: readonly EntityRecord[]) => rows.filter(isPart).map(partOf);
  const without = (rows: ReturnType<typeof parts>, others: ReturnType<typeof parts>) => {
    const left = others.map(whatOf);
    return rows.filter((row) => {
      const i = left.indexOf(whatOf(row));
      if (i >= 0) left.splice(i, 1);
      return i < 0;
    });
  };
  const [was, is] = [parts(before), parts(after)];
  return changeOf('device.hardware', before, { parts: without(was, is) }, { parts: without(is, was) });
}

export function mergeEntities(
  table: WalkedTable<EntityRecord, EntityRow>,
): MergedTable<EntityRecord> & { changes: TableChange[] } {
  const stored = new Map(table.stored.map((row) => [row.index, row]));
  const write: EntityRecord[] = [];
  const seen = new Map(table.seen.map((row) => [row.index, row]));
  for (const row of seen.values()) {
    const before = stored.get(row.index);
    const after = {
      siteId: table.siteId,
      deviceId: table.deviceId,
      index: row.index,
      firstSeen: before?.firstSeen ?? table.at,
      lastSeen: table.at,
      ...Object.fromEntries(ENTITY_FIELDS.map((field) => [field, row[field] ?? before?.[field] ?? null])),
    } as EntityRecord;
    if (!before || differ(before, after, ENTITY_FIELDS)) write.push(after);
  }
  const remove = table.complete ? table.stored.filter((row) => !seen.has(row.index)) : [];
  const next = new Map(table.stored.map((row) => [row.index, row]));
  for (const { index } of remove) next.delete(index);
  for (const row of write) next.set(row.index, row);
  return { write, remove, changes: partChanges(table.stored, [...next.values()]) };
}

const NEIGHBOUR_FIELDS = [
  'ifIndex',
  'localPort',
  'chassisId',
  'portId',
  'portDescription',
  'sysName',
  'sysDescr',
  'platform',
] as const;

/** One row per far end: local port and remote chassis and port. */
export const neighbourKey = (row: NeighbourRow): string =>
  [row.ifIndex ?? row.localPort ?? '', chassisOf(row), row.portId ?? ''].join('|').slice(0, 500);

/** Why it may be silent and not gone: its device does not answer; its port is down, or came up a moment ago. */
export type KnownNeighbour = NeighbourRecord & { deviceDown?: boolean; portSilent?: boolean };

type NeighbourChange = Pick<ChangeOf<'neighbour.changed'>, 'kind' | 'before' | 'after' | 'ifName'>;

/** @returns `kept`: whether one is known still that the table lacks, because it is silent. Not so where its port has another, or where it is heard at another port. */
export function mergeNeighbours(
  table: WalkedTable<KnownNeighbour, NeighbourRow>,
): MergedTable<NeighbourRecord> & { changes: NeighbourChange[]; kept: boolean } {
  const idOf = (row: { protocol: string; key: string }) => `${row.protocol}|${row.key}`;
  const stored = new Map(table.stored.map((row) => [idOf(row), row]));
  const write: NeighbourRecord[] = [];
  const added: NeighbourRecord[] = [];
  const seen = new Set<string>();
  for (const row of table.seen) {
    const key = { protocol: row.protocol, key: neighbourKey(row) };
    if (seen.has(idOf(key))) continue;
    seen.add(idOf(key));
    const before = stored.get(idOf(key));
    const addresses = (row.addresses ?? []).flatMap((address) => canonicalAddress(address) ?? []).sort();
    const after = {
      siteId: table.siteId,
      deviceId: table.deviceId,
      ...key,
      ...Object.fromEntries(NEIGHBOUR_FIELDS.map((field) => [field, row[field] ?? before?.[field] ?? null])),
      capabilities: row.capabilities ?? before?.capabilities ?? [],
      addresses: addresses.length > 0 ? addresses : (before?.addresses ?? []),
      remoteDeviceId: before?.remoteDeviceId ?? null,
      remoteIfIndex: before?.remoteIfIndex ?? null,
      firstSeen: before?.firstSeen ?? table.at,
      lastSeen: table.at,
    } as NeighbourRecord;
    if (!before) added.push(after);
    if (
      !before ||
      differ(before, after, NEIGHBOUR_FIELDS) ||
      `${before.addresses} ${before.capabilities}` !== `${after.addresses} ${after.capabilities}`
    ) {
      write.push(after);
    }
  }
  const lacking = table.complete ? table.stored.filter((row) => !seen.has(idOf(row))) : [];
  // Behind a silent port it may be heard by a second cable, as before.
  const elsewhere = (row: KnownNeighbour) => (row.portSilent ? added : table.seen);
  const isKept = (row: KnownNeighbour) =>
    (row.portSilent || row.deviceDown) &&
    !added.some((other) => portOf(other) === portOf(row)) &&
    !elsewhere(row).some((other) => chassisOf(other) !== '' && chassisOf(other) === chassisOf(row));
  const remove = lacking.filter((row) => !isKept(row));
  const changes = table.stored.length === 0 ? [] : portChanges(remove, added);
  return { write, remove, changes, kept: remove.length < lacking.length };
}

const chassisOf = (row: Partial<Pick<NeighbourRecord, 'chassisId' | 'sysName'>> | NeighbourRow): string =>
  row.chassisId ?? row.sysName ?? '';
const portOf = (row: NeighbourRecord): string =>
  row.localPort ?? (row.ifIndex === null ? '' : `if${row.ifIndex}`);

/** A neighbour that leaves a port and one that comes to it are one change of that port. */
function portChanges(left: readonly NeighbourRecord[], came: readonly NeighbourRecord[]): NeighbourChange[] {
  const facts = (row: NeighbourRecord) => ({
    port: portOf(row),
    chassisId: row.chassisId,
    sysName: row.sysName,
    remotePort: row.portId,
  });
  const waiting = [...came];
  const changes: NeighbourChange[] = left.map((row) => {
    const i = waiting.findIndex((other) => portOf(other) === portOf(row) && other.protocol === row.protocol);
    const [other] = i < 0 ? [] : waiting.splice(i, 1);
    return {
      kind: 'neighbour.changed',
      ifName: portOf(row),
      before: facts(row),
      after: other ? facts(other) : {},
    };
  });
  for (const row of waiting) {
    changes.push({ kind: 'neighbour.changed', ifName: portOf(row), before: {}, after: facts(row) });
  }
  return changes;
}

const differ = <Row extends object>(a: Row, b: Row, fields: readonly (keyof Row)[]): boolean =>
  fields.some((field) => (a[field] ?? null) !== (b[field] ?? null));
