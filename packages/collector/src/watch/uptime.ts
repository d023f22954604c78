/** Whether an agent began anew between two readings. Pure. */

export interface Uptime {
  /** Hundredths of a second (RFC 3418 sysUpTime), 0 … 2³²−1. */
  ticks: number;
  /** snmpEngineBoots (RFC 3411), where the agent reports it. */
  boots: number | null;
  /** When it was read, monotonic milliseconds. */
  at: number;
}

const WRAP = 2 ** 32;
/** Clocks of agents drift, answers take time: so much may a wrapped counter be off, and a fiftieth of the time between. */
const SLACK_TICKS = 30_000;
/** A counter that went on may lag by so much, and a fiftieth of the time between. */
const LAG_TICKS = 1_500;

/**
 * True when the counter went back and that is not its wrap after 497 days, when it lags behind the time that passed (the
 * agent was away for longer than it had been up), or when the engine counted a boot.
 */
export function restarted(before: Uptime, now: Uptime): boolean {
  if (before.boots !== null && now.boots !== null && now.boots > before.boots) return true;
  const between = Math.max(0, now.at - before.at) / 10;
  const expected = before.ticks + between;
  if (now.ticks >= before.ticks) {
    // An agent that began anew meanwhile has counted no more than that time; one that stands still is wrong.
    if (now.ticks > between + LAG_TICKS || now.ticks === before.ticks) return false;
    return expected - now.ticks > LAG_TICKS + between / 50;
  }
  const wrapped = Math.abs(expected - WRAP - now.ticks) <= SLACK_TICKS + between / 50;
  return !wrapped;
}
