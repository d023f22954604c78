/**
 * What one status report of monitoring means for a device and its interfaces. Pure.
 *
 * Whether a device is up is decided by the watch alone: scans that meet it in between leave `status`, `watchedAt` and
 * `watchedSnmp` as they are, so no transition is lost. Up is who answers anything; down is who was asked and answers nothing.
 */
import type { WatchObservation } from '@rollcall/shared/observation';
import type { ChangeOf } from '../changes.ts';
import { bootTime } from './tables/merge.ts';
import { lastUp } from './tables/merge-interfaces.ts';
import type { DeviceRow, InterfaceRecord } from './tables/rows.ts';

type TransitionKind = 'device.down' | 'device.up' | 'device.snmp-lost' | 'device.snmp-restored';
/** A change without whom it is about, which the caller knows. */
export type Transition = {
  [Kind in TransitionKind]: Pick<ChangeOf<Kind>, 'kind' | 'before' | 'after'>;
}[TransitionKind];

/** "Last seen" of a watched device that does not change is exact to this. */
const GRAIN_MS = 5 * 60_000;

/** Null: what it says is over: nobody watches the device any more, or a later report was stored (of another collector). */
export function watchedDevice(
  row: DeviceRow,
  o: WatchObservation,
  at: number,
): { row: DeviceRow; transitions: Transition[] } | null {
  if (!row.monitor || (row.watchedAt !== null && at < row.watchedAt)) return null;
  // Of its ports alone: it says nothing of the device, and is not what the next report is held against.
  if (o.icmp === undefined && o.snmp === undefined) return { row, transitions: [] };
  const up = o.icmp === 'up' || o.snmp === 'ok';
  const next: DeviceRow = {
    ...row,
    icmpReachable: o.icmp === undefined ? row.icmpReachable : o.icmp === 'up',
    snmpReachable: o.snmp === undefined ? row.snmpReachable : o.snmp === 'ok',
    watchedSnmp: o.snmp ?? row.watchedSnmp,
    rttMs: o.rttMs ?? row.rttMs,
    bootedAt: booted(row, o, at),
  };
  next.status = statusOf(next, o, up);
  const transitions = transitionsOf(row, next);
  const spoken = row.watchedAt !== null && at - row.watchedAt < GRAIN_MS;
  if (spoken && transitions.length === 0 && sameBut(row, next)) return { row, transitions };
  next.watchedAt = at;
  if (!up) return { row: next, transitions };
  return {
    row: { ...next, lastSeen: Math.max(at, row.lastSeen), missedScans: 0, goneAt: null },
    transitions,
  };
}

function statusOf(next: DeviceRow, o: WatchObservation, up: boolean): DeviceRow['status'] {
  if (up) return 'up';
  // What is silent to ping was asked by SNMP too, where that is possible, before this was said.
  return o.icmp === 'down' || !next.icmpReachable ? 'down' : 'up';
}

/** A counter that went back is a reboot however short it was up before; anything else is judged by the boot time. */
const booted = (row: DeviceRow, o: WatchObservation, at: number): number | null =>
  o.restarted && o.sysUpTime !== undefined
    ? Math.max(at - o.sysUpTime * 10, (row.bootedAt ?? 0) + 1)
    : bootTime(row.bootedAt, o.sysUpTime, at);

function transitionsOf(row: DeviceRow, next: DeviceRow): Transition[] {
  const transitions: Transition[] = [];
  // The first report since `monitor` was set: what scans said before counts for nothing.
  const wasDown = row.watchedAt !== null && row.status === 'down';
  if (next.status === 'down' && !wasDown)
    transitions.push({
      kind: 'device.down',
      before: row.icmpReachable || row.watchedSnmp !== 'ok' ? {} : { snmp: 'ok' },
      after: { icmp: 'down' },
    });
  if (next.status === 'up' && row.status === 'down')
    transitions.push({ kind: 'device.up', before: {}, after: { icmp: 'up' } });
  const [was, is] = [row.watchedSnmp, next.watchedSnmp];
  if (is !== null && is !== 'ok' && is !== was)
    transitions.push({ kind: 'device.snmp-lost', before: {}, after: { reason: is } });
  if (is === 'ok' && was !== null && was !== 'ok')
    transitions.push({ kind: 'device.snmp-restored', before: {}, after: {} });
  return transitions;
}

/** Equal in what is worth writing; a round trip is noise. */
const sameBut = (a: DeviceRow, b: DeviceRow): boolean =>
  a.status === b.status &&
  a.icmpReachable === b.icmpReachable &&
  a.snmpReachable === b.snmpReachable &&
  a.watchedSnmp === b.watchedSnmp &&
  a.bootedAt === b.bootedAt;

type Seen = NonNullable<WatchObservation['interfaces']>[number];
export type PortTransition = Pick<
  ChangeOf<'interface.state'> | ChangeOf<'interface.changed'>,
  'kind' | 'before' | 'after'
>;

/** Null: nothing about it differs, or a later scan has seen it. `nameOf`: names of interfaces of its device, by ifIndex. */
export function watchedInterface(
  row: InterfaceRecord,
  seen: Seen,
  at: number,
  nameOf: (ifIndex: number) => string | undefined,
): { row: InterfaceRecord; transitions: PortTransition[] } | null {
  if (at < row.lastSeen) return null;
  const next: InterfaceRecord = {
    ...row,
    adminStatus: seen.adminStatus ?? row.adminStatus,
    operStatus: seen.operStatus ?? row.operStatus,
    speedBps: seen.speedBps === undefined ? row.speedBps : Math.round(seen.speedBps),
    duplex: seen.duplex ?? row.duplex,
    ...bridged(row, seen),
  };
  const moved = next.adminStatus !== row.adminStatus || next.operStatus !== row.operStatus;
  const changed = next.speedBps !== row.speedBps || next.duplex !== row.duplex;
  const forwards = BRIDGED.every((field) => next[field] === row[field]);
  if (!moved && !changed && forwards) return null;
  const transitions: PortTransition[] = [];
  if (moved) {
    next.lastChange = at;
    next.lastUpAt = lastUp(row, next.operStatus, at);
    const state = ({ adminStatus, operStatus }: InterfaceRecord) => ({ adminStatus, operStatus });
    transitions.push({ kind: 'interface.state', before: state(row), after: state(next) });
  }
  // A port that is down says 0 or its maximum: no change worth telling. One that comes back slower is.
  if (changed && next.operStatus === 1) {
    const changedFields = (['speedBps', 'duplex'] as const).filter(
      (field) => row[field] !== null && row[field] !== next[field],
    );
    const pick = (from: InterfaceRecord) =>
      Object.fromEntries(changedFields.map((field) => [field, from[field]]));
    if (changedFields.length > 0)
      transitions.push({ kind: 'interface.changed', before: pick(row), after: pick(next) });
  }
  if (row.aggregateActive !== null && next.aggregate !== row.aggregate) {
    const name = (index: number | null) => (index === null ? null : (nameOf(index) ?? `if${index}`));
    const [before, after] = [{ aggregate: name(row.aggregate) }, { aggregate: name(next.aggregate) }];
    transitions.push({ kind: 'interface.changed', before, after });
  }
  return { row: { ...next, lastSeen: at, goneAt: null }, transitions };
}

const BRIDGED = ['stp', 'aggregate', 'aggregateActive'] as const;

/** Its states in spanning tree and aggregates; what was not read stays. */
function bridged(
  row: InterfaceRecord,
  { stp, aggregate }: Seen,
): Pick<InterfaceRecord, (typeof BRIDGED)[number]> {
  return {
    stp: stp === undefined ? row.stp : stp,
    aggregate: aggregate === undefined ? row.aggregate : (aggregate?.ifIndex ?? null),
    aggregateActive: aggregate === undefined ? row.aggregateActive : (aggregate?.active ?? false),
  };
}
