/**
 * Whether something answers, as a machine without clock or socket; for pings and for SNMP readings alike.
 *
 *   state     answered   missed               so many missed in a row
 *   unknown   up         unknown              down
 *   up        up         up                   down
 *   down      up         down                 down
 */
export type PulseState = 'unknown' | 'up' | 'down';

export interface Pulse {
  state: PulseState;
  /** Misses in a row. */
  missed: number;
}

/** Misses in a row that make down. */
export const MISSES = 3;

export const newPulse = (): Pulse => ({ state: 'unknown', missed: 0 });

/** @returns whether it turned. */
export function answered(pulse: Pulse): boolean {
  const turned = pulse.state !== 'up';
  pulse.state = 'up';
  pulse.missed = 0;
  return turned;
}

/** @returns whether it turned. */
export function missed(pulse: Pulse): boolean {
  pulse.missed += 1;
  if (pulse.missed < MISSES || pulse.state === 'down') return false;
  pulse.state = 'down';
  return true;
}

/** Some were missed, and it is not decided yet: ask again soon, not at the usual time. */
export const inDoubt = ({ state, missed: count }: Pulse): boolean => state !== 'down' && count > 0;
