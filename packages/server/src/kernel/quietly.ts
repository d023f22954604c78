import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from './log.ts';

/** A failure that repeats is logged this often at most: rounds come many times a second and may all fail alike. */
const TELL_EVERY_MS = 60_000;

/** A round of work that says its failure, at most once a minute and then how many there were, and comes again. */
export function quietly(
  { clock, log }: { clock: Clock; log: Logger },
  name: string,
  work: () => Promise<unknown>,
): () => Promise<void> {
  let told = Number.NEGATIVE_INFINITY;
  let failures = 0;
  return async () => {
    try {
      await work();
    } catch (error) {
      failures += 1;
      if (clock.monotonic() - told < TELL_EVERY_MS) return;
      log.warn({ err: error, failures }, `${name}: this round failed`);
      told = clock.monotonic();
      failures = 0;
    }
  };
}
