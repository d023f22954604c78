/** Cases that make, extend and resolve themselves. */
import { CaseStatus } from '@rollcall/shared/model';
import { announce } from '../kernel/announce.ts';
import type { Sql } from '../kernel/sql.ts';
import { type Activity, eventsEntry, SYSTEM, writeActivity } from './activity.ts';
import { addSearched } from './case-search.ts';
import { groupEvents, incomingOf } from './case-world.ts';
import type { Grouped } from './group.ts';
import { kindOf } from './kinds.ts';
import type { FreshEvent } from './ledger.ts';
import type { ClosedEvent } from './store.ts';
import { type CaseFacts, caseStatusName, settle } from './transitions.ts';

/** Puts new events into cases, opening those that are needed. @returns event id → case id. */
export async function placeEvents(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
  now: number,
  newId: () => string,
): Promise<Map<string, string>> {
  const incoming = events.filter((event) => kindOf(event.code).cases !== 'none').map(incomingOf);
  if (incoming.length === 0) return new Map();
  const grouped = await groupEvents(sql, siteId, incoming, now, newId);
  const messages = new Map(events.map((event) => [event.id, event.body.message]));
  return applyGrouping(sql, siteId, grouped, messages, now, newId);
}

async function applyGrouping(
  sql: Sql,
  siteId: string,
  { placements, created }: Grouped,
  messages: ReadonlyMap<string, string>,
  now: number,
  newId: () => string,
): Promise<Map<string, string>> {
  const caseOf = new Map(placements.flatMap(({ eventId, caseId }) => (caseId ? [[eventId, caseId]] : [])));
  for (const { id, waiting } of created) for (const eventId of waiting) caseOf.set(eventId, id);
  if (caseOf.size === 0) return caseOf;
  await sql.query(
    `INSERT INTO cases (site_id, id, title, severity, tags, root_device_id, created_at, updated_at, search_text)
     SELECT $1::uuid, r.id, r.title, 5, '{}', r."rootDeviceId", $2::timestamptz, $2::timestamptz, r.search
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, title text, "rootDeviceId" uuid, search text)`,
    [
      siteId,
      new Date(now),
      JSON.stringify(
        created.map((c) => ({ ...c, title: c.title.slice(0, 200), search: c.title.toLowerCase() })),
      ),
    ],
  );
  const reasons = new Map(placements.map(({ eventId, reason }) => [eventId, reason]));
  const added = await attach(sql, siteId, caseOf);
  const opened = new Set(created.map(({ id }) => id));
  const entries = created.map(
    ({ id, title }): Activity => ({
      ...SYSTEM,
      id: newId(),
      caseId: id,
      kind: 'created',
      text: title,
      from: null,
      to: null,
    }),
  );
  for (const [caseId, events] of byCase(added)) {
    // The event that made a case is its first line already.
    const others = opened.has(caseId) ? events.filter((event) => reasons.get(event.id) !== 'new') : events;
    if (others.length > 0)
      entries.push(
        eventsEntry(
          'event_added',
          caseId,
          others.map((e) => ({ ...e, message: messages.get(e.id) ?? e.message })),
          SYSTEM,
          newId,
        ),
      );
  }
  await writeActivity(sql, siteId, now, entries);
  return caseOf;
}

/** Gives events to cases and makes the cases searchable by the names of their devices. */
export async function attach(
  sql: Sql,
  siteId: string,
  caseOf: ReadonlyMap<string, string>,
): Promise<{ id: string; caseId: string; message: string }[]> {
  const rows = JSON.stringify([...caseOf].map(([id, caseId]) => ({ id, caseId })));
  const added = await sql.query<{ id: string; caseId: string; message: string; device: string | null }>(
    `UPDATE events e SET case_id = r."caseId"
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, "caseId" uuid)
     WHERE e.site_id = $1::uuid AND e.id = r.id
     RETURNING e.id, e.case_id AS "caseId", e.message,
       (SELECT d.name FROM devices d WHERE d.site_id = e.site_id AND d.id = e.device_id) AS device`,
    [siteId, rows],
  );
  const names = new Map<string, Set<string>>();
  for (const { caseId, device } of added) {
    if (device === null) continue;
    const known = names.get(caseId) ?? new Set();
    names.set(caseId, known.add(device));
  }
  await addSearched(
    sql,
    siteId,
    [...names].flatMap(([id, devices]) => [...devices].map((text) => ({ id, text }))),
  );
  return added;
}

const byCase = <E extends { caseId: string | null }>(events: readonly E[]): Map<string, E[]> => {
  const cases = new Map<string, E[]>();
  for (const event of events) {
    if (event.caseId === null) continue;
    const known = cases.get(event.caseId);
    if (known) known.push(event);
    else cases.set(event.caseId, [event]);
  }
  return cases;
};

/** What happened to the events of cases. */
export interface Touched {
  /** Cases that events came to. */
  joined: ReadonlySet<string>;
  /** Cases that events were taken from. */
  left?: ReadonlySet<string>;
  closed: readonly ClosedEvent[];
}

interface FactsRow extends CaseFacts {
  id: string;
}

/**
 * Brings cases up to date with their events: severity of the worst live one, resolved when all are closed, back to
 * investigating when one came. @returns the cases that still exist.
 */
export async function settleCases(
  sql: Sql,
  siteId: string,
  { joined, left, closed }: Touched,
  now: number,
  newId: () => string,
  by: { actor: string; actorId: string | null } = SYSTEM,
): Promise<void> {
  const closedBy = byCase(closed);
  const ids = [...new Set([...joined, ...(left ?? []), ...closedBy.keys()])];
  if (ids.length === 0) return;
  const facts = await sql.query<FactsRow>(
    `SELECT c.id, c.status, c.severity, c.manual_status AS "manualStatus",
       count(e.id) AS events, count(e.id) FILTER (WHERE e.status < 2) AS live,
       min(e.severity) FILTER (WHERE e.status < 2) AS worst
     FROM cases c LEFT JOIN events e ON e.case_id = c.id
     WHERE c.site_id = $1::uuid AND c.id = ANY($2::uuid[])
     GROUP BY c.site_id, c.id`,
    [siteId, ids],
  );
  const entries: Activity[] = [];
  const rows = facts.map((row) => {
    const settled = settle(row, joined.has(row.id));
    const gone = closedBy.get(row.id);
    if (gone) entries.push(eventsEntry('event_closed', row.id, gone, by, newId));
    if (settled.reason !== 'none')
      entries.push({
        ...SYSTEM,
        id: newId(),
        caseId: row.id,
        kind: 'status',
        text: settled.reason === 'all-clear' ? 'all events are closed' : 'an event came back',
        from: caseStatusName(row.status),
        to: caseStatusName(settled.status),
      });
    return { id: row.id, status: settled.status, severity: settled.severity };
  });
  await sql.query(
    `UPDATE cases c SET status = r.status, severity = r.severity, updated_at = $2::timestamptz,
       resolved_at = CASE WHEN r.status = ${CaseStatus.resolved} AND c.status < ${CaseStatus.resolved} THEN $2::timestamptz
         WHEN r.status < ${CaseStatus.resolved} THEN NULL ELSE c.resolved_at END
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, status int, severity int)
     WHERE c.site_id = $1::uuid AND c.id = r.id`,
    [siteId, new Date(now), JSON.stringify(rows)],
  );
  await writeActivity(sql, siteId, now, entries);
  await announce(
    sql,
    siteId,
    'case',
    rows.map(({ id }) => id),
  );
}
