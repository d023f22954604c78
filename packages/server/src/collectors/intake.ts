import type { Stream } from '@rollcall/shared/observation';

/** Consecutive observations of a stream; item i has sequence `from + i`. */
export interface Run {
  from: number;
  items: readonly unknown[];
}

/** Both streams of a connection, beside each other: events wait for no backlog of state. */
export class Intakes {
  readonly #of: Readonly<Record<Stream, Intake>>;

  constructor(store: (stream: Stream, run: Run) => Promise<void>, failed: (error: unknown) => void) {
    const intake = (stream: Stream) => new Intake((run) => store(stream, run).catch(failed));
    this.#of = { state: intake('state'), event: intake('event') };
  }

  /** Batches that are not stored yet. */
  get depth(): number {
    return this.#of.state.depth + this.#of.event.depth;
  }
  add(stream: Stream, batch: Run): void {
    this.#of[stream].add(batch);
  }
  /** Resolves when nothing waits and nothing is being stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#of.state.idle(), this.#of.event.idle()]);
  }
}

/**
 * Batches of one stream on their way into the store, one transaction at a time. What comes while the store is busy goes
 * in together: a transaction costs the same for one batch as for a whole window of them (8 × 256 KiB at most).
 */
export class Intake {
  readonly #store: (run: Run) => Promise<void>;
  #waiting: Run[] = [];
  /** Batches in the run that is being stored. */
  #taken = 0;
  #working: Promise<void> | undefined;

  /** `store` must not fail. */
  constructor(store: (run: Run) => Promise<void>) {
    this.#store = store;
  }

  get depth(): number {
    return this.#waiting.length + this.#taken;
  }

  add(batch: Run): void {
    this.#waiting.push(batch);
    this.#working ??= this.#work();
  }

  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    // What came in the same turn of the event loop goes together.
    await Promise.resolve();
    for (let next = this.#next(); next; next = this.#next()) await this.#store(next);
    this.#taken = 0;
    this.#working = undefined;
  }

  /** The next to be stored, with everything that goes on where it ends. */
  #next(): Run | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const items = [...first.items];
    const following = this.#waiting.findIndex((batch, i) => {
      if (i === 0) return false;
      if (batch.from !== first.from + items.length) return true;
      items.push(...batch.items);
      return false;
    });
    this.#taken = following < 0 ? this.#waiting.length : following;
    this.#waiting = this.#waiting.slice(this.#taken);
    return { from: first.from, items };
  }
}
