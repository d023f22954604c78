/**
 * A walked interface table over the known one. An interface is its name: when a reboot or a new card shifts the
 * indexes, ids follow the names, so history stays with the port.
 */
import type { InterfaceRow } from '@rollcall/shared/observation';
import type { ChangeOf } from '../../changes.ts';
import type { InterfaceRecord } from './rows.ts';

export interface InterfaceTable {
  siteId: string;
  deviceId: string;
  stored: readonly InterfaceRecord[];
  seen: readonly InterfaceRow[];
  /** The walk saw the whole table: what is missing is gone. */
  complete: boolean;
  at: number;
  /** Boot time of the device, to date ifLastChange. */
  bootedAt: number | null;
  newId: () => string;
}

type InterfaceChangeKind = 'interface.added' | 'interface.removed' | 'interface.changed' | 'interface.state';
/** A change without whom it is about, which the caller knows. */
export type InterfaceChange = {
  [Kind in InterfaceChangeKind]: Pick<ChangeOf<Kind>, 'kind' | 'before' | 'after' | 'interfaceId' | 'ifName'>;
}[InterfaceChangeKind];

export interface MergedInterfaces {
  /** Rows that are new or differ. */
  write: InterfaceRecord[];
  /** Stored rows whose index another row takes: lifted out before `write`. */
  lift: InterfaceRecord[];
  /** Interfaces that are there now. */
  count: number;
  changes: InterfaceChange[];
}

export function mergeInterfaces(table: InterfaceTable): MergedInterfaces {
  const seen = new Map(table.seen.map((row) => [row.ifIndex, row]));
  const pairs = match(table.stored, [...seen.values()]);
  const write: InterfaceRecord[] = [];
  const changes: InterfaceChange[] = [];
  const first = table.stored.length === 0;
  const kept = new Set<string>();
  const merged = pairs.map(([row, before]) => [before, next(table, row, before)] as const);
  const was = factsIn(table.stored);
  const is = factsIn([...table.stored, ...merged.map(([, after]) => after)]);
  for (const [before, after] of merged) {
    if (before) {
      kept.add(before.id);
      if (same(before, after)) continue;
      changes.push(...differences([before, was], [after, is]));
    } else if (!first) changes.push(added(after, is));
    write.push(after);
  }
  const gone = table.stored.filter((row) => !kept.has(row.id));
  const taken = new Set(write.map((row) => row.ifIndex));
  const indexOf = new Map(table.stored.map((row) => [row.id, row.ifIndex]));
  const moved = write.filter((row) => indexOf.has(row.id) && indexOf.get(row.id) !== row.ifIndex);
  // Gone for good where another interface has taken the index: (device, ifIndex) is unique.
  const displaced = gone.filter((row) => taken.has(row.ifIndex));
  let present = pairs.length;
  for (const row of gone) {
    const lost = displaced.includes(row);
    if (row.goneAt !== null) continue;
    if (!table.complete && !lost) {
      present += 1;
      continue;
    }
    changes.push({
      kind: 'interface.removed',
      interfaceId: row.id,
      ifName: row.name,
      before: was(row),
      after: {},
    });
    if (!lost) write.push({ ...row, goneAt: table.at });
  }
  return { write, lift: [...moved, ...displaced], count: present, changes };
}

/** Pairs every seen row with the stored one it continues. */
function match(
  stored: readonly InterfaceRecord[],
  seen: readonly InterfaceRow[],
): [InterfaceRow, InterfaceRecord | undefined][] {
  const byIndex = new Map(stored.map((row) => [row.ifIndex, row]));
  const byName = unique(stored, (row) => row.name);
  const seenNames = unique(seen, nameOf);
  const taken = new Set<string>();
  const take = (row: InterfaceRecord | undefined) => {
    if (!row || taken.has(row.id)) return undefined;
    taken.add(row.id);
    return row;
  };
  const result = new Map<InterfaceRow, InterfaceRecord | undefined>();
  // Same index and name first, then the name elsewhere, then a renamed interface at its old index.
  for (const row of seen) {
    const here = byIndex.get(row.ifIndex);
    if (here?.name === nameOf(row)) result.set(row, take(here));
  }
  for (const row of seen) {
    if (!result.get(row) && seenNames.has(nameOf(row))) result.set(row, take(byName.get(nameOf(row))));
  }
  for (const row of seen) {
    if (!result.get(row)) result.set(row, take(byIndex.get(row.ifIndex)));
  }
  return seen.map((row) => [row, result.get(row)]);
}

/** Rows by name, names that occur once only. */
function unique<Row>(rows: readonly Row[], name: (row: Row) => string): Map<string, Row> {
  const map = new Map<string, Row>();
  const twice = new Set<string>();
  for (const row of rows) {
    if (map.has(name(row))) twice.add(name(row));
    map.set(name(row), row);
  }
  for (const each of twice) map.delete(each);
  return map;
}

const nameOf = (row: InterfaceRow): string => row.ifName || row.ifDescr || `if${row.ifIndex}`;

/** An absent column keeps what is known; an empty text is a statement. */
const keep = <T>(seen: T | undefined, before: T | null | undefined): T | null =>
  seen === undefined ? (before ?? null) : seen === '' ? null : seen;

function next(
  table: InterfaceTable,
  row: InterfaceRow,
  before: InterfaceRecord | undefined,
): InterfaceRecord {
  // The watch spoke of it after this walk began: its states are the newer ones.
  const older = before !== undefined && before.goneAt === null && before.lastSeen > table.at;
  const state = (now: number | undefined, known: number | null | undefined) =>
    keep(older ? undefined : now, known);
  const operStatus = state(row.operStatus, before?.operStatus);
  const lastChange = changedAt(table, row, before);
  return {
    siteId: table.siteId,
    id: before?.id ?? table.newId(),
    deviceId: table.deviceId,
    ifIndex: row.ifIndex,
    name: row.ifName || row.ifDescr ? nameOf(row) : (before?.name ?? nameOf(row)),
    description: keep(row.ifDescr, before?.description),
    alias: keep(row.ifAlias, before?.alias),
    type: keep(row.ifType, before?.type),
    speedBps: keep(row.speedBps === undefined ? undefined : Math.round(row.speedBps), before?.speedBps),
    mtu: keep(row.mtu, before?.mtu),
    macAddress: keep(row.physAddress, before?.macAddress),
    adminStatus: state(row.adminStatus, before?.adminStatus),
    operStatus,
    lastChange,
    lastUpAt:
      upBetween(before, { operStatus, lastChange }, table.bootedAt) ??
      lastUp(before, operStatus, lastChange === before?.lastChange ? table.at : (lastChange ?? table.at)),
    vlan: before?.vlan ?? null,
    duplex: before?.duplex ?? null,
    stp: row.stp === undefined ? (before?.stp ?? null) : row.stp,
    aggregate: row.aggregate === undefined ? (before?.aggregate ?? null) : (row.aggregate?.ifIndex ?? null),
    aggregateActive:
      row.aggregate === undefined ? (before?.aggregateActive ?? null) : (row.aggregate?.active ?? false),
    firstSeen: before?.firstSeen ?? table.at,
    lastSeen: older ? before.lastSeen : table.at,
    goneAt: null,
  };
}

/**
 * When an interface was up last that both readings found down: its state changed since the one before, and not by a restart, at
 * which the state of every port changes.
 */
export function upBetween(
  before: Pick<InterfaceRecord, 'operStatus' | 'lastChange'> | undefined,
  now: Pick<InterfaceRecord, 'operStatus' | 'lastChange'>,
  bootedAt: number | null,
): number | null {
  if (!before || before.operStatus === UP || now.operStatus === UP) return null;
  if (before.lastChange === null || now.lastChange === null || bootedAt === null) return null;
  const isLater = now.lastChange > Math.max(before.lastChange, bootedAt + CHANGE_TOLERANCE_MS);
  return isLater ? now.lastChange : null;
}

/** When an interface was up last, where it went down by `at`. */
export const lastUp = (
  before: Pick<InterfaceRecord, 'operStatus' | 'lastUpAt'> | undefined,
  operStatus: number | null,
  at: number,
): number | null => (before?.operStatus === UP && operStatus !== UP ? at : (before?.lastUpAt ?? null));
/** ifOperStatus (IF-MIB). */
const UP = 1;

/** Computed times jitter with the boot time; a difference below this is none. */
const CHANGE_TOLERANCE_MS = 120_000;

function changedAt(
  table: InterfaceTable,
  row: InterfaceRow,
  before: InterfaceRecord | undefined,
): number | null {
  if (row.lastChange === undefined || table.bootedAt === null) return before?.lastChange ?? null;
  const at = table.bootedAt + row.lastChange * 10;
  if (at > table.at + CHANGE_TOLERANCE_MS) return before?.lastChange ?? null;
  const known = before?.lastChange;
  return known != null && Math.abs(at - known) <= CHANGE_TOLERANCE_MS ? known : at;
}

const COMPARED = [
  'ifIndex',
  'name',
  'description',
  'alias',
  'type',
  'speedBps',
  'mtu',
  'macAddress',
  'adminStatus',
  'operStatus',
  'lastChange',
  'vlan',
  'stp',
  'aggregate',
  'aggregateActive',
  'goneAt',
] as const satisfies (keyof InterfaceRecord)[];
const same = (a: InterfaceRecord, b: InterfaceRecord): boolean =>
  COMPARED.every((field) => a[field] === b[field]);

type Facts = ChangeOf<'interface.added'>['after'];
/** What is told of an interface, by the names of those that it stands among: indexes shift. */
const factsIn = (rows: readonly InterfaceRecord[]): ((row: InterfaceRecord) => Facts) => {
  const names = new Map(rows.map(({ ifIndex, name }) => [ifIndex, name]));
  return (row) =>
    factsOf(row, row.aggregate === null ? null : (names.get(row.aggregate) ?? `if${row.aggregate}`));
};

const factsOf = (row: InterfaceRecord, aggregate: string | null): Facts => ({
  name: row.name,
  ifIndex: row.ifIndex,
  alias: row.alias,
  type: row.type,
  speedBps: row.speedBps,
  macAddress: row.macAddress,
  duplex: row.duplex,
  vlan: row.vlan,
  mtu: row.mtu,
  description: row.description,
  aggregate,
});

const added = (row: InterfaceRecord, facts: (row: InterfaceRecord) => Facts): InterfaceChange => ({
  kind: 'interface.added',
  interfaceId: row.id,
  ifName: row.name,
  before: {},
  after: facts(row),
});

/** Speed follows the link: a port that is down says 0 or its maximum, which is no change worth reporting. */
const REPORTED = ['name', 'alias', 'type', 'macAddress', 'mtu', 'description'] as const;

/** A row, and what is told of rows of its time. */
type Side = readonly [row: InterfaceRecord, facts: (row: InterfaceRecord) => Facts];

function differences([before, was]: Side, [after, is]: Side): InterfaceChange[] {
  const about = { interfaceId: after.id, ifName: after.name };
  if (before.goneAt !== null) return [added(after, is)];
  const changes: InterfaceChange[] = [];
  const [adminStatus, operStatus] = [after.adminStatus, after.operStatus];
  if (before.adminStatus !== adminStatus || before.operStatus !== operStatus) {
    if (before.adminStatus !== null || before.operStatus !== null) {
      changes.push({
        ...about,
        kind: 'interface.state',
        before: { adminStatus: before.adminStatus, operStatus: before.operStatus },
        after: { adminStatus, operStatus },
      });
    }
  }
  const reported: string[] = REPORTED.filter(
    (field) => before[field] !== null && before[field] !== after[field],
  );
  const bothUp = before.operStatus === 1 && after.operStatus === 1;
  if (bothUp && before.speedBps !== null && before.speedBps !== after.speedBps) reported.push('speedBps');
  // Null until it was read once: then it is in no aggregate, which `aggregateActive` says.
  if (before.aggregateActive !== null && was(before).aggregate !== is(after).aggregate)
    reported.push('aggregate');
  if (reported.length > 0) {
    const pick = (facts: Facts) =>
      Object.fromEntries(Object.entries(facts).filter(([field]) => reported.includes(field)));
    changes.push({ ...about, kind: 'interface.changed', before: pick(was(before)), after: pick(is(after)) });
  }
  return changes;
}
