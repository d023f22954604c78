/** What happened to a device as moments: trouble that is over ended at a moment of its own. Pure. */
import type { DeviceHistoryEntry } from '@rollcall/shared/api/inventory';

export interface Moment {
  /** Unix seconds. */
  at: number;
  entry: DeviceHistoryEntry;
  /** Seconds that it lasted, where it ended at this moment. */
  lasted?: number;
}

/** Newest first; of one second, the end before the beginning. */
export function momentsOf(entries: readonly DeviceHistoryEntry[]): Moment[] {
  const ends = entries.flatMap((entry): Moment[] =>
    entry.closeReason === 'cleared' && entry.closedAt !== null
      ? [{ at: entry.closedAt, entry, lasted: entry.closedAt - entry.at }]
      : [],
  );
  return [...ends, ...entries.map((entry): Moment => ({ at: entry.at, entry }))].sort((a, b) => b.at - a.at);
}
