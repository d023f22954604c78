/**
 * Tells a service outside that this server works, for as long as it does: that service raises the alarm when it hears
 * nothing more. The one fault that no server can tell of is its own end.
 */
/** An answer that takes longer counts as none. */
const TIMEOUT_MS = 10_000;

/** Asks `url` once, unless the server is not well. Throws when nothing was heard, without the URL: it may hold a secret. */
export async function tellAlive(url: string, unhealthyReason: string | null): Promise<void> {
  if (unhealthyReason !== null) throw new Error(`not told, because ${unhealthyReason}`);
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
  await answer.body?.cancel();
  if (answer.status >= 400) throw new Error(`its answer was ${answer.status}`);
}
