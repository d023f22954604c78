import { randomBytes } from 'node:crypto';
import type { AddressSpace } from '@rollcall/shared/address-space';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { type Echo, type EchoCounts, MAX_ATTEMPTS, type OpenEcho } from './echo.ts';
import { Permutation } from './permutation.ts';

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
  /** Called once per address that did not; `sent` is false when the host could send it no request at all. */
  onSilent: (index: number, address: string, sent: boolean) => void;
  clock?: Clock;
  /** 16 secret bytes for order and checks; random when absent. */
  key?: Uint8Array;
}

export interface IcmpSummary {
  ended: 'complete' | 'aborted';
  answered: number;
  silent: number;
  skipped: number;
  /** Answers that took longer than the timeout; those that came before the verdict count as answers too. */
  late: number;
  /** Further answers to addresses that had answered. */
  duplicates: number;
  counts: EchoCounts;
}

/** Positions that share one time of sending. */
const CHUNK = 64;
/** How often answers are looked for while some are outstanding; time stamps come from the kernel, so RTT is exact. */
const POLL_MS = 4;
/** Longest time without giving way to the rest of the process. */
const TURN_MS = 5;

const yieldTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Asks every address of a space once, in a keyed order; then, one timeout after its request, each silent one again, up
 * to `tries`; then reports who stayed silent. Memory is two bits an address and a number per 64 of them.
 * Throws `EchoRefused` when no engine can be opened.
 */
export const sweepIcmp = async (sweep: IcmpSweep): Promise<IcmpSummary> => {
  if (!(sweep.tries >= 1 && sweep.tries <= MAX_ATTEMPTS)) throw new RangeError(`tries ${sweep.tries}`);
  const run = new SweepRun(sweep);
  try {
    for (let attempt = 1; attempt <= sweep.tries && !run.settled; attempt += 1) await run.ask(attempt);
    await run.concludeSilent();
  } finally {
    run.close();
  }
  return run.summary();
};

/** One bit for each address of a space. */
class Bits {
  readonly #bytes: Uint8Array;
  constructor(size: number) {
    this.#bytes = new Uint8Array((size >> 3) + 1);
  }
  has(index: number): boolean {
    return ((this.#bytes[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }
  set(index: number): void {
    this.#bytes[index >> 3] = (this.#bytes[index >> 3] ?? 0) | (1 << (index & 7));
  }
  clear(index: number): void {
    this.#bytes[index >> 3] = (this.#bytes[index >> 3] ?? 0) & ~(1 << (index & 7));
  }
}

class SweepRun {
  readonly #sweep: IcmpSweep;
  readonly #clock: Clock;
  readonly #order: Permutation;
  readonly #echo: Echo;
  /** Answered or skipped. */
  readonly #done: Bits;
  /** The last request could not be sent. */
  readonly #unsent: Bits;
  /** When the positions of each chunk were last asked. */
  readonly #askedAt: Float64Array;
  /** Indexes to be asked next. */
  readonly #batch: Uint32Array;
  #filled = 0;
  /** First position of those. */
  #from = 0;
  #turnStarted: number;
  readonly #stopPolling: () => void;
  #answered = 0;
  #silent = 0;
  #skipped = 0;
  #late = 0;
  #duplicates = 0;
  #anyUnsent = false;
  /** Since the last report to the pace. */
  #recent = { answered: 0, lost: 0 };
  #overflow = 0;

  constructor(sweep: IcmpSweep) {
    const { space } = sweep;
    const key = sweep.key ?? randomBytes(16);
    this.#sweep = sweep;
    this.#clock = sweep.clock ?? systemClock;
    this.#order = new Permutation(space.size, key);
    this.#done = new Bits(space.size);
    this.#unsent = new Bits(space.size);
    this.#askedAt = new Float64Array(Math.floor(space.size / CHUNK) + 1);
    const events = {
      heard: (index: number, rttMs: number, attempt: number) => this.#onHeard(index, rttMs, attempt),
      failed: (index: number) => {
        this.#anyUnsent = true;
        this.#unsent.set(index);
      },
    };
    this.#echo = sweep.echo(space, events, { key, timeoutMs: sweep.timeoutMs });
    this.#batch = new Uint32Array(this.#echo.batch);
    this.#turnStarted = this.#clock.monotonic();
    this.#stopPolling = this.#clock.every(POLL_MS, () => {
      this.#receive();
    });
  }

  /** Nothing is left to find out. */
  get settled(): boolean {
    return this.#answered + this.#skipped === this.#sweep.space.size || this.#aborted;
  }

  get #aborted(): boolean {
    return this.#sweep.signal?.aborted ?? false;
  }

  /** One pass over all positions: asks those that are not done, each no sooner than a timeout after its last request. */
  async ask(attempt: number): Promise<void> {
    const { space, pace, skip } = this.#sweep;
    const paced = pace.free !== true;
    for (let position = 0; position < space.size && !this.settled; position += 1) {
      if (position % CHUNK === 0) await this.#enterChunk(position, attempt);
      const index = this.#order.at(position);
      if (this.#done.has(index)) continue;
      if (attempt === 1 && skip?.(index)) {
        this.#done.set(index);
        this.#skipped += 1;
        continue;
      }
      const wait = paced ? pace.take(1, space.at(index)) : undefined;
      if (wait) {
        await this.#flush(position, attempt);
        await wait;
      }
      if (this.#filled === 0) this.#from = position;
      this.#batch[this.#filled] = index;
      this.#filled += 1;
      if (this.#filled === this.#batch.length) await this.#flush(position + 1, attempt);
    }
    await this.#flush(space.size, attempt);
  }

  /** Reports the silent, in the order asked, each a timeout after its last request. */
  async concludeSilent(): Promise<void> {
    const { space, onSilent, timeoutMs } = this.#sweep;
    for (let position = 0; position < space.size && !this.settled; position += 1) {
      if (position % CHUNK === 0) {
        await this.#giveWay();
        await this.#waitUntil((this.#askedAt[position / CHUNK] ?? 0) + timeoutMs);
        if (this.settled) return;
      }
      const index = this.#order.at(position);
      if (this.#done.has(index)) continue;
      this.#silent += 1;
      onSilent(index, space.at(index), !this.#unsent.has(index));
    }
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

  async #enterChunk(position: number, attempt: number): Promise<void> {
    await this.#giveWay();
    if (attempt === 1) return;
    const due = (this.#askedAt[position / CHUNK] ?? 0) + this.#sweep.timeoutMs;
    if (due <= this.#clock.monotonic()) return;
    await this.#flush(position, attempt);
    await this.#waitUntil(due);
  }

  /** Sends what is filled; `end` is the position after the last one filled. */
  async #flush(end: number, attempt: number): Promise<void> {
    const total = this.#filled;
    this.#filled = 0;
    if (total === 0) return;
    if (this.#anyUnsent) for (const index of this.#batch.subarray(0, total)) this.#unsent.clear(index);
    for (let offset = 0; offset < total && !this.#aborted; ) {
      const rest = offset === 0 ? this.#batch : this.#batch.subarray(offset);
      offset += this.#echo.send(rest, total - offset, attempt);
      await this.#drain();
      if (offset < total) await this.#clock.sleep(1);
    }
    const now = this.#clock.monotonic();
    for (let chunk = Math.floor(this.#from / CHUNK); chunk * CHUNK < end; chunk += 1)
      this.#askedAt[chunk] = now;
    this.#report();
    await this.#giveWay();
  }

  /** Empties the receive queue; a flood is left to the next turn rather than let in without end. */
  async #drain(): Promise<void> {
    for (let round = 0; this.#receive() && round < 4; round += 1) await yieldTurn();
  }

  #receive(): boolean {
    return this.#echo.receive();
  }

  async #waitUntil(time: number): Promise<void> {
    for (;;) {
      // Look first: after a stall the answers are there, and the deadline is over.
      await this.#drain();
      const rest = time - this.#clock.monotonic();
      if (rest <= 0 || this.settled) return;
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
    if (rttMs > this.#sweep.timeoutMs) this.#late += 1;
    if (this.#done.has(index)) {
      this.#duplicates += 1;
      return;
    }
    this.#done.set(index);
    this.#answered += 1;
    this.#recent.answered += 1;
    if (rttMs <= this.#sweep.timeoutMs) this.#recent.lost += attempt - 1;
    this.#sweep.onAnswer(index, this.#sweep.space.at(index), rttMs);
  }
}
