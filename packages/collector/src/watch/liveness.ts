/**
 * Whether something answers, as a machine without clock or socket; for pings and for SNMP readings alike.
 *
 *   state     answered   missed               so many missed in a row
 *   unknown   up         unknown              down
 *   up        up         up                   down
 *   down      up         down                 down
 */
export type LivenessState = 'unknown' | 'up' | 'down';

export interface Liveness {
  state: LivenessState;
  /** Misses in a row. */
  missed: number;
}

/** Misses in a row that make down. */
export const MISSES = 3;

export const newLiveness = (): Liveness => ({ state: 'unknown', missed: 0 });

/** @returns whether it turned. */
export function answered(liveness: Liveness): boolean {
  const turned = liveness.state !== 'up';
  liveness.state = 'up';
  liveness.missed = 0;
  return turned;
}

/** @returns whether it turned. */
export function missed(liveness: Liveness): boolean {
  liveness.missed += 1;
  if (liveness.missed < MISSES || liveness.state === 'down') return false;
  liveness.state = 'down';
  return true;
}

/** Some were missed, and it is not decided yet: ask again soon, not at the usual time. */
export const isUnconfirmed = ({ state, missed: count }: Liveness): boolean => state !== 'down' && count > 0;
