/**
 * What is forgotten by age. Events and cases have rules of their own (incidents/retention.ts); deliveries and sessions are
 * purged where they live.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../platform/db/db.ts';
import { deleteSome } from '../platform/db/delete-some.ts';

interface Rule {
  table: string;
  /** Over `t`, with `$1` as the moment before which it is forgotten. */
  where: string;
  days: number;
}

/** Rows of these tables are deleted when they are older. Audit: a year, and what an audit of that year takes. */
const KEPT_DAYS = {
  scans: 90,
  audit: 400,
  dead_letters: 30,
  gaps: 90,
  maintenance_windows: 90,
  endpoints: 365,
  endpoint_changes: 365,
  merged_devices: 365,
};

export const RULES: readonly Rule[] = [
  // Jobs go with their scan. The last scan of a schedule stays: it says how the schedule does.
  {
    table: 'scans',
    where: `t.finished_at < $1 AND t.status IN ('completed', 'partial', 'failed', 'cancelled')
      AND NOT EXISTS (SELECT 1 FROM schedules s WHERE s.last_scan_id = t.id)`,
    days: KEPT_DAYS.scans,
  },
  { table: 'audit', where: 't.at < $1', days: KEPT_DAYS.audit },
  { table: 'dead_letters', where: 't.at < $1', days: KEPT_DAYS.dead_letters },
  { table: 'gaps', where: 't.at < $1', days: KEPT_DAYS.gaps },
  { table: 'maintenance_windows', where: 't.over_at < $1', days: KEPT_DAYS.maintenance_windows },
  { table: 'endpoints', where: 't.until < $1', days: KEPT_DAYS.endpoints },
  { table: 'endpoint_changes', where: 't.at < $1', days: KEPT_DAYS.endpoint_changes },
  { table: 'merged_devices', where: 't.at < $1', days: KEPT_DAYS.merged_devices },
];

const DAY_MS = 86_400_000;
/** Rows per statement: a bound for its locks. */
const BATCH = 5_000;
/** Statements per table and round; the rest comes with the next. */
const BATCHES = 20;

/** Deletes what is too old. @returns rows deleted, by table. */
export async function forget({ db, clock }: { db: Database; clock: Clock }): Promise<Record<string, number>> {
  const forgotten: Record<string, number> = {};
  for (const { table, where, days } of RULES) {
    const before = new Date(clock.now() - days * DAY_MS);
    let gone = 0;
    for (let i = 0; i < BATCHES; i++) {
      const rows = await db.query(deleteSome(table, where, BATCH), [before]);
      gone += rows.length;
      if (rows.length < BATCH) break;
    }
    if (gone > 0) forgotten[table] = gone;
  }
  return forgotten;
}
