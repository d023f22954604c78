/** Hands observations to the outbox, one append at a time, and no more than memory should hold. */
import type { Observation } from '@rollcall/shared/observation';
import type { Outbox } from '../outbox/outbox.ts';

const AT_ONCE = 500;

export class ReportQueue {
  readonly #outbox: Pick<Outbox, 'append'>;
  readonly #most: number;
  readonly #queue: Observation[] = [];
  #writing = false;
  /** Not reported because there was no room. */
  lost = 0;

  /** `most`: observations that may wait for the disk. */
  constructor(outbox: Pick<Outbox, 'append'>, most: number) {
    this.#outbox = outbox;
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#queue.length >= this.#most;
  }

  /** False: there is no room; the caller reports it again later. */
  add(observation: Observation): boolean {
    if (this.isFull) {
      this.lost += 1;
      return false;
    }
    this.#queue.push(observation);
    if (!this.#writing) {
      this.#writing = true;
      setImmediate(() => this.#write());
    }
    return true;
  }

  async #write(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#outbox.append(this.#queue.splice(0, AT_ONCE));
    } catch {
      // The outbox was closed: the collector stops.
      this.#queue.length = 0;
    }
    this.#writing = false;
  }
}
