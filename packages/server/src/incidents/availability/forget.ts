/** Forgets when was observed what no event is left of: of that time availability is not known. */
import type { Database } from '../../platform/db/db.ts';
import { deleteSome } from '../../platform/db/delete-some.ts';

const TABLES = ['connection_history', 'monitoring_history', 'backlog_history', 'maintenance_history'];
/** Rows per statement, and statements per table and round; the rest comes with the next. */
const BATCH = 5_000;
const BATCHES = 20;

/** To be called before events that ended earlier than `before` are deleted. */
export async function forgetHistories(db: Database, before: Date): Promise<void> {
  for (const table of TABLES)
    for (let i = 0; i < BATCHES; i++) {
      const rows = await db.query(deleteSome(table, 't.until <= $1', BATCH), [before]);
      if (rows.length < BATCH) break;
    }
  // Long rows of the others stay: nothing is observed without a collector, and a backlog is kept by the day.
  await db.query(
    `UPDATE connection_history c SET since = $1 WHERE since < $1 AND NOT EXISTS (
       SELECT 1 FROM connection_history o WHERE o.site_id = c.site_id AND o.collector_id = c.collector_id AND o.since = $1)`,
    [before],
  );
}
