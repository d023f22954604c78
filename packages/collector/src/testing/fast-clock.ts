import { type Clock, systemClock } from '@rollcall/shared/clock';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';

/** Of what the system's clock went on between two turns of the event loop, this much counts, milliseconds. */
const TURN_MS = 5;

/**
 * Time that runs `factor` times as fast as the system's, for long waits in tests over real sockets. It stands still while this
 * process gets no turn, and lets sockets have theirs before each timer: a busy machine makes no request time out.
 */
export function fastClock(factor: number): Clock {
  const timers = new ManualClock();
  let waiting = 0;
  let ticking = false;
  let seen = systemClock.monotonic();
  /** What passed while nobody waited for anything. */
  let idle = 0;
  const elapsed = () => {
    const before = seen;
    seen = systemClock.monotonic();
    return seen - before;
  };
  const tick = async () => {
    await timers.pass(Math.min(elapsed(), TURN_MS) * factor);
    ticking = waiting > 0;
    if (ticking) setTimeout(tick, 1);
  };
  const begin = () => {
    waiting += 1;
    if (ticking) return;
    ticking = true;
    idle += elapsed() * factor;
    setTimeout(tick, 1);
  };
  return {
    now: () => systemClock.now(),
    monotonic: () => {
      if (!ticking) idle += elapsed() * factor;
      return timers.monotonic() + idle;
    },
    sleep: (ms, signal) => {
      begin();
      return timers.sleep(ms, signal).finally(() => {
        waiting -= 1;
      });
    },
    every: (ms, task) => {
      begin();
      const stop = timers.every(ms, task);
      let stopped = false;
      return () => {
        if (stopped) return;
        stopped = true;
        waiting -= 1;
        stop();
      };
    },
  };
}
