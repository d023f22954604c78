import type { Stream } from '@rollcall/shared/observation';
import type { UnreadBatch } from '@rollcall/shared/protocol';

/** Both streams of a connection, beside each other: events wait for no backlog of state. */
export class Intakes {
  readonly #of: Readonly<Record<Stream, Intake>>;

  constructor(
    store: (stream: Stream, batches: readonly UnreadBatch[]) => Promise<void>,
    failed: (error: unknown) => void,
  ) {
    const intake = (stream: Stream) => new Intake((batches) => store(stream, batches).catch(failed));
    this.#of = { state: intake('state'), event: intake('event') };
  }

  /** Batches that are not stored yet. */
  get depth(): number {
    return this.#of.state.depth + this.#of.event.depth;
  }
  add(stream: Stream, batch: UnreadBatch): void {
    this.#of[stream].add(batch);
  }
  /** Resolves when nothing waits and nothing is being stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#of.state.idle(), this.#of.event.idle()]);
  }
}

/**
 * Batches of one stream on their way into the store, in order. What comes while the store is busy goes in together: a
 * transaction costs the same for one batch as for a whole window of them (8 × 256 KiB at most).
 */
export class Intake {
  readonly #store: (batches: readonly UnreadBatch[]) => Promise<void>;
  #waiting: UnreadBatch[] = [];
  /** Batches that are being stored. */
  #taken = 0;
  #working: Promise<void> | undefined;

  /** `store` must not fail. */
  constructor(store: (batches: readonly UnreadBatch[]) => Promise<void>) {
    this.#store = store;
  }

  get depth(): number {
    return this.#waiting.length + this.#taken;
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
      const batches = this.#waiting.splice(0);
      this.#taken = batches.length;
      await this.#store(batches);
    }
    this.#taken = 0;
    this.#working = undefined;
  }
}
