/** Which events maintenance covers right now, and until when. */
import { type MaintenanceScope, maintenanceScope, maintenanceTimes } from '@rollcall/shared/api/maintenance';
import { canonicalBlock } from '@rollcall/shared/ip';
import { foundIn, tagged, withFields } from '../../platform/db/annotated.ts';
import { Parameters, searchable } from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { activeAt } from './recurrence.ts';

interface Running {
  scope: MaintenanceScope;
  until: number;
}

/** The windows of a site that run now, the longest first. */
async function runningAt(sql: Sql, siteId: string, now: number): Promise<Running[]> {
  const rows = await sql.query<{ scope: unknown; times: unknown; timezone: string }>(
    `SELECT scope, times, timezone FROM maintenance_windows
     WHERE site_id = $1::uuid AND enabled AND (over_at IS NULL OR over_at > $2::timestamptz)`,
    [siteId, new Date(now)],
  );
  return rows
    .flatMap(({ scope, times, timezone }): Running[] => {
      const span = activeAt({ times: maintenanceTimes.parse(times), timezone }, now);
      return span ? [{ scope: maintenanceScope.parse(scope), until: span.until }] : [];
    })
    .sort((a, b) => b.until - a.until);
}

interface Covered {
  /** Null: of the site itself. */
  deviceId: string | null;
}

/** Which of some events are in maintenance now, and until when. */
export async function maintained<E extends Covered & { eventId: string }>(
  sql: Sql,
  siteId: string,
  events: readonly E[],
  now: number,
): Promise<Map<string, number>> {
  const running = events.length === 0 ? [] : await runningAt(sql, siteId, now);
  const until = new Map<string, number>();
  const devices = [...new Set(events.flatMap(({ deviceId }) => deviceId ?? []))];
  for (const window of running) {
    const whole = Object.keys(window.scope).length === 0;
    const covered = whole ? null : await devicesOf(sql, siteId, window.scope, devices);
    for (const { eventId, deviceId } of events)
      if (!until.has(eventId) && (covered === null || (deviceId !== null && covered.has(deviceId))))
        until.set(eventId, window.until);
  }
  return until;
}

/** Which of some devices a scope means. */
export async function devicesOf(
  sql: Sql,
  siteId: string,
  { deviceIds, class: classes, tag, field, search, Address }: MaintenanceScope,
  among: readonly string[],
): Promise<Set<string>> {
  const p = new Parameters();
  const where = [`d.site_id = ${p.add(siteId)}::uuid`, `d.id = ANY(${p.add(among)}::uuid[])`];
  if (deviceIds) where.push(`d.id = ANY(${p.add(deviceIds)}::uuid[])`);
  if (classes) where.push(`d.class = ANY(${p.add(classes)}::text[])`);
  if (tag) where.push(`(${tagged(p, 'd', tag)})`);
  if (field) where.push(`(${withFields(p, 'd', field)})`);
  if (search) where.push(foundIn(p, 'd', searchable(search)));
  const block = Address === undefined ? null : canonicalBlock(Address);
  if (block)
    where.push(`EXISTS (SELECT 1 FROM device_addresses a WHERE a.site_id = d.site_id AND a.device_id = d.id
      AND a.address <<= ${p.add(block.ok ? block.value : null)}::inet)`);
  const rows = await sql.query<{ id: string }>(
    `SELECT d.id FROM devices d WHERE ${where.join(' AND ')}`,
    p.values,
  );
  return new Set(rows.map(({ id }) => id));
}
