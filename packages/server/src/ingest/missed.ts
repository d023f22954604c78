/** Who did not answer although a scan asked: counted when a job ends, gone after as many scans as the site says. */
import { CONCLUSIVE_CODES, SILENT_CODE } from '@rollcall/shared/model';
import type { Change } from '../changes.ts';
import { readSiteSettings } from '../platform/db/site-settings.ts';
import type { Sql } from '../platform/db/sql.ts';

/**
 * Counts a miss for every device whose management address the job asked in vain, or found to be another device. An
 * address without a final answer (budget spent, error, timeout) says nothing about its device. One that this scan saw at
 * another address is not gone: its misses decide whether it moves there (`identity/main-address.ts`).
 */
export async function countMissed(
  sql: Sql,
  siteId: string,
  job: string,
  at: number,
  collectorId: string,
): Promise<{ devices: string[]; changes: Change[] }> {
  const { missedScansUntilGone } = await readSiteSettings(sql, siteId);
  const rows = await sql.query<{
    id: string;
    name: string;
    address: string;
    monitor: boolean;
    last_seen: Date;
    missed_scans: number;
    gone: boolean;
  }>(
    `WITH job AS (
       SELECT j.scan_id, j.outcomes, j.started_at, j.spans
       FROM jobs j
       WHERE j.id = $2::uuid AND j.site_id = $1::uuid AND j.started_at IS NOT NULL
     ), span AS (
       SELECT (e.span ->> 'first')::inet AS first, (e.span ->> 'count')::bigint AS count,
         COALESCE(sum((e.span ->> 'count')::bigint) OVER (ORDER BY e.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::bigint AS skip
       FROM job, jsonb_array_elements(job.spans) WITH ORDINALITY AS e(span, n)
     ), missed AS (
       SELECT DISTINCT d.id, v.last_scan_id IS NOT DISTINCT FROM job.scan_id AS elsewhere
       FROM job, span, devices d JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
       WHERE d.site_id = $1::uuid AND d.gone_at IS NULL AND d.address >= span.first
         AND (v.last_scan_id = job.scan_id OR v.last_seen < job.started_at)
         AND CASE WHEN family(d.address) = family(span.first) AND d.address - span.first < span.count
           THEN substr(job.outcomes, (span.skip + (d.address - span.first))::int + 1, 1) = ANY (
             CASE WHEN v.last_scan_id = job.scan_id THEN $4::text[] ELSE $5::text[] END)
           ELSE false END
     ), locked AS (
       SELECT d.id, m.elsewhere FROM devices d JOIN missed m ON m.id = d.id WHERE d.site_id = $1::uuid ORDER BY d.id FOR UPDATE OF d
     )
     UPDATE devices d SET missed_scans = d.missed_scans + 1,
       gone_at = CASE WHEN NOT l.elsewhere AND d.missed_scans + 1 >= $6::int THEN $3::timestamptz END,
       status = CASE WHEN d.monitor OR l.elsewhere THEN d.status WHEN d.missed_scans + 1 >= $6::int THEN 'down' ELSE 'unknown' END
     FROM locked l JOIN sightings v ON v.site_id = $1::uuid AND v.device_id = l.id
     WHERE d.site_id = $1::uuid AND d.id = l.id
     RETURNING d.id, d.name, host(d.address) AS address, d.monitor, v.last_seen, d.missed_scans, d.gone_at IS NOT NULL AS gone`,
    [siteId, job, new Date(at), [SILENT_CODE], CONCLUSIVE_CODES, missedScansUntilGone],
  );
  const changes = rows
    .filter(({ gone }) => gone)
    .map(
      (row): Change => ({
        siteId,
        at,
        collectorId,
        deviceId: row.id,
        deviceName: row.name,
        address: row.address,
        monitor: row.monitor,
        kind: 'device.gone',
        before: { lastSeen: row.last_seen.getTime() },
        after: { missedScans: row.missed_scans },
      }),
    );
  return { devices: rows.map(({ id }) => id), changes };
}
