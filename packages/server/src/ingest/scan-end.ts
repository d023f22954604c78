/** What follows from the end of a scan, beside the management addresses that are chosen then (`identity/scan-addresses.ts`). */
import { INFRASTRUCTURE, type MONITOR_FOUND } from '@rollcall/shared/api/sites';
import { settingsOf } from '../platform/db/site-settings.ts';
import type { Sql } from '../platform/db/sql.ts';

export interface EndingScan {
  id: string;
  startedAt: Date;
  /** Missed scans that make a device gone. */
  most: number;
  /** Which of the devices that it found first are monitored from now on. */
  monitorFound: (typeof MONITOR_FOUND)[number];
}

/** The scan whose last job ends now; undefined while others are to come. */
export async function scanThatEnds(sql: Sql, siteId: string, job: string): Promise<EndingScan | undefined> {
  const [scan] = await sql.query<{ id: string; startedAt: Date; settings: unknown }>(
    `SELECT j.scan_id AS id, COALESCE(n.started_at, j.started_at) AS "startedAt", s.settings
     FROM jobs j JOIN scans n ON n.id = j.scan_id AND n.site_id = j.site_id JOIN sites s ON s.id = j.site_id
     WHERE j.id = $2::uuid AND j.site_id = $1::uuid AND j.started_at IS NOT NULL AND NOT EXISTS (
       SELECT 1 FROM jobs o WHERE o.scan_id = j.scan_id AND o.site_id = j.site_id AND o.id <> j.id
         AND o.status IN ('queued', 'leased', 'deferred'))`,
    [siteId, job],
  );
  if (!scan) return undefined;
  const { missedScansUntilGone: most, monitorFound } = settingsOf(scan.settings);
  return { id: scan.id, startedAt: scan.startedAt, most, monitorFound };
}

/**
 * Monitors the devices that the scan found first, as far as the site's rule says so. Devices of earlier scans stay as people
 * left them. @returns their ids
 */
export async function monitorFound(sql: Sql, siteId: string, scan: EndingScan): Promise<string[]> {
  if (scan.monitorFound === 'none') return [];
  const rows = await sql.query<{ id: string }>(
    `UPDATE devices d SET monitor = true FROM sightings v
     WHERE d.site_id = $1::uuid AND v.site_id = d.site_id AND v.device_id = d.id AND v.last_scan_id = $2::uuid
       AND d.first_seen >= $3 AND NOT d.monitor AND d.address IS NOT NULL
       AND ($4::text[] IS NULL OR COALESCE(d.class_override, d.class) = ANY($4::text[]))
     RETURNING d.id`,
    [siteId, scan.id, scan.startedAt, scan.monitorFound === 'all' ? null : INFRASTRUCTURE],
  );
  return rows.map(({ id }) => id);
}
