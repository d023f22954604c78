/**
 * Every occurrence of a change is an event of its own, or the last one of a live event: `GET /api/changes` tells each, once.
 */
import { EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../../platform/db/sql.ts';
import { isChange, isClosedAtOnce, kindOf, OCCURRENCES_MOST } from '../kinds/kinds.ts';
import { type FreshEvent, isAnother, occurrence } from './ledger.ts';
import type { EventBody } from './signals.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Of changes that will count live events up: the occurrences that these hold until now and will hold no longer.
 * @returns them as events of their own, closed
 */
export async function heldUntilNow(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
  newId: () => string,
): Promise<FreshEvent[]> {
  const changes = events.filter(({ code }) => isChange(code) && !isClosedAtOnce(code));
  if (changes.length === 0) return [];
  const rows = await sql.query<EventBody & { key: string; at: Date }>(
    `SELECT e.dedup_key AS key, e.timestamp AS at, e.message, e.severity, e.source, e.device_id AS "deviceId",
       e.interface_id AS "interfaceId", e.collector_id AS "collectorId", e.details
     FROM unnest($2::text[]) AS k(key) JOIN events e ON e.site_id = $1::uuid AND e.dedup_key = k.key
     WHERE e.status < ${EventStatus.closed}`,
    [siteId, changes.map(({ key }) => key)],
  );
  const held = new Map(rows.map((row) => [row.key, row]));
  return changes.flatMap((change) => {
    const live = held.get(change.key);
    if (!live || !isAnother(change.code, live.at.getTime(), change.firstSeen)) return [];
    const { key, at, ...body } = live;
    // One that is told late is the earlier one itself: the live event keeps the time that it has.
    return at.getTime() < change.firstSeen
      ? [occurrence(newId(), { key, code: change.code, body }, at.getTime())]
      : [occurrence(newId(), change, change.firstSeen)];
  });
}

/**
 * Counts up what was closed when it was made, where the same was told at the same time, or as often as is kept apart.
 * @returns the id that holds each given one's occurrence, of those
 */
export async function repeatNoted(
  sql: Sql,
  siteId: string,
  events: readonly FreshEvent[],
): Promise<Map<string, string>> {
  if (events.length === 0) return new Map();
  const rows = events.map(({ id, key, count, code, body, timestamp }) => {
    const { expiresMs = 0, sameWithinMs = 0 } = kindOf(code);
    return {
      ...{ id, key, count, message: body.message, details: body.details, at: iso(timestamp) },
      since: iso(timestamp - expiresMs),
      from: iso(timestamp - sameWithinMs),
      to: iso(timestamp + sameWithinMs),
    };
  });
  const known = await sql.query<{ id: string; held: string }>(
    `SELECT r.id, coalesce(known.same, CASE WHEN known.kept >= ${OCCURRENCES_MOST} THEN known.newest END) AS held
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, key text, since timestamptz, "from" timestamptz, "to" timestamptz)
     CROSS JOIN LATERAL (
       SELECT (array_agg(n.id))[1] AS newest, count(*) AS kept,
         (array_agg(n.id) FILTER (WHERE n.timestamp BETWEEN r."from" AND r."to"))[1] AS same
       FROM (SELECT o.id, o.timestamp FROM events o
         WHERE o.site_id = $1::uuid AND o.dedup_key = r.key AND o.close_reason = 'noted' AND o.timestamp >= r.since
         ORDER BY o.timestamp DESC, o.id LIMIT ${OCCURRENCES_MOST}) n) AS known
     WHERE known.same IS NOT NULL OR known.kept >= ${OCCURRENCES_MOST}`,
    [siteId, JSON.stringify(rows)],
  );
  const heldBy = new Map(known.map(({ id, held }) => [id, held]));
  // Several may be held by one event, which a statement updates once: they are added up first.
  const sums = new Map<
    string,
    { id: string; count: number; message: string; details: unknown; at: string }
  >();
  for (const { id, count, message, details, at } of rows) {
    const held = heldBy.get(id);
    if (held === undefined) continue;
    const sum = sums.get(held);
    const latest = sum && sum.at > at ? sum : { message, details, at };
    sums.set(held, { ...latest, id: held, count: (sum?.count ?? 0) + count });
  }
  if (sums.size > 0)
    await sql.query(
      `UPDATE events e SET count = e.count + r.count, timestamp = greatest(e.timestamp, r.at), message = r.message,
         details = r.details, closed_at = greatest(e.closed_at, r.at)
       FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, count int, message text, details jsonb, at timestamptz)
       WHERE e.site_id = $1::uuid AND e.id = r.id`,
      [siteId, JSON.stringify([...sums.values()])],
    );
  return heldBy;
}
