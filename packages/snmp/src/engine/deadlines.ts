import type { Clock } from '@rollcall/shared/clock';

/** How often time-outs of requests are looked for. */
const TICK_MS = 10;
/** More than this between two ticks means that the process did not run: replies may wait unread in the socket. */
const LONGEST_STEP_MS = 50;
/** Items that expire in one turn of the event loop. */
const BATCH = 1024;

/** Something that waits. Both fields belong to `Deadlines`. */
export interface Waiting {
  due: number;
  waitMs: number;
}

/**
 * Deadlines of many items under one timer, which runs only while there are any. Items with the same wait stand in the
 * order of their deadlines, so only the front of each queue is looked at.
 *
 * Time in which the process itself did not run does not count as waiting: nobody is called silent for our pauses.
 */
export class Deadlines<Item extends Waiting> {
  readonly #clock: Clock;
  readonly #expired: (item: Item) => void;
  readonly #queues = new Map<number, Set<Item>>();
  #now = 0;
  #ticked = 0;
  #stop: (() => void) | null = null;

  constructor(clock: Clock, expired: (item: Item) => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  add(item: Item, waitMs: number): void {
    const now = this.#clock.monotonic();
    if (!this.#stop) {
      this.#ticked = now;
      this.#stop = this.#clock.every(TICK_MS, () => this.#tick());
    }
    let queue = this.#queues.get(waitMs);
    if (!queue) {
      queue = new Set();
      this.#queues.set(waitMs, queue);
    }
    item.due = this.#now + Math.min(now - this.#ticked, LONGEST_STEP_MS) + waitMs;
    item.waitMs = waitMs;
    queue.add(item);
  }

  /** Does nothing when the item does not wait. */
  delete(item: Item): void {
    const queue = this.#queues.get(item.waitMs);
    if (!queue?.delete(item) || queue.size > 0) return;
    this.#queues.delete(item.waitMs);
    if (this.#queues.size > 0) return;
    this.#stop?.();
    this.#stop = null;
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    this.#now += Math.min(now - this.#ticked, LONGEST_STEP_MS);
    this.#ticked = now;
    let left = BATCH;
    for (const queue of [...this.#queues.values()]) {
      for (const item of queue) {
        if (item.due > this.#now || left === 0) break;
        left -= 1;
        this.delete(item);
        this.#expired(item);
      }
    }
  }
}
