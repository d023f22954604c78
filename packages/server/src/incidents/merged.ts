import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import type { Change } from '../changes.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import { refreshCases } from './cases/cases.ts';
import { type ClosedEvent, lockIncidents } from './conditions/store.ts';
import { ascendingIds } from './ids.ts';

/**
 * A record that a scan made, merged within this time, is told neither as new nor as merged: a ping told of an address before its
 * agent said whose it is.
 */
const BRIEF_MS = 10 * 60_000;

/**
 * Records that proved to be one device: events, cases and conditions of the one that went belong to the one that stayed.
 * Its live events are closed, for whatever is still so will be observed of the one that stayed.
 * @returns the changes that are left to tell: of a record that stood for a moment only, neither that it came nor that it went.
 */
export async function followMerges(
  sql: Sql,
  siteId: string,
  changes: readonly Change[],
  now: number,
): Promise<readonly Change[]> {
  const pairs = changes.flatMap((change) =>
    change.kind === 'device.merged' && change.deviceId !== null
      ? [{ from: change.before.deviceId, into: change.deviceId, at: new Date(change.at).toISOString() }]
      : [],
  );
  if (pairs.length === 0) return changes;
  await lockIncidents(sql, siteId);
  const params = [siteId, JSON.stringify(pairs)];
  const PAIRS = 'jsonb_to_recordset($2::jsonb) AS p("from" uuid, "into" uuid, at timestamptz)';
  // A second address that was taken for a device of its own for a moment was never new.
  const unsaid = await sql.query<{ eventId: string; id: string; since: Date; isOfScan: boolean }>(
    `DELETE FROM events e USING ${PAIRS}
     WHERE e.site_id = $1::uuid AND e.device_id = p."from" AND e.kind = 'device.new' AND e.case_id IS NULL
     RETURNING e.id AS "eventId", e.device_id AS id, e.first_seen AS since, e.collector_id IS NOT NULL AS "isOfScan"`,
    params,
  );
  const closed = await sql.query<ClosedEvent>(
    `UPDATE events e SET status = ${EventStatus.closed}, closed_at = greatest(p.at, e.first_seen), close_reason = 'deleted'
     FROM ${PAIRS} WHERE e.site_id = $1::uuid AND e.device_id = p."from" AND e.status < ${EventStatus.closed}
     RETURNING e.id, e.case_id AS "caseId", e.message`,
    params,
  );
  await sql.query(
    `UPDATE events e SET device_id = p."into" FROM ${PAIRS} WHERE e.site_id = $1::uuid AND e.device_id = p."from"`,
    params,
  );
  await sql.query(
    `UPDATE cases c SET root_device_id = p."into" FROM ${PAIRS}
     WHERE c.site_id = $1::uuid AND c.root_device_id = p."from" AND c.status < ${CaseStatus.closed}`,
    params,
  );
  await sql.query(
    `DELETE FROM conditions c USING ${PAIRS} WHERE c.site_id = $1::uuid AND c.device_id = p."from"`,
    params,
  );
  await refreshCases(sql, siteId, { joined: new Set(), closed }, now, ascendingIds(now));
  await announce(sql, siteId, 'event', [
    ...unsaid.map(({ eventId }) => eventId),
    ...closed.map(({ id }) => id),
  ]);
  // What a person added, people know.
  const brief = new Map(
    unsaid.flatMap(({ id, since, isOfScan }) => (isOfScan ? [[id, since.getTime() + BRIEF_MS]] : [])),
  );
  return changes.filter(
    (change) =>
      change.kind !== 'device.merged' ||
      change.collectorId === null ||
      change.at > (brief.get(change.before.deviceId) ?? 0),
  );
}
