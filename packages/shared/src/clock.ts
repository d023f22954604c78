/** Where time comes from. Product code takes a `Clock`; only this file touches timers and the wall clock. */
export interface Clock {
  /** Wall time, milliseconds since 1970. May jump; never used to measure durations. */
  now(): number;
  /** Monotonic milliseconds since an arbitrary start. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `task` every `ms` until the returned function is called. Calls never overlap. */
  every(ms: number, task: () => void | Promise<void>): () => void;
}

/** Wall time of a monotonic moment. */
export const wallTime = (clock: Pick<Clock, 'now' | 'monotonic'>, monotonic: number): number =>
  Math.max(0, Math.round(clock.now() - (clock.monotonic() - monotonic)));

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  every: (ms, task) => {
    let running = false;
    const timer = setInterval(async () => {
      if (running) return;
      running = true;
      try {
        await task();
      } finally {
        running = false;
      }
    }, ms);
    return () => clearInterval(timer);
  },
};
