/** The bulk statements of events and conditions: one per table and verb, rows as one JSON parameter. */
import { EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../kernel/sql.ts';
import { type FreshEvent, type StoredCondition, statusOf } from './ledger.ts';
import type { EventBody } from './signals.ts';

/** Cases and maintenance by event id. */
interface Placement {
  caseOf: ReadonlyMap<string, string>;
  maintenance: ReadonlyMap<string, number>;
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** One writer of a site's events and cases at a time: grouping looks at what is open. Held until the transaction ends. */
export async function lockIncidents(sql: Sql, siteId: string): Promise<void> {
  await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended('incidents:' || $1::text, 0))`, [siteId]);
}

/** Which keys of some events have a live event already. Under the site's lock this stays so. */
export async function liveEvents(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set();
  const rows = await sql.query<{ key: string }>(
    'SELECT dedup_key AS key FROM events WHERE site_id = $1::uuid AND dedup_key = ANY($2::text[]) AND status < 2',
    [siteId, events.map(({ key }) => key)],
  );
  return new Set(rows.map(({ key }) => key));
}

/**
 * Inserts events. Where one of the same key is live already, that one counts up instead. @returns the id that holds
 * each given id's occurrence.
 */
export async function insertEvents(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
  { caseOf, maintenance }: Placement,
): Promise<Map<string, string>> {
  if (events.length === 0) return new Map();
  const rows = events.map((event) => ({
    id: event.id,
    kind: event.code,
    ...event.body,
    dedupKey: event.key,
    status: statusOf(event),
    count: event.count,
    firstSeen: iso(event.firstSeen),
    timestamp: iso(event.timestamp),
    closedAt: iso(event.closedAt),
    closeReason: event.closedAt === null ? null : 'cleared',
    caseId: caseOf.get(event.id) ?? null,
    maintenanceUntil: iso(maintenance.get(event.id) ?? null),
  }));
  const stored = await sql.query<{ id: string; dedupKey: string; status: number }>(
    `INSERT INTO events (site_id, id, device_id, interface_id, collector_id, kind, source, severity, status, message,
       details, dedup_key, count, first_seen, timestamp, closed_at, close_reason, case_id, maintenance_until)
     SELECT $1::uuid, r.id, r."deviceId", r."interfaceId", r."collectorId", r.kind, r.source, r.severity, r.status,
       r.message, r.details, r."dedupKey", r.count, r."firstSeen", r.timestamp, r."closedAt", r."closeReason",
       r."caseId", r."maintenanceUntil"
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, "deviceId" uuid, "interfaceId" uuid, "collectorId" uuid,
       kind text, source text, severity int, status int, message text, details jsonb, "dedupKey" text, count int,
       "firstSeen" timestamptz, timestamp timestamptz, "closedAt" timestamptz, "closeReason" text,
       "caseId" uuid, "maintenanceUntil" timestamptz)
     ORDER BY r."dedupKey", r.id
     ON CONFLICT (site_id, dedup_key) WHERE status < 2 DO UPDATE
     SET count = events.count + EXCLUDED.count, timestamp = greatest(events.timestamp, EXCLUDED.timestamp),
       message = EXCLUDED.message, details = EXCLUDED.details
     RETURNING id, dedup_key AS "dedupKey", status`,
    [siteId, JSON.stringify(rows)],
  );
  const ids = new Set(stored.map((row) => row.id));
  const live = new Map(
    stored.filter((row) => row.status < EventStatus.closed).map((row) => [row.dedupKey, row.id]),
  );
  return new Map(events.map(({ id, key }) => [id, ids.has(id) ? id : (live.get(key) ?? id)]));
}

/** Counts stored events up. */
export async function countEvents(
  sql: Sql,
  siteId: string,
  counts: ReadonlyMap<string, { n: number; at: number }>,
): Promise<void> {
  if (counts.size === 0) return;
  const rows = [...counts].map(([id, { n, at }]) => ({ id, n, at: iso(at) }));
  await sql.query(
    `UPDATE events e SET count = e.count + r.n, timestamp = greatest(e.timestamp, r.at)
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, n int, at timestamptz)
     WHERE e.site_id = $1::uuid AND e.id = r.id AND e.status < 2`,
    [siteId, JSON.stringify(rows)],
  );
}

/** An event that closed, for its case. */
export interface ClosedEvent {
  id: string;
  caseId: string | null;
  message: string;
}

/** Closes live events because their opposite was observed. @returns those that were live. */
export function clearEvents(
  sql: Sql,
  siteId: string,
  closes: ReadonlyMap<string, number>,
): Promise<ClosedEvent[]> {
  if (closes.size === 0) return Promise.resolve([]);
  const rows = [...closes].map(([id, at]) => ({ id, at: iso(at) }));
  return sql.query<ClosedEvent>(
    `UPDATE events e SET status = 2, closed_at = greatest(r.at, e.first_seen), close_reason = 'cleared'
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, at timestamptz)
     WHERE e.site_id = $1::uuid AND e.id = r.id AND e.status < 2
     RETURNING e.id, e.case_id AS "caseId", e.message`,
    [siteId, JSON.stringify(rows)],
  );
}

interface ConditionRow {
  key: string;
  kind: StoredCondition['kind'];
  state: StoredCondition['state'];
  present: boolean;
  eventId: string | null;
  caseId: string | null;
  onsets: number;
  since: Date;
  changedAt: Date;
  dueAt: Date | null;
  opening: EventBody;
  live: boolean;
}

export interface Loaded {
  key: string;
  condition: StoredCondition;
  /** Its event was not closed by hand. */
  live: boolean;
}

const CONDITIONS = `SELECT c.dedup_key AS key, c.kind, c.state, c.present, c.event_id AS "eventId", c.case_id AS "caseId",
    c.onsets, c.since, c.changed_at AS "changedAt", c.due_at AS "dueAt", c.opening,
    coalesce((SELECT e.status < 2 FROM events e WHERE e.site_id = c.site_id AND e.id = c.event_id), false) AS live
  FROM conditions c`;

const load = ({ key, live, since, changedAt, dueAt, ...row }: ConditionRow): Loaded => ({
  key,
  live,
  condition: {
    ...row,
    since: since.getTime(),
    changedAt: changedAt.getTime(),
    dueAt: dueAt?.getTime() ?? null,
  },
});

/** The conditions of some keys. */
export async function loadConditions(sql: Sql, siteId: string, keys: readonly string[]): Promise<Loaded[]> {
  if (keys.length === 0) return [];
  const rows = await sql.query<ConditionRow>(
    `${CONDITIONS} WHERE c.site_id = $1::uuid AND c.dedup_key = ANY($2::text[])`,
    [siteId, keys],
  );
  return rows.map(load);
}

/** Conditions that something has to be decided about, the most urgent first. */
export async function dueConditions(sql: Sql, siteId: string, now: number, most: number): Promise<Loaded[]> {
  const rows = await sql.query<ConditionRow>(
    `${CONDITIONS} WHERE c.site_id = $1::uuid AND c.due_at <= $2::timestamptz ORDER BY c.due_at LIMIT ${most}`,
    [siteId, iso(now)],
  );
  return rows.map(load);
}

export async function saveConditions(
  sql: Sql,
  siteId: string,
  conditions: ReadonlyMap<string, StoredCondition | null>,
): Promise<void> {
  const rows = [...conditions].flatMap(([key, condition]) =>
    condition === null
      ? []
      : [
          {
            ...condition,
            key,
            deviceId: condition.opening.deviceId,
            since: iso(condition.since),
            changedAt: iso(condition.changedAt),
            dueAt: iso(condition.dueAt),
          },
        ],
  );
  if (rows.length > 0)
    await sql.query(
      `INSERT INTO conditions (site_id, dedup_key, kind, state, present, device_id, event_id, case_id, onsets, since,
         changed_at, due_at, opening)
       SELECT $1::uuid, r.key, r.kind, r.state, r.present, r."deviceId", r."eventId", r."caseId", r.onsets, r.since,
         r."changedAt", r."dueAt", r.opening
       FROM jsonb_to_recordset($2::jsonb) AS r(key text, kind text, state text, present boolean, "deviceId" uuid,
         "eventId" uuid, "caseId" uuid, onsets int, since timestamptz, "changedAt" timestamptz, "dueAt" timestamptz,
         opening jsonb)
       ORDER BY r.key
       ON CONFLICT (site_id, dedup_key) DO UPDATE SET state = EXCLUDED.state, present = EXCLUDED.present,
         event_id = EXCLUDED.event_id, case_id = EXCLUDED.case_id, onsets = EXCLUDED.onsets, since = EXCLUDED.since,
         changed_at = EXCLUDED.changed_at, due_at = EXCLUDED.due_at, opening = EXCLUDED.opening`,
      [siteId, JSON.stringify(rows)],
    );
  const gone = [...conditions].filter(([, condition]) => condition === null).map(([key]) => key);
  if (gone.length > 0)
    await sql.query('DELETE FROM conditions WHERE site_id = $1::uuid AND dedup_key = ANY($2::text[])', [
      siteId,
      gone,
    ]);
}
