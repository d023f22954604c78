import type { Clock } from '@rollcall/shared/clock';
import { ofStreams, STREAMS, type Stream } from '@rollcall/shared/observation';
import type { UnreadBatch } from '@rollcall/shared/protocol';
import { Problem } from '../../platform/problem.ts';
import type { WaitingBatches } from '../../ports.ts';

/** Takes all batches that wait by now; answers them behind those that it took before for the same store, in order. */
export type Gather = WaitingBatches['gather'];

/** The streams of a connection, beside each other: events wait for no backlog of state, nor that for one of samples. */
export class Intakes {
  readonly #of: Readonly<Record<Stream, Intake>>;
  #barred = false;

  constructor(store: (stream: Stream, gather: Gather) => Promise<void>, failed: (error: unknown) => void) {
    this.#of = ofStreams(
      (stream) => new Intake((gather) => store(stream, () => this.#allowed(gather)).catch(failed)),
    );
  }

  /** Batches that are not stored yet. */
  get depth(): number {
    return STREAMS.reduce((sum, stream) => sum + this.#of[stream].depth, 0);
  }
  /** Nothing more is stored, also not what came before and waits. */
  bar(): void {
    this.#barred = true;
  }
  #allowed(gather: Gather): readonly UnreadBatch[] {
    if (this.#barred) throw new Problem('unavailable', 'the link ended');
    return gather();
  }
  add(stream: Stream, batch: UnreadBatch): void {
    this.#of[stream].add(batch);
  }
  /** Resolves when nothing waits and nothing is being stored. */
  async idle(): Promise<void> {
    await Promise.all(STREAMS.map((stream) => this.#of[stream].idle()));
  }
}

/**
 * Batches of one stream on their way into the store, in order. What comes until the store begins goes in together: a
 * transaction costs the same for one batch as for a whole window of them (16 × 120 KiB at most).
 */
export class Intake {
  readonly #store: (gather: Gather) => Promise<void>;
  #waiting: UnreadBatch[] = [];
  /** Batches that are being stored. */
  #taken: UnreadBatch[] = [];
  #working: Promise<void> | undefined;

  /** `store` must not fail. Where it gathers nothing it wants nothing: what waits is forgotten. */
  constructor(store: (gather: Gather) => Promise<void>) {
    this.#store = store;
  }

  get depth(): number {
    return this.#waiting.length + this.#taken.length;
  }

  add(batch: UnreadBatch): void {
    this.#waiting.push(batch);
    this.#working ??= this.#work();
  }

  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    // What came in the same turn of the event loop goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      await this.#store(() => {
        this.#taken.push(...this.#waiting.splice(0));
        return [...this.#taken];
      });
      if (this.#taken.length === 0) this.#waiting = [];
      this.#taken = [];
    }
    this.#working = undefined;
  }
}

/** While the database is away it is tried this often, on average. */
const AWAY_MS = 500;

/**
 * Does something with the database, again and again while that is away: links outlive its absence, and what the window
 * let in is stored in the moment it is back. Fails as the work does, or with its last failure once `over` says so.
 */
export async function whenThere<T>(clock: Clock, over: () => boolean, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'unavailable') || over()) throw error;
      await clock.sleep(Math.round(AWAY_MS * (0.5 + Math.random())));
      if (over()) throw error;
    }
  }
}
