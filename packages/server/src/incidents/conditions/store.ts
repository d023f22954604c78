/** The bulk statements of events and conditions: one per table and verb, rows as one JSON parameter. */
import { CHART_POINTS, CHART_POINTS_BEFORE, chartedKind, chartStep } from '@rollcall/shared/event-charts';
import { EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../../platform/db/sql.ts';
import type { ReadPresent } from '../../ports.ts';
import { type FreshEvent, type StoredCondition, statusOf } from './ledger.ts';
import type { EventBody } from './signals.ts';

/** Cases and maintenance by event id. */
interface Placement {
  caseOf: ReadonlyMap<string, string>;
  maintenance: ReadonlyMap<string, number>;
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const lock = async (sql: Sql, what: string, siteId: string): Promise<void> => {
  await sql.query(
    'SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))',
    [`${what}:${siteId}`],
    'kept',
  );
};

/** One writer of a site's events and cases at a time: grouping looks at what is open. Held until the transaction ends. */
export const lockIncidents = (sql: Sql, siteId: string): Promise<void> => lock(sql, 'incidents', siteId);

/**
 * One recorder of a site's changes at a time: none looks for what another is about to begin. Always before
 * `lockIncidents`; who only decides what is due takes that one alone, and neither waits for onsets nor holds them up.
 */
export const lockChanges = (sql: Sql, siteId: string): Promise<void> => lock(sql, 'changes', siteId);

/** Which keys of some events have a live event already. Under the site's lock this stays so. */
export async function liveEvents(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
): Promise<Set<string>> {
  if (events.length === 0) return new Set();
  const rows = await sql.query<{ key: string }>(
    // Key by key: in a storm nothing is known yet of how the rows lie, and PostgreSQL reads all that is open of the site.
    `SELECT k.key FROM unnest($2::text[]) AS k(key) CROSS JOIN LATERAL (
       SELECT 1 FROM events e WHERE e.site_id = $1::uuid AND e.dedup_key = k.key AND e.status < ${EventStatus.closed} LIMIT 1) AS live`,
    [siteId, [...new Set(events.map(({ key }) => key))]],
  );
  return new Set(rows.map(({ key }) => key));
}

/**
 * Inserts events. One that takes the place of another, and is no worse, is acknowledged as that was. Where one of the same key is live already, that one counts up instead. @returns the id that holds
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
    // What is left out is null.
    closedAt: event.closedAt === null ? undefined : iso(event.closedAt),
    closeReason: event.closeReason ?? undefined,
    caseId: caseOf.get(event.id),
    maintenanceUntil: iso(maintenance.get(event.id) ?? null) ?? undefined,
    replaces: event.replaces ?? undefined,
  }));
  const stored = await sql.query<{ id: string; dedupKey: string; status: number }>(
    `INSERT INTO events (site_id, id, device_id, interface_id, collector_id, kind, source, severity, status, message,
       details, dedup_key, count, first_seen, timestamp, closed_at, close_reason, case_id, maintenance_until,
       acknowledged_at, acknowledged_by, acknowledged_until)
     SELECT $1::uuid, r.id, r."deviceId", r."interfaceId", r."collectorId", r.kind, r.source, r.severity,
       CASE WHEN o.acknowledged_at IS NULL THEN r.status ELSE ${EventStatus.acknowledged} END,
       r.message, r.details, r."dedupKey", r.count, r."firstSeen", r.timestamp, r."closedAt", r."closeReason",
       r."caseId", r."maintenanceUntil", o.acknowledged_at, o.acknowledged_by, o.acknowledged_until
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, "deviceId" uuid, "interfaceId" uuid, "collectorId" uuid,
       kind text, source text, severity int, status int, message text, details jsonb, "dedupKey" text, count int,
       "firstSeen" timestamptz, timestamp timestamptz, "closedAt" timestamptz, "closeReason" text,
       "caseId" uuid, "maintenanceUntil" timestamptz, replaces uuid)
     LEFT JOIN LATERAL (SELECT * FROM events e WHERE e.site_id = $1::uuid AND e.id = r.replaces
       AND e.close_reason = 'cleared' AND e.severity <= r.severity AND r.status = ${EventStatus.open} LIMIT 1) o ON true
     ORDER BY r."dedupKey", r.id
     ON CONFLICT (site_id, dedup_key) WHERE status < ${EventStatus.closed} DO UPDATE
     SET count = events.count + EXCLUDED.count, timestamp = greatest(events.timestamp, EXCLUDED.timestamp),
       message = EXCLUDED.message, details = EXCLUDED.details
     RETURNING id, dedup_key AS "dedupKey", status`,
    [siteId, JSON.stringify(rows)],
    'kept',
  );
  const ids = new Set(stored.map((row) => row.id));
  const live = new Map(
    stored.filter((row) => row.status < EventStatus.closed).map((row) => [row.dedupKey, row.id]),
  );
  return new Map(events.map(({ id, key }) => [id, ids.has(id) ? id : (live.get(key) ?? id)]));
}

/** A collector that was cut off delivers what it measured within about so long. */
const DELIVERED_MS = 600_000;

/** Asks for the charts of events that were stored: kept when what follows them was measured, and has arrived. */
export async function askCharts(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
  now: number,
): Promise<void> {
  const rows = events.flatMap(({ id, code, body, firstSeen }) => {
    const kind = chartedKind(code, body.details);
    if (kind === null) return [];
    const afterMs = (CHART_POINTS - CHART_POINTS_BEFORE + 1) * chartStep(kind) * 1000;
    return [{ id, due: iso(Math.max(firstSeen + afterMs, now + DELIVERED_MS)) }];
  });
  if (rows.length === 0) return;
  await sql.query(
    `INSERT INTO event_charts (site_id, event_id, due_at)
     SELECT $1::uuid, r.id, r.due FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, due timestamptz) ORDER BY r.id
     ON CONFLICT DO NOTHING`,
    [siteId, JSON.stringify(rows)],
  );
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
     WHERE e.site_id = $1::uuid AND e.id = r.id AND e.status < ${EventStatus.closed}`,
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
    `UPDATE events e SET status = ${EventStatus.closed}, closed_at = greatest(r.at, e.first_seen), close_reason = 'cleared'
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, at timestamptz)
     WHERE e.site_id = $1::uuid AND e.id = r.id AND e.status < ${EventStatus.closed}
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

const COLUMNS = `c.dedup_key AS key, c.kind, c.state, c.present, c.event_id AS "eventId", c.case_id AS "caseId",
    c.onsets, c.since, c.changed_at AS "changedAt", c.due_at AS "dueAt", c.opening,
    coalesce((SELECT e.status < ${EventStatus.closed} FROM events e WHERE e.site_id = c.site_id AND e.id = c.event_id), false) AS live`;

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
    `SELECT ${COLUMNS} FROM unnest($2::text[]) AS k(key) CROSS JOIN LATERAL (
       SELECT * FROM conditions o WHERE o.site_id = $1::uuid AND o.dedup_key = k.key LIMIT 1) AS c`,
    [siteId, keys],
  );
  return rows.map(load);
}

/** Conditions that something has to be decided about, the most urgent first. */
export async function dueConditions(sql: Sql, siteId: string, now: number, most: number): Promise<Loaded[]> {
  const rows = await sql.query<ConditionRow>(
    `SELECT ${COLUMNS} FROM conditions c WHERE c.site_id = $1::uuid AND c.due_at <= $2::timestamptz ORDER BY c.due_at LIMIT ${most}`,
    [siteId, iso(now)],
  );
  return rows.map(load);
}

const rowOf = (key: string, condition: StoredCondition) => ({
  key,
  kind: condition.kind,
  state: condition.state,
  present: condition.present,
  deviceId: condition.opening.deviceId,
  eventId: condition.eventId,
  caseId: condition.caseId,
  onsets: condition.onsets,
  since: iso(condition.since),
  changedAt: iso(condition.changedAt),
  dueAt: iso(condition.dueAt),
  opening: condition.opening,
});

const INSERT = `INSERT INTO conditions (site_id, dedup_key, kind, state, present, device_id, event_id, case_id, onsets,
    since, changed_at, due_at, opening)
  SELECT $1::uuid, r.key, r.kind, r.state, r.present, r."deviceId", r."eventId", r."caseId", r.onsets, r.since,
    r."changedAt", r."dueAt", r.opening
  FROM jsonb_to_recordset($2::jsonb) AS r(key text, kind text, state text, present boolean, "deviceId" uuid,
    "eventId" uuid, "caseId" uuid, onsets int, since timestamptz, "changedAt" timestamptz, "dueAt" timestamptz,
    opening jsonb)
  ORDER BY r.key`;

/** Stores conditions of which nothing is known yet. @returns the keys of those; of the others nothing is written. */
export async function beginConditions(
  sql: Sql,
  siteId: string,
  conditions: ReadonlyMap<string, StoredCondition>,
): Promise<Set<string>> {
  if (conditions.size === 0) return new Set();
  const rows = [...conditions].map(([key, condition]) => rowOf(key, condition));
  const begun = await sql.query<{ key: string }>(
    `${INSERT} ON CONFLICT (site_id, dedup_key) DO NOTHING RETURNING dedup_key AS key`,
    [siteId, JSON.stringify(rows)],
    'kept',
  );
  return new Set(begun.map(({ key }) => key));
}

/** What is to be written of a stored condition: what is never null only where it changed. */
const changeOf = (key: string, before: StoredCondition, after: StoredCondition) => ({
  key,
  state: after.state,
  present: after.present,
  eventId: after.eventId,
  caseId: after.caseId,
  dueAt: iso(after.dueAt),
  ...(before.onsets !== after.onsets && { onsets: after.onsets }),
  ...(before.since !== after.since && { since: iso(after.since) }),
  ...(before.changedAt !== after.changedAt && { changedAt: iso(after.changedAt) }),
  ...(before.opening !== after.opening && { opening: after.opening }),
});

/**
 * Writes conditions as they will be. Those that are `stored` already are updated, without what did not change: it is most
 * of what there is to write.
 */
export async function saveConditions(
  sql: Sql,
  siteId: string,
  conditions: ReadonlyMap<string, StoredCondition | null>,
  stored: ReadonlyMap<string, StoredCondition>,
): Promise<void> {
  const fresh: object[] = [];
  const known: object[] = [];
  for (const [key, condition] of conditions) {
    if (condition === null) continue;
    const before = stored.get(key);
    if (before === undefined) fresh.push(rowOf(key, condition));
    else known.push(changeOf(key, before, condition));
  }
  if (fresh.length > 0) await sql.query(INSERT, [siteId, JSON.stringify(fresh)], 'kept');
  if (known.length > 0)
    await sql.query(
      `UPDATE conditions c SET state = r.state, present = r.present, event_id = r."eventId", case_id = r."caseId",
         onsets = coalesce(r.onsets, c.onsets), since = coalesce(r.since, c.since),
         changed_at = coalesce(r."changedAt", c.changed_at), due_at = r."dueAt",
         opening = coalesce(r.opening, c.opening)
       FROM jsonb_to_recordset($2::jsonb) AS r(key text, state text, present boolean, "eventId" uuid, "caseId" uuid,
         onsets int, since timestamptz, "changedAt" timestamptz, "dueAt" timestamptz, opening jsonb)
       WHERE c.site_id = $1::uuid AND c.dedup_key = r.key`,
      [siteId, JSON.stringify(known)],
    );
  const gone = [...conditions].filter(([, condition]) => condition === null).map(([key]) => key);
  if (gone.length > 0)
    await sql.query('DELETE FROM conditions WHERE site_id = $1::uuid AND dedup_key = ANY($2::text[])', [
      siteId,
      gone,
    ]);
}

export const readPresent: ReadPresent = async (sql, siteId, deviceIds, kinds) => {
  const rows = await sql.query<{ key: string }>(
    `SELECT dedup_key AS key FROM conditions
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND kind = ANY($3::text[]) AND present`,
    [siteId, deviceIds, kinds],
  );
  const keys = new Set(rows.map(({ key }) => key));
  return (kind, subjectId) => keys.has(`${kind}:${subjectId}`);
};
