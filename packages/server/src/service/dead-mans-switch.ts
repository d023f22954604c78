/**
 * Tells a service outside that this server works, for as long as it does: that service raises the alarm when it hears
 * nothing more. The one fault that no server can tell of is its own end.
 */
import type { Clock } from '@rollcall/shared/clock';

/** An answer that takes longer counts as none. */
const TIMEOUT_MS = 10_000;
/** One lost request is no alarm: so many are sent, all within the minute of one sign. */
const TRIES = 3;
/** A sign of life that was not answered is sent again after this. */
const AGAIN_MS = 5_000;

/**
 * Asks `url` until it is answered, unless the server serves nobody: `servingReason` says why. Throws when nothing was
 * heard, without the URL: it may hold a secret.
 */
export async function reportHealth(
  url: string,
  { servingReason, clock }: { servingReason: () => string | null; clock: Clock },
): Promise<void> {
  for (let tried = 1; ; tried++) {
    const reason = servingReason();
    if (reason !== null) throw new Error(`not told, because ${reason}`);
    try {
      return await ask(url);
    } catch (error) {
      if (tried === TRIES) throw error;
      await clock.sleep(AGAIN_MS);
    }
  }
}

async function ask(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
  await answer.body?.cancel();
  if (answer.status >= 400) throw new Error(`its answer was ${answer.status}`);
}
