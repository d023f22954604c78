/** Whose turn is it? Scans of a site take turns, so that a small scan never waits behind a large one. Pure. */

export interface Turn {
  scan: string;
  /** Jobs of it in anybody's hands. */
  leased: number;
  /** Jobs of it in the hands of the collector that asks. */
  mine: number;
  /** Jobs that could be handed out. */
  waiting: number;
  /** When its last job was handed out, seconds; 0: never. */
  last: number;
}

/**
 * The scans to take one job from, in order. First comes who has the fewest jobs under way, then who waits longest. One
 * scan never takes a collector's last slot (where it has several): anyone who comes next finds it free.
 */
export function takeTurns(turns: readonly Turn[], capacity: number): string[] {
  const share = Math.max(1, capacity - 1);
  let free = capacity - turns.reduce((sum, { mine }) => sum + mine, 0);
  const left = turns.map((turn) => ({ ...turn }));
  const order: string[] = [];
  for (let given = 1; free > 0; given++, free--) {
    const next = left
      .filter(({ waiting, mine }) => waiting > 0 && mine < share)
      .sort((a, b) => a.leased - b.leased || a.last - b.last || (a.scan < b.scan ? -1 : 1))[0];
    if (!next) break;
    next.leased += 1;
    next.mine += 1;
    next.waiting -= 1;
    next.last = Number.MAX_SAFE_INTEGER - capacity + given;
    order.push(next.scan);
  }
  return order;
}
