/**
 * What subscribers are to be told of cases: written in the transaction of the case, taken out by `deliveries`. Nothing
 * here waits for anybody outside, whoever listens.
 */
import type { NoticeType } from '@rollcall/shared/api/deliveries';
import type { Sql } from '../../platform/db/sql.ts';

export interface Told {
  caseId: string;
  type: NoticeType;
}

/** Notes what happened to cases. Of one that nobody was told of yet, that it was opened comes first. */
export async function tell(sql: Sql, siteId: string, told: readonly Told[], now: number): Promise<void> {
  if (told.length === 0) return;
  const fresh = await sql.query<{ id: string }>(
    `UPDATE cases SET told = true WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) AND NOT told RETURNING id`,
    [siteId, told.map(({ caseId }) => caseId)],
  );
  const opened = new Set(fresh.map(({ id }) => id));
  const rows = [
    ...[...opened].map((caseId): Told => ({ caseId, type: 'case.opened' })),
    // What changed while it was opened is part of the opening.
    ...told.filter(
      ({ caseId, type }) => type === 'case.resolved' || (type !== 'case.opened' && !opened.has(caseId)),
    ),
  ];
  await sql.query(
    `INSERT INTO case_outbox (site_id, case_id, type, at)
     SELECT $1::uuid, r."caseId", r.type, $2::timestamptz
     FROM ROWS FROM (jsonb_to_recordset($3::jsonb) AS ("caseId" uuid, type text)) WITH ORDINALITY AS r("caseId", type, n)
     ORDER BY r.n`,
    [siteId, new Date(now), JSON.stringify(rows)],
  );
}
