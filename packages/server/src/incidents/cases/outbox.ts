/**
 * Notices for subscribers of cases: written in the transaction of the case, taken out by `deliveries`. Nothing here waits
 * for anybody outside.
 */
import type { NoticeType } from '@rollcall/shared/api/notices';
import type { Sql } from '../../platform/db/sql.ts';

export interface CaseNotice {
  caseId: string;
  type: NoticeType;
}

/** Notes what happened to cases. The first notice of a case says that it was opened. */
export async function queueNotices(
  sql: Sql,
  siteId: string,
  notices: readonly CaseNotice[],
  now: number,
): Promise<void> {
  if (notices.length === 0) return;
  const fresh = await sql.query<{ id: string }>(
    `UPDATE cases SET told = true WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) AND NOT told RETURNING id`,
    [siteId, notices.map(({ caseId }) => caseId)],
  );
  const opened = new Set(fresh.map(({ id }) => id));
  const rows = [
    ...[...opened].map((caseId): CaseNotice => ({ caseId, type: 'case.opened' })),
    // What changed while it was opened is part of the opening.
    ...notices.filter(
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
