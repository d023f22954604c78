/** The course of a case: when its trouble began, how long it lasted, how soon somebody saw to it, whom it hit. Pure. */
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { EventStatus } from '@rollcall/shared/model';
import { plural } from '../../format.ts';

export interface Course {
  /** Unix seconds; that of its creation where it has no events. */
  begunAt: number;
  /** Seconds until it was resolved, or until now. */
  lasted: number;
  over: boolean;
  /** Seconds from its beginning; null: nobody has acknowledged any of its events. */
  acknowledgedAfter: number | null;
  /** Devices that went down, and devices that cannot be reached behind them. */
  down: number;
  unreachable: number;
}

/** @param now Unix seconds */
export function courseOf(
  {
    createdAt,
    resolvedAt,
    closedAt,
    events,
  }: Pick<CaseDetail, 'createdAt' | 'resolvedAt' | 'closedAt' | 'events'>,
  now: number,
): Course {
  const begunAt = events.reduce((first, { firstSeen }) => Math.min(first, firstSeen), createdAt);
  const end = resolvedAt ?? closedAt;
  const acknowledged = events.flatMap(({ acknowledgedAt }) => acknowledgedAt ?? []);
  const devices = (kind: string) =>
    new Set(events.flatMap((event) => (event.kind === kind ? (event.deviceId ?? []) : []))).size;
  return {
    begunAt,
    lasted: Math.max(0, (end ?? now) - begunAt),
    over: end !== null,
    acknowledgedAfter: acknowledged.length === 0 ? null : Math.max(0, Math.min(...acknowledged) - begunAt),
    down: devices('device.down'),
    unreachable: devices('device.unreachable'),
  };
}

/** The case says that its root is down: then what is behind it cannot be reached. */
export const isRootDown = ({ rootDeviceId, events }: Pick<CaseDetail, 'rootDeviceId' | 'events'>): boolean =>
  rootDeviceId !== null &&
  events.some(({ kind, deviceId }) => kind === 'device.down' && deviceId === rootDeviceId);

/** Those that still stand before those that are over, the most severe of each first, then those that began first. */
export const worstFirst = <
  One extends Pick<CaseDetail['events'][number], 'status' | 'severity' | 'firstSeen'>,
>(
  events: readonly One[],
): One[] => {
  const isOver = ({ status }: One): number => (status === EventStatus.closed ? 1 : 0);
  return events.toSorted(
    (a, b) => isOver(a) - isOver(b) || a.severity - b.severity || a.firstSeen - b.firstSeen,
  );
};

/** Of devices that are monitored. */
export const impactText = ({ down, unreachable }: Pick<Course, 'down' | 'unreachable'>): string =>
  [
    down > 0 && `${plural(down, 'device')} down`,
    unreachable > 0 && `${plural(unreachable, 'device')} unreachable`,
  ]
    .filter(Boolean)
    .join(', ');

/** Of all devices, also of those that nobody would tell down. */
export function behindText(behind: readonly { monitor: 0 | 1 }[]): string {
  const unmonitored = behind.filter(({ monitor }) => monitor === 0).length;
  const all = `${plural(behind.length, 'device')} behind the root device`;
  return unmonitored > 0 ? `${all}, ${unmonitored} not monitored` : all;
}
