/** Events that were acknowledged until they recur or worsen are open again when they do. */
import { EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../../platform/db/sql.ts';
import { SYSTEM, writeActivity } from '../cases/timeline.ts';
import type { FreshEvent } from '../conditions/ledger.ts';

export interface Worsening {
  /** Events that happened again. */
  again: readonly string[];
  /** Events that were raised just now: worse for those of their devices that are less severe. */
  fresh: readonly FreshEvent[];
}

/** @returns the events that are open again. */
export async function unacknowledge(
  sql: Sql,
  siteId: string,
  { again, fresh }: Worsening,
  now: number,
  newId: () => string,
): Promise<string[]> {
  const worst = new Map<string, number>();
  for (const { body, closedAt } of fresh)
    if (body.deviceId !== null && closedAt === null)
      worst.set(body.deviceId, Math.min(body.severity, worst.get(body.deviceId) ?? body.severity));
  if (again.length === 0 && worst.size === 0) return [];
  const rows = await sql.query<{ id: string; caseId: string | null; message: string }>(
    `UPDATE events e SET status = ${EventStatus.open}, acknowledged_at = NULL, acknowledged_by = NULL, acknowledged_until = NULL
     WHERE e.site_id = $1::uuid AND e.status = ${EventStatus.acknowledged} AND e.acknowledged_until = 'worse'
       AND (e.id = ANY($2::uuid[]) OR EXISTS (
         SELECT 1 FROM jsonb_to_recordset($3::jsonb) AS w(device uuid, severity int)
         WHERE w.device = e.device_id AND w.severity < e.severity))
     RETURNING e.id, e.case_id AS "caseId", e.message`,
    [siteId, again, JSON.stringify([...worst].map(([device, severity]) => ({ device, severity })))],
  );
  await writeActivity(
    sql,
    siteId,
    now,
    rows.flatMap(({ caseId, message }) =>
      caseId === null
        ? []
        : [
            {
              ...SYSTEM,
              id: newId(),
              caseId,
              kind: 'comment' as const,
              text: `no longer acknowledged, it recurred or worsened: ${message}`,
              from: null,
              to: null,
            },
          ],
    ),
  );
  return rows.map(({ id }) => id);
}
