/** Notices close by themselves when they have not happened again for a while. */

import { EventStatus } from '@rollcall/shared/model';
import type { Database } from '../../platform/db/db.ts';
import { followClosed } from '../cases/cases.ts';
import { forEach } from '../each.ts';
import { isEventCode, KINDS, kindOf } from '../kinds/kinds.ts';
import { type ClosedEvent, lockIncidents } from './store.ts';

/** The kinds that expire, and after how long. */
const EXPIRIES = Object.keys(KINDS).flatMap((kind) => {
  const ms = isEventCode(kind) ? kindOf(kind).expiresMs : undefined;
  return ms === undefined ? [] : [{ kind, ms }];
});

/** Notices closed per transaction. */
const EXPIRE_MOST = 5_000;

/** Closes what has expired by `now`, some at a time. @returns how many. */
export async function expireNotices(db: Database, now: number): Promise<number> {
  const due = await db.query<{ siteId: string }>(
    `SELECT DISTINCT e.site_id AS "siteId" FROM events e
     JOIN jsonb_to_recordset($1::jsonb) AS x(kind text, before timestamptz) ON x.kind = e.kind
     WHERE e.status < ${EventStatus.closed} AND e.timestamp < x.before ORDER BY 1 LIMIT 1000`,
    [bounds(now)],
  );
  return forEach(due, ({ siteId }) => expireSite(db, siteId, now));
}

const bounds = (now: number): string =>
  JSON.stringify(EXPIRIES.map(({ kind, ms }) => ({ kind, before: new Date(now - ms).toISOString() })));

const expireSite = (db: Database, siteId: string, now: number): Promise<number> =>
  db.transaction(async (sql) => {
    await lockIncidents(sql, siteId);
    const closed = await sql.query<ClosedEvent>(
      `UPDATE events e SET status = ${EventStatus.closed}, closed_at = $3::timestamptz, close_reason = 'expired'
       WHERE e.site_id = $1::uuid AND e.id IN (
         SELECT v.id FROM events v JOIN jsonb_to_recordset($2::jsonb) AS x(kind text, before timestamptz) ON x.kind = v.kind
         WHERE v.site_id = $1::uuid AND v.status < ${EventStatus.closed} AND v.timestamp < x.before LIMIT ${EXPIRE_MOST})
       RETURNING e.id, e.case_id AS "caseId", e.message`,
      [siteId, bounds(now), new Date(now)],
    );
    await followClosed(sql, siteId, closed, now);
    return closed.length;
  });
