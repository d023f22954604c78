/** Cases that make, extend and resolve themselves. */
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { FreshEvent } from '../conditions/ledger.ts';
import type { ClosedEvent } from '../conditions/store.ts';
import type { Grouped, Rerooted } from '../correlation/group.ts';
import { groupEvents, incomingOf } from '../correlation/input.ts';
import type { Incoming } from '../correlation/match.ts';
import { ascendingIds, idsOf } from '../ids.ts';
import { kindOf, NOTICES } from '../kinds/kinds.ts';
import { maintained } from '../maintenance/covered.ts';
import { type CaseAfterEvents, type CaseFacts, caseAfterEvents, caseStatusName } from '../transitions.ts';
import { type CaseNotice, queueNotices } from './outbox.ts';
import { addSearched } from './search.ts';
import { type Activity, eventsEntry, SYSTEM, writeActivity } from './timeline.ts';
import { titleOf } from './title.ts';

/** Where events go. */
export interface Placed {
  /** Event id → case id. */
  caseOf: Map<string, string>;
  /** Event id → the end of the maintenance that keeps it out of cases until then, Unix milliseconds. */
  maintenance: Map<string, number>;
  /** Cases whose root was recognised now, and cases that proved to be part of another: for `followRoots`. */
  rerooted: readonly Rerooted[];
  merged: ReadonlyMap<string, string>;
}
/** What a case says of an event: its message, and the name of its device for the search. */
export interface Text {
  message: string;
  device: string | null;
}

/** Finds the cases of events that are about to be stored, and of those that wait; opens those that are needed. */
export async function placeEvents(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
  waiting: readonly Incoming[],
  now: number,
  newId: () => string,
): Promise<Placed> {
  const fresh = events.filter((event) => kindOf(event.code).cases !== 'none').map(incomingOf);
  const texts = new Map(
    events.map(({ id, body }): [string, Text] => [
      id,
      { message: body.message, device: body.deviceName || null },
    ]),
  );
  return placeIncoming(sql, siteId, [...fresh, ...waiting], texts, now, newId);
}

/**
 * Places events, opening the cases that are needed. Those that are stored already (they waited) are attached here; the
 * incoming ones, named by `texts`, are the caller's to store.
 */
export async function placeIncoming(
  sql: Sql,
  siteId: string,
  incoming: readonly Incoming[],
  texts: ReadonlyMap<string, Text>,
  now: number,
  newId: () => string,
): Promise<Placed> {
  const maintenance = await maintained(sql, siteId, incoming, now);
  const free = incoming.filter(({ eventId }) => !maintenance.has(eventId));
  if (free.length === 0) return { caseOf: new Map(), maintenance, rerooted: [], merged: new Map() };
  const grouped = await groupEvents(sql, siteId, free, now, newId);
  const caseOf = await applyGrouping(sql, siteId, grouped, texts, now, newId);
  return { caseOf, maintenance, rerooted: grouped.rerooted, merged: grouped.merged };
}

async function applyGrouping(
  sql: Sql,
  siteId: string,
  { placements, created }: Grouped,
  texts: ReadonlyMap<string, Text>,
  now: number,
  newId: () => string,
): Promise<Map<string, string>> {
  const caseOf = new Map(placements.flatMap(({ eventId, caseId }) => (caseId ? [[eventId, caseId]] : [])));
  for (const { id, waiting } of created) for (const eventId of waiting) caseOf.set(eventId, id);
  if (caseOf.size === 0) return caseOf;
  if (created.length > 0)
    await sql.query(
      `INSERT INTO cases (site_id, id, title, severity, tags, root_device_id, begun_at, created_at, updated_at, search_text)
     SELECT $1::uuid, r.id, r.title, 5, '{}', r."rootDeviceId", r."begunAt", $2::timestamptz, $2::timestamptz, r.search
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, title text, "rootDeviceId" uuid, "begunAt" timestamptz, search text)`,
      [
        siteId,
        new Date(now),
        JSON.stringify(
          created.map((c) => ({
            ...c,
            title: titleOf(c.title),
            begunAt: new Date(c.begunAt).toISOString(),
            search: c.title.toLowerCase(),
          })),
        ),
      ],
    );
  const reasons = new Map(placements.map(({ eventId, reason }) => [eventId, reason]));
  const waited = new Map([...caseOf].filter(([id]) => !texts.has(id)));
  const added = waited.size > 0 ? await attach(sql, siteId, waited) : [];
  const devices: { id: string; text: string }[] = [];
  const ofNewDevices = new Set(placements.flatMap(({ eventId, newDevice }) => (newDevice ? eventId : [])));
  for (const [id, caseId] of caseOf) {
    const text = texts.get(id);
    if (!text) continue;
    added.push({ id, caseId, message: text.message });
    if (text.device !== null && ofNewDevices.has(id)) devices.push({ id: caseId, text: text.device });
  }
  await addSearched(sql, siteId, devices);
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
    if (others.length > 0) entries.push(eventsEntry('event_added', caseId, others, SYSTEM, newId));
  }
  await writeActivity(sql, siteId, now, entries);
  return caseOf;
}

/** Gives events to cases, where their trouble returns to, and makes the cases searchable by the names of their devices. */
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
  await sql.query(
    `UPDATE conditions c SET case_id = r."caseId" FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, "caseId" uuid)
     WHERE c.site_id = $1::uuid AND c.event_id = r.id`,
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
  /** When it was updated last is worth writing anew. */
  stale: boolean;
}

/** "Updated" of a case to which events come all the time is exact to this: its row has a dozen indexes. */
const GRAIN_MS = 1_000;

/**
 * Brings cases up to date with their events: severity of the worst live one, resolved when all are closed, back to
 * investigating when one came. @returns the cases that still exist.
 */
export async function refreshCases(
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
       c.updated_at <= $4::timestamptz AS stale,
       EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id) AS events, worst IS NOT NULL AS live, worst,
       EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id AND e.kind <> ALL($3)) AS conditions,
       EXISTS (SELECT 1 FROM events e WHERE e.case_id = c.id AND e.status < ${EventStatus.closed} AND e.kind <> ALL($3)) AS "liveConditions"
     FROM cases c LEFT JOIN LATERAL (
       SELECT e.severity AS worst FROM events e WHERE e.case_id = c.id AND e.status < ${EventStatus.closed} ORDER BY e.severity LIMIT 1) w ON true
     WHERE c.site_id = $1::uuid AND c.id = ANY($2::uuid[])`,
    [siteId, ids, NOTICES, new Date(now - GRAIN_MS)],
  );
  const entries: Activity[] = [];
  const rows = facts.map((row) => {
    const next = caseAfterEvents(row, joined.has(row.id));
    const gone = closedBy.get(row.id);
    if (gone) entries.push(eventsEntry('event_closed', row.id, gone, by, newId));
    if (next.reason !== 'none')
      entries.push({
        ...SYSTEM,
        id: newId(),
        caseId: row.id,
        kind: 'status',
        text: next.reason === 'all-clear' ? 'all events are closed' : 'an event came back',
        from: caseStatusName(row.status),
        to: caseStatusName(next.status),
      });
    const { status, severity, reason } = next;
    const write = row.stale || status !== row.status || severity !== row.severity;
    return { id: row.id, status, severity, reason, before: row.severity, write };
  });
  const written = rows.filter(({ write }) => write);
  if (written.length > 0)
    await sql.query(
      `UPDATE cases c SET status = r.status, severity = r.severity, updated_at = $2::timestamptz,
       resolved_at = CASE WHEN r.status = ${CaseStatus.resolved} AND c.status < ${CaseStatus.resolved} THEN $2::timestamptz
         WHEN r.status < ${CaseStatus.resolved} THEN NULL ELSE c.resolved_at END
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, status int, severity int)
     WHERE c.site_id = $1::uuid AND c.id = r.id`,
      [siteId, new Date(now), JSON.stringify(written)],
    );
  await closeNotices(sql, siteId, idsOf(rows.filter(({ reason }) => reason === 'all-clear')), now);
  await queueNotices(sql, siteId, rows.flatMap(noticeOf), now);
  await writeActivity(sql, siteId, now, entries);
  await announce(sql, siteId, 'case', idsOf(rows));
}

/** Tells the cases of events that were just closed, and live streams of these events. */
export async function followClosed(
  sql: Sql,
  siteId: string,
  closed: readonly ClosedEvent[],
  now: number,
  by?: { actor: string; actorId: string | null },
): Promise<void> {
  await refreshCases(sql, siteId, { joined: new Set(), closed }, now, ascendingIds(now), by);
  await announce(sql, siteId, 'event', idsOf(closed));
}

/** The notice of a case that changed by its events; that events came and went is the case's own business. */
function noticeOf(row: {
  id: string;
  reason: CaseAfterEvents['reason'];
  severity: number;
  before: number;
}): CaseNotice[] {
  const type = {
    'all-clear': 'case.resolved',
    'event-returned': 'case.reopened',
    none: 'case.changed',
  } as const;
  // Of a case that was just made, the severity always differs: that is its opening.
  return row.reason === 'none' && row.severity === row.before
    ? []
    : [{ caseId: row.id, type: type[row.reason] }];
}

/** What only happened beside trouble that is over is over with it. */
async function closeNotices(
  sql: Sql,
  siteId: string,
  caseIds: readonly string[],
  now: number,
): Promise<void> {
  if (caseIds.length === 0) return;
  const closed = await sql.query<{ id: string }>(
    `UPDATE events SET status = ${EventStatus.closed}, closed_at = greatest($3::timestamptz, first_seen), close_reason = 'expired'
     WHERE site_id = $1::uuid AND case_id = ANY($2::uuid[]) AND status < ${EventStatus.closed} AND kind = ANY($4) RETURNING id`,
    [siteId, caseIds, new Date(now), NOTICES],
  );
  await announce(sql, siteId, 'event', idsOf(closed));
}
