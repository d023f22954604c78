import type { Clock } from '@rollcall/shared/clock';

/** What has one cause is logged this often at most. */
const LOG_EVERY_MS = 60_000;

/**
 * Logs what may happen any number of times: the first at once, then once a minute with their number and the last reason.
 * @param write `sender`: who caused it, or what failed; there must be a bounded number of them
 */
export function rateLimitedLog(
  clock: Clock,
  write: (sender: string, count: number, reason: string) => void,
): (sender: string, count: number, reason?: string) => void {
  const senders = new Map<string, { loggedAt: number; held: number }>();
  return (sender, count, reason = '') => {
    const now = clock.monotonic();
    const { loggedAt, held } = senders.get(sender) ?? { loggedAt: Number.NEGATIVE_INFINITY, held: 0 };
    const due = now - loggedAt >= LOG_EVERY_MS;
    senders.set(sender, due ? { loggedAt: now, held: 0 } : { loggedAt, held: held + count });
    if (due) write(sender, held + count, reason);
  };
}
