/** The course of a case: when its trouble began, how long it lasted, how soon somebody saw to it, whom it hit. Pure. */
import type { CaseDetail } from '@rollcall/shared/api/incidents';

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
