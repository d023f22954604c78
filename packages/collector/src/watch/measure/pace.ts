/** How often an agent is read. Pure. */

/** An agent is busy with a reading for this share of the time between two at most. */
const BUSY = 0.25;
/** No agent is read less often. */
const LONGEST_MS = 900_000;

/**
 * The time between two readings of an agent that took `tookMs` over one: the interval asked, or so many of them that its
 * load stays bounded.
 */
export function intervalFor(askedMs: number, tookMs: number): number {
  const times = Math.max(1, Math.ceil(tookMs / (askedMs * BUSY)));
  return askedMs * Math.max(1, Math.min(times, Math.floor(LONGEST_MS / askedMs)));
}
