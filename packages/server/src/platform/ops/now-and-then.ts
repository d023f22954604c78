import type { Clock } from '@rollcall/shared/clock';

/** What has one cause is logged this often at most. */
const LOG_EVERY_MS = 60_000;

/**
 * Tells of what may happen any number of times: the first at once, then once a minute with their number and the last reason.
 * @param tell `sender`: who caused it, or what failed; there must be a bounded number of them
 */
export function tellNowAndThen(
  clock: Clock,
  tell: (sender: string, count: number, reason: string) => void,
): (sender: string, count: number, reason?: string) => void {
  const senders = new Map<string, { toldAt: number; untold: number }>();
  return (sender, count, reason = '') => {
    const now = clock.monotonic();
    const { toldAt, untold } = senders.get(sender) ?? { toldAt: Number.NEGATIVE_INFINITY, untold: 0 };
    const due = now - toldAt >= LOG_EVERY_MS;
    senders.set(sender, due ? { toldAt: now, untold: 0 } : { toldAt, untold: untold + count });
    if (due) tell(sender, untold + count, reason);
  };
}
