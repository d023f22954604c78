import type { Clock } from '@rollcall/shared/clock';

interface Timer {
  due: number;
  run: () => void;
}

/** A clock that stands still until told to go on; timers fire in order of their time. */
export class ManualClock implements Clock {
  #time = 0;
  #timers: Timer[] = [];

  now(): number {
    return this.#time;
  }
  monotonic(): number {
    return this.#time;
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      this.#timers.push({ due: this.#time + ms, run: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
  every(ms: number, task: () => void | Promise<void>): () => void {
    let stopped = false;
    const again = () => {
      if (stopped) return;
      void task();
      this.#timers.push({ due: this.#time + ms, run: again });
    };
    this.#timers.push({ due: this.#time + ms, run: again });
    return () => {
      stopped = true;
    };
  }
  /** Lets `ms` pass; what the timers wake runs before this resolves. */
  async pass(ms: number): Promise<void> {
    const end = this.#time + ms;
    for (;;) {
      await settle();
      const next = this.#timers.reduce<Timer | null>((a, b) => (a && a.due <= b.due ? a : b), null);
      if (!next || next.due > end) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.#time = Math.max(this.#time, next.due);
      next.run();
    }
    this.#time = end;
    await settle();
  }
}

/** Lets everything that is ready run. */
const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
