/**
 * When devices were pinged by a collector that was cut off, as its backlog tells. Availability takes that time as observed,
 * although no collector was connected.
 */
import type { Sql } from '../platform/db/sql.ts';
import { type Span, union } from '../platform/time-spans.ts';
import type { Measured } from '../ports.ts';
import { grouped } from './series.ts';

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
/** Two samples in a row are a few milliseconds apart, or overlap: their ends and their lengths are measured by two clocks. */
const APART_MS = 2 * SECOND_MS;

interface From {
  siteId: string;
  collectorId: string;
}

export async function recordBacklog(sql: Sql, measured: readonly Measured[], from: From): Promise<void> {
  const pinged = measured.filter(({ observation }) => observation.ping !== undefined);
  if (pinged.length === 0) return;
  const connected = await connectedSince(sql, from);
  const late = pinged.filter((one) => spanOf(one).from < connected);
  if (late.length === 0) return;
  const spans = [...grouped(late, ({ observation }) => observation.deviceId)].flatMap(([id, some]) =>
    daysOf(some.map(spanOf)).map((span) => ({
      ...{ id, since: new Date(span.from), until: new Date(span.until) },
    })),
  );
  await add(sql, spans, from);
}

const spanOf = ({ at, observation }: Measured): Span => ({ from: at - observation.overMs, until: at });

/** In whole seconds, without the little that lies between two, and cut where a day of UTC ends: so days are forgotten one by one. */
function daysOf(spans: readonly Span[]): Span[] {
  const joined = union(
    spans.map(({ from, until }) => ({
      from: Math.floor(from / SECOND_MS) * SECOND_MS,
      until: Math.ceil(until / SECOND_MS) * SECOND_MS + APART_MS,
    })),
  );
  return joined.flatMap(({ from, until }) => {
    const days: Span[] = [];
    const end = until - APART_MS;
    for (let at = from; at < end; at = (Math.floor(at / DAY_MS) + 1) * DAY_MS)
      days.push({ from: at, until: Math.min(end, (Math.floor(at / DAY_MS) + 1) * DAY_MS) });
    return days;
  });
}

/** Since when the collector is connected, Unix ms; it is not by now: for ever. */
async function connectedSince(sql: Sql, { siteId, collectorId }: From): Promise<number> {
  const [open] = await sql.query<{ since: Date | null }>(
    `SELECT max(since) AS since FROM connection_history
     WHERE site_id = $1::uuid AND collector_id = $2::uuid AND until IS NULL`,
    [siteId, collectorId],
  );
  return open?.since?.getTime() ?? Number.MAX_SAFE_INTEGER;
}

/**
 * Adds spans: one that goes on where the last row before it ends makes that longer, so that an outage is one row a day. In which
 * the collector was connected all the time are left out. Devices in their order, so that two collectors never wait for each other
 * in a circle.
 */
const add = (
  sql: Sql,
  spans: readonly { id: string; since: Date; until: Date }[],
  { siteId, collectorId }: From,
) =>
  sql.query(
    `INSERT INTO backlog_history AS b (site_id, device_id, since, until)
     SELECT $1::uuid, l.id, coalesce(h.since, l.since), max(l.until)
     FROM jsonb_to_recordset($3::jsonb) AS l(id uuid, since timestamptz, until timestamptz)
     LEFT JOIN LATERAL (
       SELECT o.since, o.until FROM backlog_history o WHERE o.site_id = $1::uuid AND o.device_id = l.id AND o.since <= l.since
       ORDER BY o.since DESC LIMIT 1) h
       ON h.until >= l.since - interval '${APART_MS} ms' AND date_trunc('day', h.since, 'UTC') = date_trunc('day', l.since, 'UTC')
     WHERE NOT EXISTS (SELECT 1 FROM connection_history c WHERE c.site_id = $1::uuid AND c.collector_id = $2::uuid
       AND c.since <= l.since AND c.until >= l.until)
     GROUP BY l.id, coalesce(h.since, l.since) ORDER BY l.id, coalesce(h.since, l.since)
     ON CONFLICT (site_id, device_id, since) DO UPDATE SET until = excluded.until WHERE b.until < excluded.until`,
    [siteId, collectorId, JSON.stringify(spans)],
  );
