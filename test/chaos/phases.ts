/** What a system is doing when something happens to it; each is brought about, and looked at in the moment of the fault. */
import { eventually } from './child.ts';
import type { SourceProcess } from './collector.ts';
import type { Random } from './random.ts';

export const PHASES = ['idle', 'steady', 'backlog', 'connecting', 'away'] as const;
export type Phase = (typeof PHASES)[number];

/** Observations in the outbox that make a backlog. */
const BACKLOG = 400;
const BURST_RATE = 3000;
const ARRANGE_MS = 12_000;
const CONNECTING = ['connecting', 'challenged', 'greeting'];

const holds: Readonly<Record<Phase, (source: SourceProcess) => boolean>> = {
  /** Linked, nothing to send. */
  idle: (source) => source.linked && source.told?.depth === 0,
  /** Linked, everything goes as it comes. */
  steady: (source) => source.linked && (source.told?.depth ?? 0) < BACKLOG,
  /** Linked, and much to catch up with. */
  backlog: (source) => source.linked && (source.told?.depth ?? 0) >= BACKLOG,
  /** Between the first packet and the welcome. */
  connecting: (source) => source.running && CONNECTING.includes(source.told?.link ?? ''),
  /** No connection. */
  away: (source) =>
    source.running && (source.told?.link === 'waiting' || source.proxy.weather.newcomers === 'refuse'),
};

/** Observations per second of a source, and how many of them a backlog has at least when it begins to drain. */
export interface Pace {
  rate: number;
  burst: number;
}

/** Brings a source into a phase; false when that was not possible in time. The caller ends it with `release`. */
export async function arrange(
  phase: Phase,
  source: SourceProcess,
  { rate, burst }: Pace,
  random: Random,
): Promise<boolean> {
  const { proxy } = source;
  const reach = (forMs = ARRANGE_MS) => eventually(() => holds[phase](source), forMs, 10);
  switch (phase) {
    case 'idle':
      source.setRate(0);
      break;
    case 'steady':
      // What is left of a backlog goes first.
      source.setRate(0);
      await reach();
      source.setRate(rate);
      break;
    case 'backlog':
      await proxy.change({ newcomers: 'refuse' });
      source.setRate(BURST_RATE);
      await eventually(() => (source.told?.depth ?? 0) > burst, ARRANGE_MS / 2, 20);
      await proxy.calm();
      source.setRate(rate);
      break;
    case 'connecting':
      // Slow enough to be met on the way.
      await proxy.change({ delayMs: random.whole(50, 400) });
      proxy.strike('reset');
      break;
    case 'away':
      await proxy.change({ newcomers: 'refuse' });
      break;
  }
  return (await reach()) === true;
}

/** Whether the phase still holds. */
export const inPhase = (phase: Phase, source: SourceProcess): boolean => holds[phase](source);

/** Lets a source go its way again. One that is far behind observes nothing first: a slow machine meets faults slower, not a flood. */
export async function release(source: SourceProcess, { rate, burst }: Pace): Promise<void> {
  await source.proxy.calm();
  source.setRate((source.told?.depth ?? 0) > burst ? 0 : rate);
}
