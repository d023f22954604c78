/** What becomes of events when people change devices. Inside the caller's transaction. */

import { EventStatus } from '@rollcall/shared/model';
import type { Sql } from '../platform/db/sql.ts';
import { followClosed } from './cases/cases.ts';
import { type ClosedEvent, lockIncidents } from './conditions/store.ts';
import { MEASURED_KINDS } from './kinds/measured.ts';
import { WATCH_KINDS } from './kinds/watch.ts';

interface SiteDevices {
  siteId: string;
  deviceIds: readonly string[];
}

/** Conditions that only the watch opens and clears, with what they are raised as. */
const WATCHED = Object.entries({ ...WATCH_KINDS, ...MEASURED_KINDS })
  .filter(([, kind]) => kind.clears !== undefined)
  .map(([code]) => code);

/** Nobody watches these devices any more, so nothing would clear what the watch found: it is closed. */
export async function onMonitoringStopped(sql: Sql, devices: SiteDevices, at: number): Promise<void> {
  await close(sql, devices, { kinds: WATCHED, by: null, reason: 'cleared' }, at);
}

/** These devices are about to be deleted: their live events are closed, their conditions forgotten. */
export async function onDevicesDeleted(
  sql: Sql,
  devices: SiteDevices,
  by: string,
  at: number,
): Promise<void> {
  await close(sql, devices, { kinds: null, by, reason: 'deleted' }, at);
}

async function close(
  sql: Sql,
  { siteId, deviceIds }: SiteDevices,
  {
    kinds,
    by,
    reason,
  }: { kinds: readonly string[] | null; by: string | null; reason: 'cleared' | 'deleted' },
  at: number,
): Promise<void> {
  await lockIncidents(sql, siteId);
  const closed = await sql.query<ClosedEvent>(
    `UPDATE events SET status = ${EventStatus.closed}, closed_at = greatest($4::timestamptz, first_seen), closed_by = $5, close_reason = $6
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND status < ${EventStatus.closed} AND ($3::text[] IS NULL OR kind = ANY($3))
     RETURNING id, case_id AS "caseId", message`,
    [siteId, deviceIds, kinds, new Date(at), by, reason],
  );
  await sql.query(
    `DELETE FROM conditions
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND ($3::text[] IS NULL OR kind = ANY($3))`,
    [siteId, deviceIds, kinds],
  );
  await followClosed(sql, siteId, closed, at);
}
