/** The timeline of a case: who did what, when. Append only. */
import type { ActivityKind } from '@rollcall/shared/api/incidents';
import type { Sql } from '../../platform/db/sql.ts';

export interface Activity {
  id: string;
  caseId: string;
  actor: string;
  actorId: string | null;
  kind: ActivityKind;
  text: string;
  from: string | null;
  to: string | null;
}

export const SYSTEM = { actor: 'system', actorId: null } as const;

export async function writeActivity(
  sql: Sql,
  siteId: string,
  at: number,
  entries: readonly Activity[],
): Promise<void> {
  if (entries.length === 0) return;
  await sql.query(
    `INSERT INTO case_activity (site_id, id, case_id, at, actor, actor_id, kind, text, "from", "to")
     SELECT $1::uuid, r.id, r."caseId", $2::timestamptz, r.actor, r."actorId", r.kind, r.text, r."from", r."to"
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, "caseId" uuid, actor text, "actorId" uuid, kind text, text text,
       "from" text, "to" text)`,
    [siteId, new Date(at).toISOString(), JSON.stringify(entries)],
    'kept',
  );
}

/** One entry for however many events came or closed at once: a storm is one line. */
export function eventsEntry(
  kind: 'event_added' | 'event_closed',
  caseId: string,
  events: readonly { id: string; message: string }[],
  by: { actor: string; actorId: string | null },
  newId: () => string,
): Activity {
  const [first] = events;
  const more = events.length > 1 ? ` and ${events.length - 1} more` : '';
  return {
    ...by,
    id: newId(),
    caseId,
    kind,
    text: `${first?.message ?? ''}${more}`,
    from: null,
    to: events.length === 1 ? (first?.id ?? null) : null,
  };
}
