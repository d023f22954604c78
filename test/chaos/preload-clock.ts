/**
 * Loaded into a process before its own modules: the wall clock is off by as many milliseconds as a file says, and steps
 * when the file changes. Monotonic time is what it was: that is what a step of the system's clock does.
 */
import { readFileSync } from 'node:fs';

const file = process.env.CHAOS_CLOCK_FILE;
const LOOK_MS = 20;

if (file) {
  const real = Date.now;
  let offset = 0;
  const look = () => {
    try {
      offset = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      offset = 0;
    }
  };
  look();
  setInterval(look, LOOK_MS).unref();
  const now = () => real() + offset;
  const Real = Date;
  const Stepped = new Proxy(Real, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new Real(now()).toString(),
  });
  Real.now = now;
  globalThis.Date = Stepped;
}
