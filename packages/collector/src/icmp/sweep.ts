import { randomBytes } from 'node:crypto';
import type { AddressSpace } from '@rollcall/shared/address-space';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { Bits } from './bits.ts';
import { type Echo, type EchoCounts, MAX_ATTEMPTS, type OpenEcho } from './echo.ts';
import { Permutation } from './permutation.ts';
import { Stages } from './stages.ts';
import { Unsent } from './unsent.ts';

/** How fast requests may leave; `Pace` is one. */
export interface SweepPace {
  /** Reserves `count` packets to an address; a promise when they have to wait. */
  take(count: number, address: string): Promise<void> | void;
  /** True when `take` never waits and need not be asked. */
  readonly free?: boolean;
  /** Hears what became of requests, to adapt. */
  report?(answered: number, lost: number): void;
}

export interface IcmpSweep {
  space: AddressSpace;
  echo: OpenEcho;
  pace: SweepPace;
  /** Requests to a silent address, the first included. */
  tries: number;
  /** How long an answer may take, milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** Addresses to leave alone (finished before an interruption, excluded); asked often, so it should be cheap. */
  skip?: (index: number) => boolean;
  /** Called once per address that answers, as the answers come in. */
  onAnswer: (index: number, address: string, rttMs: number) => void;
  /** Called once per address that did not; `unsent` is the errno name when the host could not send the last request. */
  onSilent: (index: number, address: string, unsent: string | null) => void;
  clock?: Clock;
  /** 16 secret bytes for order and checks; random when absent. */
  key?: Uint8Array;
}

export interface IcmpSummary {
  ended: 'complete' | 'aborted';
  answered: number;
  silent: number;
  skipped: number;
  /** Answers that took longer than the timeout: before the verdict they are answers like others, after it only this. */
  late: number;
  /** Further answers, in time, of addresses that had answered. */
  duplicates: number;
  counts: EchoCounts;
}

/** Positions that share one time of sending. */
const CHUNK = 64;
/** How often answers are looked for while some are outstanding; time stamps come from the kernel, so RTT is exact. */
const POLL_MS = 4;
/** Longest time without giving way to the rest of the process. */
const TURN_MS = 5;
/** Turns given to a full receive queue before sending goes on. */
const DRAIN_TURNS = 4;

const yieldTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Asks every address of a space once, in a keyed order; each silent one again a timeout later, up to `tries`; reports
 * it silent a timeout after that. Results stream; memory is two bits an address and one number per 64 of them.
 * Throws `EchoRefused` when no engine can be opened.
 */
export const sweepIcmp = async (sweep: IcmpSweep): Promise<IcmpSummary> => {
  if (!(sweep.tries >= 1 && sweep.tries <= MAX_ATTEMPTS)) throw new RangeError(`tries ${sweep.tries}`);
  const run = new SweepRun(sweep);
  try {
    await run.go();
  } finally {
    run.close();
  }
  return run.summary();
};

class SweepRun {
  readonly #sweep: IcmpSweep;
  readonly #clock: Clock;
  readonly #order: Permutation;
  readonly #echo: Echo;
  readonly #stages: Stages;
  /** Answered, skipped or found silent. */
  readonly #done: Bits;
  readonly #unsent: Unsent;
  /** Indexes to be asked with the next call, and which attempt of each it is. */
  readonly #batch: Uint32Array;
  readonly #attempts: Uint8Array;
  #filled = 0;
  /** Chunks with an index in the batch. */
  readonly #touched = new Set<number>();
  readonly #stopPolling: () => void;
  #turnStarted: number;
  #answered = 0;
  #silent = 0;
  #skipped = 0;
  #late = 0;
  #duplicates = 0;
  /** Since the last report to the pace. */
  #recent = { answered: 0, lost: 0 };
  #overflow = 0;
  #failure: { error: unknown } | null = null;

  constructor(sweep: IcmpSweep) {
    const { space } = sweep;
    const key = sweep.key ?? randomBytes(16);
    this.#sweep = sweep;
    this.#clock = sweep.clock ?? systemClock;
    this.#order = new Permutation(space.size, key);
    this.#stages = new Stages(Math.ceil(space.size / CHUNK), sweep.tries, sweep.timeoutMs);
    this.#done = new Bits(space.size);
    this.#unsent = new Unsent(space.size);
    const events = {
      heard: (index: number, rttMs: number, attempt: number) => this.#onHeard(index, rttMs, attempt),
      failed: (index: number, code: string) => this.#unsent.set(index, code),
    };
    this.#echo = sweep.echo(space, events, { key, timeoutMs: sweep.timeoutMs });
    this.#batch = new Uint32Array(this.#echo.batch);
    this.#attempts = new Uint8Array(this.#echo.batch);
    this.#turnStarted = this.#clock.monotonic();
    this.#stopPolling = this.#clock.every(POLL_MS, () => this.#poll());
  }

  async go(): Promise<void> {
    while (!this.#complete && !this.#failure) {
      const stage = this.#stages.due(this.#clock.monotonic());
      if (stage === null) {
        await this.#flush();
        await this.#waitUntil(this.#stages.nextDue());
        continue;
      }
      const chunk = this.#stages.enter(stage);
      // After a stall the answers are in the queue while their time is over: read them first.
      if (stage > 0) await this.#drain();
      if (stage === this.#stages.last) this.#conclude(chunk);
      else await this.#ask(chunk, stage + 1);
      await this.#giveWay();
    }
    if (this.#failure) throw this.#failure.error;
  }

  close(): void {
    this.#report();
    this.#stopPolling();
    this.#echo.close();
  }

  summary(): IcmpSummary {
    return {
      ended: this.#aborted ? 'aborted' : 'complete',
      answered: this.#answered,
      silent: this.#silent,
      skipped: this.#skipped,
      late: this.#late,
      duplicates: this.#duplicates,
      counts: this.#echo.counts,
    };
  }

  /** Nothing is left to find out. */
  get #complete(): boolean {
    return this.#answered + this.#skipped + this.#silent === this.#sweep.space.size || this.#aborted;
  }

  get #aborted(): boolean {
    return this.#sweep.signal?.aborted ?? false;
  }

  async #ask(chunk: number, attempt: number): Promise<void> {
    const { space, pace, skip } = this.#sweep;
    const end = Math.min((chunk + 1) * CHUNK, space.size);
    for (let position = chunk * CHUNK; position < end && !this.#aborted; position += 1) {
      const index = this.#order.at(position);
      if (this.#done.has(index)) continue;
      if (attempt === 1 && skip?.(index)) {
        this.#done.set(index);
        this.#skipped += 1;
        continue;
      }
      const wait = pace.free ? undefined : pace.take(1, space.at(index));
      if (wait) {
        await this.#flush();
        await wait;
      }
      this.#batch[this.#filled] = index;
      this.#attempts[this.#filled] = attempt;
      this.#filled += 1;
      this.#touched.add(chunk);
      if (this.#filled === this.#batch.length) await this.#flush();
    }
    this.#stages.asked(chunk, this.#clock.monotonic());
  }

  /** Reports those of a chunk that never answered. */
  #conclude(chunk: number): void {
    const { space, onSilent } = this.#sweep;
    const end = Math.min((chunk + 1) * CHUNK, space.size);
    for (let position = chunk * CHUNK; position < end; position += 1) {
      const index = this.#order.at(position);
      if (this.#done.has(index)) continue;
      this.#done.set(index);
      this.#silent += 1;
      onSilent(index, space.at(index), this.#unsent.of(index));
    }
  }

  /** Sends the batch. */
  async #flush(): Promise<void> {
    const total = this.#filled;
    this.#filled = 0;
    if (total === 0) return;
    this.#unsent.clear(this.#batch.subarray(0, total));
    for (let from = 0; from < total && !this.#aborted; ) {
      from += this.#echo.send(this.#batch.subarray(from, total), this.#attempts.subarray(from, total));
      await this.#drain();
      if (from < total) await this.#clock.sleep(POLL_MS);
    }
    const now = this.#clock.monotonic();
    for (const chunk of this.#touched) this.#stages.asked(chunk, now);
    this.#touched.clear();
    this.#report();
  }

  /** A callback that throws has to end the sweep, not the process that the timer runs in. */
  #poll(): void {
    try {
      this.#echo.receive();
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Empties the receive queue; a flood is left to later turns rather than let in without end. */
  async #drain(): Promise<void> {
    for (let turn = 0; this.#echo.receive() && turn < DRAIN_TURNS; turn += 1) await yieldTurn();
  }

  async #waitUntil(time: number): Promise<void> {
    for (;;) {
      await this.#drain();
      const rest = time - this.#clock.monotonic();
      if (rest <= 0 || this.#complete || this.#failure) return;
      await this.#clock.sleep(Math.min(rest, POLL_MS), this.#sweep.signal).catch(() => undefined);
    }
  }

  async #giveWay(): Promise<void> {
    if (this.#clock.monotonic() - this.#turnStarted < TURN_MS) return;
    await yieldTurn();
    this.#turnStarted = this.#clock.monotonic();
  }

  #report(): void {
    const { overflow } = this.#echo.counts;
    this.#sweep.pace.report?.(this.#recent.answered, this.#recent.lost + overflow - this.#overflow);
    this.#overflow = overflow;
    this.#recent = { answered: 0, lost: 0 };
  }

  #onHeard(index: number, rttMs: number, attempt: number): void {
    const late = rttMs > this.#sweep.timeoutMs;
    if (late) this.#late += 1;
    if (this.#done.has(index)) {
      if (!late) this.#duplicates += 1;
      return;
    }
    this.#done.set(index);
    this.#answered += 1;
    this.#recent.answered += 1;
    if (!late) this.#recent.lost += attempt - 1;
    this.#sweep.onAnswer(index, this.#sweep.space.at(index), rttMs);
  }
}
