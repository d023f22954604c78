/**
 * Times that collectors observed while they were cut off, as their backlog shows: pings that come later than a collector counts as
 * connected. They go into the histories of connections and monitoring, so that availability knows that somebody looked.
 */
import type { Sql } from '../platform/db/sql.ts';
import { type Span, union } from '../platform/time-spans.ts';
import { grouped } from './series.ts';

/** A collector counts as connected until it was silent for so long: what comes sooner is no backlog. */
const LATE_MS = 15_000;

interface Ping {
  device: string;
  /** When it was measured last, Unix ms, and since how long. */
  at: number;
  over: number;
}
interface Sent {
  siteId: string;
  collectorId: string;
  now: number;
}

export async function recordBacklog(
  sql: Sql,
  pings: readonly Ping[],
  { siteId, collectorId, now }: Sent,
): Promise<void> {
  const late = pings.filter(({ at }) => at < now - LATE_MS);
  if (late.length === 0) return;
  const spans = (some: readonly Ping[]): Span[] =>
    union(some.map(({ at, over }) => ({ from: at - over, until: at })));
  const devices = [...grouped(late, ({ device }) => device)].sort(([a], [b]) => (a < b ? -1 : 1));
  await extend(
    sql,
    ['connection_history', 'collector_id'],
    siteId,
    spans(late).map((span) => ({ id: collectorId, ...span })),
  );
  await extend(
    sql,
    ['monitoring_history', 'device_id'],
    siteId,
    devices.flatMap(([id, some]) => spans(some).map((span) => ({ id, ...span }))),
  );
}

/**
 * Adds spans to a history: those that touch a row extend the first that they touch, the others are new rows. Rows may overlap
 * then; whoever reads them unites them.
 */
async function extend(
  sql: Sql,
  [table, key]: readonly [table: 'connection_history' | 'monitoring_history', key: string],
  siteId: string,
  spans: readonly (Span & { id: string })[],
): Promise<void> {
  const rows = spans.map(({ id, from, until }) => ({
    id,
    since: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
  }));
  await sql.query(
    `WITH late AS (
       SELECT * FROM jsonb_to_recordset($2::jsonb) AS l(id uuid, since timestamptz, until timestamptz)),
     placed AS (
       SELECT l.*, (SELECT min(h.since) FROM ${table} h WHERE h.site_id = $1::uuid AND h.${key} = l.id
         AND h.since <= l.until AND coalesce(h.until, 'infinity') >= l.since) AS row
       FROM late l WHERE NOT EXISTS (SELECT 1 FROM ${table} h WHERE h.site_id = $1::uuid AND h.${key} = l.id
         AND h.since <= l.since AND coalesce(h.until, 'infinity') >= l.until)),
     extended AS (
       UPDATE ${table} h SET since = least(h.since, p.since),
         until = CASE WHEN h.until IS NULL THEN NULL ELSE greatest(h.until, p.until) END
       FROM (SELECT id, row, min(since) AS since, max(until) AS until FROM placed WHERE row IS NOT NULL GROUP BY id, row) p
       WHERE h.site_id = $1::uuid AND h.${key} = p.id AND h.since = p.row)
     INSERT INTO ${table} (site_id, ${key}, since, until)
     SELECT $1::uuid, id, since, until FROM placed WHERE row IS NULL ON CONFLICT DO NOTHING`,
    [siteId, JSON.stringify(rows)],
  );
}
