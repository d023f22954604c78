/**
 * What was measured of a device, told once per interval: the growth of its counters since they were read last, and its
 * pings. Told whether or not the server is linked: the outbox keeps it.
 */
import { type Clock, wallTime } from '@rollcall/shared/clock';
import type { Samples } from '@rollcall/shared/samples';
import type { Logger } from 'pino';
import type { Reading } from '../reading.ts';
import type { ReportQueue } from '../report-queue.ts';
import type { Target } from '../target.ts';
import { intervalFor } from './pace.ts';
import { Sensing } from './sensing.ts';

/** Readings come a little early or late, and more of them when a port changes: this share of the interval is one. */
const DUE = 0.75;
/** Growth over a longer time says nothing about any moment of it. */
const LONGEST_MS = 86_400_000;

type Gap = NonNullable<Samples['gap']>;

export class Measuring {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #log: Logger;
  readonly #queue: Pick<ReportQueue, 'add' | 'isFull'>;
  readonly sensing: Sensing;

  constructor(deps: { clock: Clock; log: Logger }, queue: Pick<ReportQueue, 'add' | 'isFull'>) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#queue = queue;
    this.sensing = new Sensing(deps.clock, queue);
  }

  /** The agent answered. `speedBefore`: of an interface, before this reading. */
  read(
    target: Target,
    { at, counters, ports, complete }: Reading & { ok: true },
    restarted: boolean,
    intervalMs: number,
    speedBefore: (ifIndex: number) => number | undefined,
  ): void {
    const { counters: held } = target;
    if (restarted) held.forget();
    const since = held.at;
    // Where the table was not read to its end, or nothing more may wait for the disk, the next reading tells, over a longer time.
    if (!complete || this.#queue.isFull || (since !== null && at - since < intervalMs * DUE)) {
      this.ping(target, at, intervalMs);
      return;
    }
    const speedOf = (ifIndex: number) =>
      Math.max(speedBefore(ifIndex) ?? 0, ports.get(ifIndex)?.speedBps ?? 0) || undefined;
    const pieces = held.take(counters, at, speedOf);
    const gap = gapOf(since, at, restarted);
    const known = gap === undefined;
    const pingSince = target.sampledAt;
    const ping = target.tally.take();
    target.sampledAt = at;
    const together = !known || since === pingSince;
    if (!together) this.#tell(target, at, at - pingSince, { ping });
    const overMs = known && since !== null ? at - since : at - pingSince;
    const shared = { ...(gap ? { gap } : {}), ...(target.lagMs > 0 ? { lagMs: target.lagMs } : {}) };
    const shown = known ? pieces : [];
    for (let i = 0; i === 0 || i < shown.length; i += 1)
      this.#tell(target, at, overMs, {
        ...(i === 0 ? shared : {}),
        ...(i === 0 && together ? { ping } : {}),
        ports: shown[i],
      });
  }

  /** Tells of the pings alone, where that is due: the agent did not answer, or there is none. */
  ping(target: Target, at: number, intervalMs: number): void {
    const overMs = at - target.sampledAt;
    if (overMs < intervalMs * DUE || this.#queue.isFull) return;
    target.sampledAt = at;
    const ping = target.tally.take();
    if (ping) this.#tell(target, at, overMs, { ping });
  }

  /** The time until an agent is read again that took so long over one reading; telling where that is longer than asked. */
  interval(target: Target, askedMs: number, tookMs: number): number {
    const everyMs = intervalFor(askedMs, tookMs);
    if (everyMs > askedMs && target.lagMs === 0)
      this.#log.warn(
        { address: target.agentAddress, tookMs: Math.round(tookMs), everyMs },
        'an agent takes long to answer: it is read less often',
      );
    target.lagMs = everyMs - askedMs;
    return everyMs;
  }

  #tell(
    { deviceId }: Target,
    at: number,
    overMs: number,
    { ping, ports, ...more }: Partial<Pick<Samples, 'ping' | 'gap' | 'lagMs'>> & { ports?: Samples['ports'] },
  ): void {
    if (!ping && !ports && !more.gap) return;
    this.#queue.add({
      kind: 'samples',
      at: wallTime(this.#clock, at),
      deviceId,
      overMs: Math.max(1, Math.min(LONGEST_MS, Math.round(overMs))),
      ...(ping ? { ping } : {}),
      ...(ports ? { ports } : {}),
      ...more,
    });
  }
}

/** Why growth since `since` is not known at all. */
function gapOf(since: number | null, at: number, restarted: boolean): Gap | undefined {
  if (restarted) return 'restarted';
  if (since === null) return 'first-reading';
  return at - since > LONGEST_MS ? 'missed' : undefined;
}
