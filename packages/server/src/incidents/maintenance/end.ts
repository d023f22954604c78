/** The end of maintenance: what is still open is placed as if it had been raised then. */
import { EventStatus } from '@rollcall/shared/model';
import type { Database } from '../../platform/db/db.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { placeIncoming, refreshCases } from '../cases/cases.ts';
import { lockIncidents } from '../conditions/store.ts';
import { followRoots } from '../correlation/late-roots.ts';
import type { Incoming } from '../correlation/match.ts';
import { forEach } from '../each.ts';
import { ascendingIds } from '../ids.ts';
import { isEventCode, kindOf } from '../kinds/kinds.ts';

/** Events whose windows ended or changed, per transaction. */
const RESUMED_MOST = 2_000;

/** Looks at the windows of a site anew: one was changed or deleted. Inside the caller's transaction. */
export const reconsider = (sql: Sql, siteId: string, now: number): Promise<unknown> =>
  sql.query(
    `UPDATE events SET maintenance_until = $2::timestamptz
     WHERE site_id = $1::uuid AND maintenance_until > $2::timestamptz AND status < ${EventStatus.closed} AND case_id IS NULL`,
    [siteId, new Date(now)],
  );

/** Places what is still open at the end of its maintenance. @returns how many events. */
export async function endMaintenance(db: Database, now: number): Promise<number> {
  const sites = await db.query<{ siteId: string }>(
    `SELECT DISTINCT site_id AS "siteId" FROM events
     WHERE maintenance_until <= $1::timestamptz AND status < ${EventStatus.closed} AND case_id IS NULL ORDER BY 1 LIMIT 1000`,
    [new Date(now)],
  );
  return forEach(sites, ({ siteId }) => db.transaction((sql) => resumeSite(sql, siteId, now)));
}

interface Waiting {
  id: string;
  kind: string;
  message: string;
  device: string | null;
  deviceId: string | null;
  interfaceId: string | null;
  peer: string | null;
  rootId: string | null;
  firstSeen: Date;
  formerCaseId: string | null;
}

async function resumeSite(sql: Sql, siteId: string, now: number): Promise<number> {
  await lockIncidents(sql, siteId);
  const rows = await sql.query<Waiting>(
    `SELECT e.id, e.kind, e.message, d.name AS device, e.device_id AS "deviceId",
       e.interface_id AS "interfaceId", CASE WHEN 'session.down' IN (e.kind, e.details ->> 'of') THEN e.details -> 'after' ->> 'peer' END AS peer,
       e.details ->> 'rootDeviceId' AS "rootId",
       e.first_seen AS "firstSeen", c.case_id AS "formerCaseId"
     FROM events e LEFT JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
       LEFT JOIN conditions c ON c.site_id = e.site_id AND c.event_id = e.id
     WHERE e.site_id = $1::uuid AND e.maintenance_until <= $2::timestamptz AND e.status < ${EventStatus.closed} AND e.case_id IS NULL
     ORDER BY e.maintenance_until LIMIT ${RESUMED_MOST}`,
    [siteId, new Date(now)],
  );
  const newId = ascendingIds(now);
  // The trouble is as old as it is; for grouping it begins where it may be told.
  const incoming = rows.map(
    (row): Incoming => ({
      eventId: row.id,
      at: now,
      message: row.message,
      deviceId: row.deviceId,
      rootId: row.rootId,
      formerCaseId: row.formerCaseId,
      opens: isEventCode(row.kind) && kindOf(row.kind).cases === 'opens',
      down: row.kind === 'device.down',
      interfaceId: row.interfaceId,
      peer: row.peer,
    }),
  );
  const texts = new Map(rows.map(({ id, message, device }) => [id, { message, device }]));
  const placed = await placeIncoming(sql, siteId, incoming, texts, now, newId);
  const { caseOf, maintenance } = placed;
  const places = rows.map(({ id }) => {
    const until = maintenance.get(id);
    return {
      id,
      caseId: caseOf.get(id) ?? null,
      until: until === undefined ? null : new Date(until).toISOString(),
    };
  });
  await sql.query(
    `UPDATE events e SET case_id = r."caseId", maintenance_until = r.until
     FROM jsonb_to_recordset($2::jsonb) AS r(id uuid, "caseId" uuid, until timestamptz)
     WHERE e.site_id = $1::uuid AND e.id = r.id`,
    [siteId, JSON.stringify(places)],
  );
  await sql.query(
    `UPDATE conditions c SET case_id = e.case_id FROM events e
     WHERE c.site_id = $1::uuid AND e.site_id = c.site_id AND e.id = c.event_id AND e.id = ANY($2::uuid[])`,
    [siteId, [...caseOf.keys()]],
  );
  await followRoots(sql, siteId, placed, now, newId);
  await refreshCases(sql, siteId, { joined: new Set(caseOf.values()), closed: [] }, now, newId);
  return rows.length;
}
