/**
 * Following neighbours: when a scan whose profile says so has ended, the addresses that its devices heard of by LLDP and
 * CDP and that nobody is known at are scanned next, as far as the site's networks and exclusions allow.
 */
import { profileSettings } from '@rollcall/shared/profile';
import { uuidv7 } from '@rollcall/shared/uuid';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import { followed, PLAN_SITE, type PlanSite, planScan } from './plan.ts';
import { enqueue } from './queue.ts';

/** Addresses followed from one scan: a network that names more is scanned by its networks. */
const MOST = 4096;

interface Ended {
  site_id: string;
  profile: string;
  settings: unknown;
  created_by: string | null;
  created_by_name: string;
}

/**
 * Starts the scan of what the neighbours of an ended scan name. @returns its id, or null when there is nothing to follow.
 */
export async function followNeighbours(sql: Sql, scanId: string): Promise<string | null> {
  const [ended] = await sql.query<Ended & Record<string, unknown>>(
    'SELECT site_id, profile, settings, created_by, created_by_name FROM scans WHERE id = $1::uuid',
    [scanId],
  );
  if (!ended) return null;
  const settings = profileSettings.parse(ended.settings);
  if (settings.follow === 0) return null;
  const [site] = await sql.query<PlanSite & Record<string, unknown>>(
    `SELECT ${PLAN_SITE} FROM sites WHERE id = $1::uuid`,
    [ended.site_id],
  );
  if (!site) return null;
  const heard = await sql.query<{ address: string }>(
    `SELECT DISTINCT host(a.address) AS address
     FROM sightings v
     JOIN neighbours n ON n.site_id = v.site_id AND n.device_id = v.device_id
     CROSS JOIN LATERAL unnest(n.addresses) AS a(address)
     WHERE v.site_id = $1::uuid AND v.last_scan_id = $2::uuid AND NOT EXISTS (
       SELECT 1 FROM device_addresses k WHERE k.site_id = v.site_id AND k.address = a.address)
     ORDER BY 1 LIMIT ${MOST}`,
    [ended.site_id, scanId],
  );
  // What a site does not call its own is somebody else's network: nobody asked for it to be scanned.
  const next = followed(
    site,
    heard.map(({ address }) => address),
  );
  if (next.length === 0) return null;
  const targets = next.join(', ');
  const planned = planScan(targets, settings, site, MOST);
  if (!planned.ok) return null;
  const id = uuidv7();
  await sql.query(
    `INSERT INTO scans (id, site_id, targets, profile, settings, created_by, created_by_name, addresses_total)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8)`,
    [
      id,
      site.id,
      targets,
      ended.profile,
      JSON.stringify({ ...settings, follow: settings.follow - 1 }),
      ended.created_by,
      ended.created_by_name,
      planned.plan.targets.count,
    ],
  );
  await enqueue(sql, { id, siteId: site.id }, planned.plan.jobs);
  await announce(sql, site.id, 'scan', [id]);
  return id;
}
