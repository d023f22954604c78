import { type Clock, systemClock } from '@rollcall/shared/clock';

/** The system's clock with time running `factor` times as fast: long waits in tests over real sockets. */
export const fastClock = (factor: number): Clock => ({
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * factor,
  sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
  every: (ms, task) => systemClock.every(ms / factor, task),
});
