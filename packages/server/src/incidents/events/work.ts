/** What operators do with events. */
import type { AcknowledgedUntil } from '@rollcall/shared/api/incidents';
import { EventStatus } from '@rollcall/shared/model';
import type { Database } from '../../platform/db/db.ts';
import { inScope, Parameters, type Scope } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Actor } from '../../platform/http/handler.ts';
import { notFound } from '../../platform/problem.ts';
import type { Audit } from '../../ports.ts';
import { followClosed } from '../cases/cases.ts';
import { type ClosedEvent, lockIncidents } from '../conditions/store.ts';
import { idsOf } from '../ids.ts';
import { eventsThatMayBecome, moveEvent } from '../transitions.ts';

interface Move {
  id: string;
  to: EventStatus;
  actor: Actor;
  /** Address of the caller. */
  address: string;
  audit: Audit;
  scope: Scope;
  at: number;
  /** What ends an acknowledgement. */
  until?: AcknowledgedUntil;
}

/**
 * Moves an event by hand. @throws Problem `not_found` where it does not exist or is not in scope, `conflict` where
 * there is no such move.
 */
export async function workEvent(
  db: Database,
  { id, to, actor, address, audit, scope, at, until = 'clear' }: Move,
): Promise<void> {
  const p = new Parameters();
  const [event] = await db.query<{ siteId: string }>(
    `SELECT e.site_id AS "siteId" FROM events e WHERE e.id = ${p.add(id)}::uuid AND ${inScope(p, 'e.site_id', scope)}`,
    p.values,
  );
  if (!event) throw notFound('event');
  const { siteId } = event;
  await db.transaction(async (sql) => {
    await lockIncidents(sql, siteId);
    const [row] = await sql.query<ClosedEvent & { status: number; kind: string }>(
      'SELECT id, status, kind, case_id AS "caseId", message FROM events WHERE site_id = $1::uuid AND id = $2::uuid FOR UPDATE',
      [siteId, id],
    );
    if (!row) throw notFound('event');
    moveEvent(row.status, to);
    const set =
      to === EventStatus.closed
        ? `closed_at = $3::timestamptz, closed_by = $4, close_reason = 'manual'`
        : `acknowledged_at = $3::timestamptz, acknowledged_by = $4, acknowledged_until = '${until}'`;
    await sql.query(`UPDATE events SET status = ${to}, ${set} WHERE site_id = $1::uuid AND id = $2::uuid`, [
      siteId,
      id,
      new Date(at),
      actor.name,
    ]);
    if (to === EventStatus.closed)
      await followClosed(sql, siteId, [row], at, { actor: actor.name, actorId: actor.userId });
    else await announce(sql, siteId, 'event', [id]);
    await audit(sql, {
      ...{ actor, address, siteId, action: to === EventStatus.closed ? 'event.close' : 'event.acknowledge' },
      subject: `event ${row.message.slice(0, 200)}`,
      detail: { id, kind: row.kind },
    });
  });
}

/** Acknowledges, until they close, the events of a case that nobody looks after yet. @returns how many they are. */
export async function acknowledgeEvents(
  sql: Sql,
  siteId: string,
  { caseId, by, at }: { caseId: string; by: string; at: number },
): Promise<number> {
  const to = EventStatus.acknowledged;
  const rows = await sql.query<{ id: string }>(
    `UPDATE events SET status = ${to}, acknowledged_at = $3::timestamptz, acknowledged_by = $4, acknowledged_until = 'clear'
     WHERE site_id = $1::uuid AND case_id = $2::uuid AND status = ANY($5::int[]) RETURNING id`,
    [siteId, caseId, new Date(at), by, eventsThatMayBecome(to)],
  );
  await announce(sql, siteId, 'event', idsOf(rows));
  return rows.length;
}
