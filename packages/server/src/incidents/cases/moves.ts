/** Events that go from case to case, and cases that go into another: by hand, or because they proved to be one. */
import { CaseStatus } from '@rollcall/shared/model';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { notFound } from '../../platform/problem.ts';
import { caseStatusName } from '../transitions.ts';
import { attach, refreshCases } from './cases.ts';
import { queueNotices } from './outbox.ts';
import { refreshSearch } from './search.ts';
import { type Activity, eventsEntry, writeActivity } from './timeline.ts';

/** Who moves, with the site locked. */
export interface Moving {
  sql: Sql;
  siteId: string;
  at: number;
  newId: () => string;
  by: { actor: string; actorId: string | null };
}

/** Moves events of the site to a case and refreshes every case that this touches. All or none. */
export async function moveEvents(moving: Moving, caseId: string, eventIds: readonly string[]): Promise<void> {
  const { sql, siteId, at, newId, by } = moving;
  const wanted = [...new Set(eventIds)];
  const events = await sql.query<{ id: string; caseId: string | null; message: string }>(
    `SELECT id, case_id AS "caseId", message FROM events
     WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) ORDER BY severity, first_seen, id`,
    [siteId, wanted],
  );
  if (events.length < wanted.length) throw notFound('event');
  const moved = events.filter((event) => event.caseId !== caseId);
  if (moved.length === 0) return;
  const former = new Set(moved.flatMap((event) => event.caseId ?? []));
  await attach(sql, siteId, new Map(moved.map((event) => [event.id, caseId])));
  await writeActivity(sql, siteId, at, [eventsEntry('event_added', caseId, moved, by, newId)]);
  await refreshCases(sql, siteId, { joined: new Set([caseId]), left: former, closed: [] }, at, newId);
}

/** Moves events, comments and tags of a case into another of its site, and closes it. */
export async function mergeInto(moving: Moving, from: string, into: string): Promise<void> {
  const { sql, siteId, at, newId, by } = moving;
  const events = await sql.query<{ id: string }>(
    'SELECT id FROM events WHERE site_id = $1::uuid AND case_id = $2::uuid',
    [siteId, from],
  );
  await moveEvents(
    moving,
    into,
    events.map(({ id }) => id),
  );
  // What was in it and is over returns to the other as well.
  await sql.query(
    'UPDATE conditions SET case_id = $3::uuid WHERE site_id = $1::uuid AND case_id = $2::uuid',
    [siteId, from, into],
  );
  await sql.query(
    `UPDATE case_activity SET case_id = $3::uuid WHERE site_id = $1::uuid AND case_id = $2::uuid AND kind = 'comment'`,
    [siteId, from, into],
  );
  const [source] = await sql.query<{ number: number; status: number; other: number }>(
    `UPDATE cases c SET status = ${CaseStatus.closed}, manual_status = true, closed_at = $4::timestamptz,
       updated_at = $4::timestamptz
     FROM cases b, cases o
     WHERE c.site_id = $1::uuid AND c.id = $2::uuid AND b.site_id = c.site_id AND b.id = c.id
       AND o.site_id = c.site_id AND o.id = $3::uuid
     RETURNING c.number, b.status, o.number AS other`,
    [siteId, from, into, new Date(at)],
  );
  if (!source) throw notFound('case');
  await sql.query(
    `UPDATE cases c SET updated_at = $4::timestamptz, tags = (
       SELECT coalesce(array_agg(d.tag ORDER BY d.first), '{}') FROM (
         SELECT (array_agg(u.tag ORDER BY u.n DESC))[1] AS tag, min(u.n) AS first
         FROM unnest(s.tags || c.tags) WITH ORDINALITY AS u(tag, n) GROUP BY lower(u.tag)) d)
     FROM cases s WHERE c.site_id = $1::uuid AND c.id = $2::uuid AND s.site_id = c.site_id AND s.id = $3::uuid`,
    [siteId, into, from, new Date(at)],
  );
  const line = (caseId: string, more: Pick<Activity, 'kind' | 'text' | 'from' | 'to'>): Activity => ({
    ...by,
    id: newId(),
    caseId,
    ...more,
  });
  await writeActivity(sql, siteId, at, [
    line(into, {
      kind: 'comment',
      text: `merged case #${source.number} into this one`,
      from: null,
      to: null,
    }),
    line(from, {
      kind: 'status',
      text: `merged into case #${source.other}`,
      from: caseStatusName(source.status),
      to: 'closed',
    }),
  ]);
  await refreshSearch(sql, siteId, into);
  const over = source.status < CaseStatus.resolved ? 'case.resolved' : 'case.changed';
  await queueNotices(sql, siteId, [{ caseId: from, type: over }], at);
  await announce(sql, siteId, 'case', [from]);
}
