import { channel } from 'node:diagnostics_channel';

/**
 * How far a batch of observations is: read, the stream locked, unreadable items kept as dead letters, facts merged, events recorded,
 * the high-water mark written, committed, acknowledged.
 */
export type Stage =
  | 'read'
  | 'locked'
  | 'dead-lettered'
  | 'merged'
  | 'recorded'
  | 'marked'
  | 'committed'
  | 'acknowledged';

/** Where stages are told; a module loaded into the process by `node --import` may listen. */
export const STAGES = 'rollcall:ingest';

const stages = channel(STAGES);

/** Tells anyone who listens, before the next step is taken. Tests end the process at each stage; usually nobody listens. */
export function reached(stage: Stage): void {
  if (stages.hasSubscribers) stages.publish(stage);
}
