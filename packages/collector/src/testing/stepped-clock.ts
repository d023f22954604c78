import type { Clock } from '@rollcall/shared/clock';
import { DueQueue } from '../watch/due-queue.ts';

/** Shortest time between two calls of a repeated task, milliseconds. */
const STEP_MS = 100;

/** A clock that stands still except while it is run: a day passes in seconds, the same every time. */
export class SteppedClock implements Clock {
  readonly #start: number;
  readonly #tasks = new Set<{ everyMs: number; due: number; task: () => void | Promise<void> }>();
  readonly #sleeping = new DueQueue<() => void>();
  #elapsed = 0;

  /** @param start wall time at its beginning, Unix milliseconds */
  constructor(start: number) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }
  monotonic(): number {
    return this.#elapsed;
  }
  /** Nobody's signal ends it: what sleeps here does so for a second or two. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#sleeping.add(this.#elapsed + ms, resolve));
  }
  every(ms: number, task: () => void | Promise<void>): () => void {
    const entry = { everyMs: ms, due: this.#elapsed + ms, task };
    this.#tasks.add(entry);
    return () => void this.#tasks.delete(entry);
  }

  /** Lets so much time pass; what it wakes runs to its end before time goes on. */
  async run(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    while (this.#elapsed < end) {
      this.#elapsed = Math.min(end, this.#elapsed + STEP_MS);
      let woken = false;
      for (let next = this.#sleeping.take(this.#elapsed); next; next = this.#sleeping.take(this.#elapsed)) {
        next.item();
        woken = true;
      }
      if (woken) await settled();
      for (const entry of this.#tasks) {
        if (entry.due > this.#elapsed) continue;
        entry.due += entry.everyMs;
        void entry.task();
      }
    }
    await settled();
  }
}

/** Everything that waits for no time has run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
