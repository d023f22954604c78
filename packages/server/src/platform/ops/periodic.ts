import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';

/** Work that comes again. */
export interface Periodic {
  /** For the log: what is done. */
  what: string;
  everyMs: number;
  run: () => Promise<unknown>;
}

/** Work that comes many times a second may fail alike each time: a failure is logged this often, with their number. */
const LOG_EVERY_MS = 60_000;

/** Does each piece of work again and again, never twice at once; one that fails is logged and comes again. @returns what ends all. */
export function startPeriodic(deps: { clock: Clock; log: Logger }, work: readonly Periodic[]): () => void {
  const stops = work.map((each) => deps.clock.every(each.everyMs, logFailures(deps, each)));
  return () => {
    for (const stop of stops) stop();
  };
}

function logFailures({ clock, log }: { clock: Clock; log: Logger }, { what, run }: Periodic) {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  return async (): Promise<void> => {
    try {
      await run();
    } catch (error) {
      failures += 1;
      if (clock.monotonic() - loggedAt < LOG_EVERY_MS) return;
      log.warn({ err: error, failures }, `${what} failed; it is tried again`);
      loggedAt = clock.monotonic();
      failures = 0;
    }
  };
}
