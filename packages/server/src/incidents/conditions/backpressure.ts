/**
 * Changes are taken in no faster than what is due is decided. Normally neither waits for the other; where the machine cannot
 * do both and deciding falls behind, onsets wait for it, so that what waits stays bounded.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { Sql } from '../../platform/db/sql.ts';
import type { Logger } from '../../platform/ops/log.ts';
import { lockIncidents } from './store.ts';

/** Deciding may be so late before it is waited for: well above a busy moment, well below what people notice. */
export const LATE_MS = 1_000;
/** Waiting is logged this often at most. */
const LOG_EVERY_MS = 60_000;

/** Waits for the site's lock where deciding is late; it is held until the transaction ends. */
export type Backpressure = (sql: Sql, siteId: string) => Promise<void>;

export function createBackpressure({ clock, log }: { clock: Clock; log?: Logger | undefined }): Backpressure {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let slowed = 0;
  return async (sql, siteId) => {
    const now = clock.now();
    const [oldest] = await sql.query<{ dueAt: Date }>(
      `SELECT due_at AS "dueAt" FROM conditions WHERE site_id = $1::uuid AND due_at < $2::timestamptz
       ORDER BY due_at LIMIT 1`,
      [siteId, new Date(now - LATE_MS)],
    );
    if (!oldest) return;
    slowed += 1;
    if (clock.monotonic() - loggedAt >= LOG_EVERY_MS) {
      log?.warn(
        { siteId, lateMs: now - oldest.dueAt.getTime(), slowed },
        'deciding about events is late: taking in waits for it',
      );
      loggedAt = clock.monotonic();
      slowed = 0;
    }
    await lockIncidents(sql, siteId);
  };
}
