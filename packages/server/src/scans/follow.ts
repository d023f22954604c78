/**
 * Following neighbours: when a scan whose profile says so has ended, what its devices heard of by LLDP and CDP is scanned
 * next, as far as the site's networks and exclusions allow. A neighbour that is known already is read again, where it is
 * managed: what lies behind it is the point. No address is visited twice from one scan.
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
  root: string;
}

/** Addresses that nobody is known at, and where known neighbours are managed, unless a scan of `$3` saw these. */
const HEARD = `WITH heard AS (
    SELECT a.address, n.remote_device_id
    FROM sightings v
    JOIN neighbours n ON n.site_id = v.site_id AND n.device_id = v.device_id
    LEFT JOIN LATERAL unnest(n.addresses) AS a(address) ON true
    WHERE v.site_id = $1::uuid AND v.last_scan_id = $2::uuid
  ), known AS (
    SELECT h.remote_device_id AS id FROM heard h
    UNION
    SELECT k.device_id FROM heard h JOIN device_addresses k ON k.site_id = $1::uuid AND k.address = h.address
  )
  SELECT host(h.address) AS address FROM heard h
  WHERE h.address IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM device_addresses k WHERE k.site_id = $1::uuid AND k.address = h.address)
  UNION
  SELECT host(d.address) FROM known
  JOIN devices d ON d.site_id = $1::uuid AND d.id = known.id AND d.address IS NOT NULL
  LEFT JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
  WHERE v.last_scan_id IS NULL OR v.last_scan_id <> ALL ($3::uuid[])
  ORDER BY 1 LIMIT ${MOST}`;

/**
 * Starts the scan of what the neighbours of an ended scan name. @returns its id, or null when there is nothing to follow.
 */
export async function followNeighbours(sql: Sql, scanId: string): Promise<string | null> {
  const [ended] = await sql.query<Ended & Record<string, unknown>>(
    `SELECT site_id, profile, settings, created_by, created_by_name, coalesce(followed_from, id) AS root
     FROM scans WHERE id = $1::uuid`,
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
  const before = await sql.query<{ id: string; targets: string }>(
    'SELECT id, targets FROM scans WHERE id = $1::uuid OR followed_from = $1::uuid',
    [ended.root],
  );
  const heard = await sql.query<{ address: string }>(HEARD, [
    ended.site_id,
    scanId,
    before.map(({ id }) => id),
  ]);
  // What a site does not call its own is somebody else's network: nobody asked for it to be scanned.
  const next = followed(
    site,
    heard.map(({ address }) => address),
    before.map(({ targets }) => targets),
  );
  if (next.length === 0) return null;
  const targets = next.join(', ');
  const planned = planScan(targets, settings, site, MOST);
  if (!planned.ok) return null;
  const id = uuidv7();
  await sql.query(
    `INSERT INTO scans (id, site_id, targets, profile, settings, created_by, created_by_name, addresses_total,
       followed_from)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9)`,
    [
      id,
      site.id,
      targets,
      ended.profile,
      JSON.stringify({ ...settings, follow: settings.follow - 1 }),
      ended.created_by,
      ended.created_by_name,
      planned.plan.targets.count,
      ended.root,
    ],
  );
  await enqueue(sql, { id, siteId: site.id }, planned.plan.jobs);
  await announce(sql, site.id, 'scan', [id]);
  return id;
}
