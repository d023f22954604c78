import type { Clock } from '../clock.ts';

interface Timer {
  due: number;
  run(): void;
}

/** A clock that stands still until told to go on; what becomes due fires in the order of its time. */
export class ManualClock implements Clock {
  #wall: number;
  #time = 0;
  /** In the order in which they become due. */
  readonly #timers: Timer[] = [];

  constructor(wall = Date.UTC(2026, 10, 21)) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }
  monotonic(): number {
    return this.#time;
  }
  /** Sets the wall clock, as an operator does; time goes on. */
  set(wall: number): void {
    this.#wall = wall;
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const timer = { due: this.#time + ms, run: resolve };
      this.#add(timer);
      signal?.addEventListener('abort', () => {
        this.#drop(timer);
        reject(signal.reason);
      });
    });
  }
  every(ms: number, task: () => void | Promise<void>): () => void {
    const timer = {
      due: this.#time + ms,
      run: () => {
        timer.due += ms;
        this.#add(timer);
        void task();
      },
    };
    this.#add(timer);
    return () => this.#drop(timer);
  }
  /** Lets `ms` pass; whatever that wakes has run when this resolves. */
  async pass(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      await settled();
      const [next] = this.#timers;
      if (!next || next.due > end) break;
      this.#timers.shift();
      this.#go(next.due);
      next.run();
    }
    this.#go(end);
    await settled();
  }
  #add(timer: Timer): void {
    const before = this.#timers.findLastIndex(({ due }) => due <= timer.due);
    this.#timers.splice(before + 1, 0, timer);
  }
  #drop(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }
  #go(to: number): void {
    this.#wall += Math.max(0, to - this.#time);
    this.#time = Math.max(this.#time, to);
  }
}

/** Lets everything that is ready run. */
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
