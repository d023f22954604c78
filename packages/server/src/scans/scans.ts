/** Scans: created from a plan, cancelled, read. Their jobs live in the queue. */
import type { Scan, ScanDetail, ScanJob, ScanPlan, ScanRequest } from '@rollcall/shared/api/scans';
import { SNMP_PORT } from '@rollcall/shared/model';
import { type ProfileSettings, profileSettings } from '@rollcall/shared/profile';
import { describeProblem, parseTargets, type TargetProblem } from '@rollcall/shared/targets';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Database } from '../platform/db/db.ts';
import { type Page, type PageQuery, type PageRequest, readPage, unix } from '../platform/db/list.ts';
import { announce, type LeaseName, notifyLinks } from '../platform/db/notify.ts';
import type { Sql, Transaction } from '../platform/db/sql.ts';
import { online } from '../platform/ops/online.ts';
import { invalid, notFound, Problem } from '../platform/problem.ts';
import type { ScanDeps } from './deps.ts';
import {
  chooseSite,
  estimate,
  overlap,
  PLAN_SITE,
  type Plan,
  type PlanSite,
  planScan,
  readTargets,
} from './plan.ts';
import { settingsOf } from './profiles.ts';
import { enqueue } from './queue.ts';
import { JOB_MOVES, SCAN_MOVES, SCANS_OPEN } from './states.ts';
import { TALLY } from './tally.ts';

/** Who asks for a scan: a person, or a schedule in its own name. */
export interface Creator {
  userId: string | null;
  name: string;
  /** Null: every site. */
  sites: readonly string[] | null;
}

/** Writes down what was done to a scan, in the transaction of the deed. */
export type Note = (sql: Transaction, scan: { id: string; siteId: string; targets: string }) => Promise<void>;

/** Unfinished scans of one creator, and of one site. */
const OPEN_PER_CREATOR = 100;
const OPEN_PER_SITE = 1000;
/** An `Idempotency-Key` is remembered this long. */
const KEY_HOURS = 24;
/** Characters of such a key. */
const KEY_LENGTH = 200;
const ERRORS_TOLD = 100;
const OVERLAPS_TOLD = 100;

const COLUMNS = `s.id, s.id AS "scanId", s.targets, s.profile, s.site_id AS "siteId", x.name AS site, s.status,
  CASE WHEN s.status_reason <> '' OR s.status <> ALL('{queued,running}') THEN s.status_reason
    WHEN NOT EXISTS (SELECT 1 FROM collectors c WHERE c.site_id = s.site_id AND ${online('c')})
    THEN 'waits: no collector of site ' || x.name || ' is online' ELSE '' END AS "statusReason",
  s.created_by_name AS "createdBy", ${unix('s.created_at')} AS "createdAt", ${unix('s.started_at')} AS "startedAt",
  ${unix('s.finished_at')} AS "finishedAt", s.addresses_total AS "addressesTotal",
  coalesce(s.devices_found, t.found) AS "devicesFound",
  CASE WHEN s.devices_found IS NULL THEN t.new ELSE s.devices_new END AS "devicesNew",
  CASE WHEN s.devices_found IS NULL THEN t.changed ELSE s.devices_changed END AS "devicesChanged",
  (SELECT jsonb_build_object('addressesProbed', coalesce(sum(probed), 0), 'hostsAlive', coalesce(sum(alive), 0))
   FROM jobs WHERE scan_id = s.id) AS counts,
  (SELECT coalesce(jsonb_agg(e), '[]') FROM (
     SELECT id AS "jobId", cidr, status_reason AS message FROM jobs
     WHERE scan_id = s.id AND status = 'failed' ORDER BY position LIMIT ${ERRORS_TOLD}) e) AS errors`;
const FROM = 'scans s JOIN sites x ON x.id = s.site_id';
const FOUND = `CROSS JOIN LATERAL ${TALLY} t`;
type ScanRow = Omit<Scan, 'addressesProbed' | 'hostsAlive'> & {
  counts: Pick<Scan, 'addressesProbed' | 'hostsAlive'>;
};
const scanOf = ({ counts, ...row }: ScanRow): Scan => ({ ...row, ...counts });

/** A closed 400 out of what `parseTargets` said. */
const refused = (problems: readonly TargetProblem[]): Problem =>
  new Problem('invalid_request', `targets: ${problems[0] ? describeProblem(problems[0]) : 'not readable'}`, {
    details: problems.map((problem) => ({ path: 'targets', message: describeProblem(problem) })),
  });

/** The profile's settings with what they leave to the site. */
const atSite = (settings: ProfileSettings, site: PlanSite): ProfileSettings =>
  settings.snmp
    ? { ...settings, snmp: { ...settings.snmp, port: settings.snmp.port ?? site.snmpPort ?? SNMP_PORT } }
    : settings;

interface Prepared {
  site: PlanSite;
  settings: ProfileSettings;
  plan: Plan;
}

type Deps = Pick<ScanDeps, 'db' | 'maxAddresses'>;
export type Scans = ReturnType<typeof createScans>;

export const createScans = (deps: Deps) => ({
  get,
  /** Starts a scan inside a transaction of the caller's; throws what is wrong with the request. */
  start: async (sql: Transaction, request: ScanRequest, by: Creator): Promise<string> => {
    const id = await insert(sql, request, by, await prepare(sql, request, by, deps.maxAddresses));
    if (id === undefined) throw new Error('a scan without a key met one with the same');
    return id;
  },
  create: create.bind(null, deps),
  plan: plan.bind(null, deps),
  list: <Query extends PageRequest>(query: ListQuery<Query>) => list(deps.db, query),
  detail: detail.bind(null, deps.db),
  cancel: cancel.bind(null, deps.db),
});

const sitesOf = (sql: Sql, scope: readonly string[] | null): Promise<PlanSite[]> =>
  sql.query<PlanSite & Record<string, unknown>>(
    `SELECT ${PLAN_SITE} FROM sites
     WHERE $1::uuid[] IS NULL OR id = ANY($1) ORDER BY name`,
    [scope],
  );

/** The default site of an account: one of its own settings. */
async function usualSite({ prisma }: Transaction, { userId }: Creator): Promise<string | undefined> {
  if (userId === null) return undefined;
  const user = await prisma.user.findUnique({ where: { id: userId }, select: { settings: true } });
  const { defaultSite } = (user?.settings ?? {}) as { defaultSite?: unknown };
  return typeof defaultSite === 'string' ? defaultSite : undefined;
}

/** Reads a request into a plan; throws what is wrong with it. */
async function prepare(
  sql: Transaction,
  request: ScanRequest,
  by: Creator,
  maxAddresses: number,
): Promise<Prepared> {
  const settings = await settingsOf(sql, request.profile);
  const asked = readTargets(request.targets, settings, maxAddresses);
  if (!asked.ok) throw refused(asked.problems);
  const choice = chooseSite({
    named: request.site,
    usual: await usualSite(sql, by),
    sites: await sitesOf(sql, by.sites),
    all: by.sites === null,
    ranges: asked.targets.ranges,
  });
  if (!choice.ok)
    throw new Problem(choice.code, `site: ${choice.message}`, {
      details: [{ path: 'site', message: choice.message }],
    });
  const planned = planScan(request.targets, settings, choice.site, maxAddresses);
  if (!planned.ok) throw refused(planned.problems);
  return { site: choice.site, settings: atSite(settings, choice.site), plan: planned.plan };
}

/** @throws Problem when too many scans are unfinished */
async function requireRoom(sql: Sql, site: PlanSite, by: Creator): Promise<void> {
  const [open] = await sql.query<{ creator: number; site: number }>(
    `SELECT count(*) FILTER (WHERE created_by = $1::uuid) AS creator,
       count(*) FILTER (WHERE site_id = $2::uuid) AS site
     FROM scans WHERE status = ANY($3) AND (created_by = $1::uuid OR site_id = $2::uuid)`,
    [by.userId, site.id, SCANS_OPEN],
  );
  const full =
    (open?.creator ?? 0) >= OPEN_PER_CREATOR
      ? `you have ${open?.creator} unfinished scans`
      : (open?.site ?? 0) >= OPEN_PER_SITE
        ? `site ${site.name} has ${open?.site} unfinished scans`
        : undefined;
  if (full)
    throw new Problem('rate_limited', `${full}; wait for them or cancel some`, {
      headers: { 'Retry-After': '60' },
    });
}

/** The scan that an earlier request with this key started. */
async function earlier(
  sql: Sql,
  request: ScanRequest,
  by: Creator,
  key: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string; targets: string; profile: string; sites: string[] }>(
    `SELECT s.id, s.targets, s.profile, ARRAY[x.id::text, x.name] AS sites
     FROM scans s JOIN sites x ON x.id = s.site_id WHERE s.created_by = $1::uuid AND s.idempotency_key = $2
       AND s.created_at > now() - interval '${KEY_HOURS} hours'`,
    [by.userId, key],
  );
  if (!row) return undefined;
  const same =
    row.targets === request.targets.trim() &&
    row.profile === request.profile &&
    (request.site === undefined || row.sites.includes(request.site));
  if (!same)
    throw new Problem(
      'conflict',
      `this Idempotency-Key belongs to scan ${row.id}, which asks for something else`,
    );
  return row.id;
}

/** @returns its id; undefined where another scan has the key. */
async function insert(sql: Sql, request: ScanRequest, by: Creator, prepared: Prepared, key?: string) {
  const { site, settings, plan } = prepared;
  const id = uuidv7();
  if (key !== undefined)
    await sql.query(
      `UPDATE scans SET idempotency_key = NULL WHERE created_by = $1::uuid AND idempotency_key = $2
         AND created_at <= now() - interval '${KEY_HOURS} hours'`,
      [by.userId, key],
    );
  const [row] = await sql.query(
    `INSERT INTO scans (id, site_id, targets, profile, settings, created_by, created_by_name, idempotency_key,
       addresses_total)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9)
     ON CONFLICT (created_by, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING id`,
    [
      id,
      site.id,
      request.targets.trim(),
      request.profile,
      JSON.stringify(settings),
      by.userId,
      by.name,
      key ?? null,
      plan.targets.count,
    ],
  );
  if (!row) return undefined;
  await enqueue(sql, { id, siteId: site.id }, plan.jobs);
  await announce(sql, site.id, 'scan', [id]);
  return id;
}

async function get(sql: Sql, scope: readonly string[] | null, id: string): Promise<Scan> {
  const [row] = await sql.query<ScanRow>(
    `SELECT ${COLUMNS} FROM ${FROM} ${FOUND} WHERE s.id = $2::uuid AND ($1::uuid[] IS NULL OR s.site_id = ANY($1))`,
    [scope, id],
  );
  if (!row) throw notFound('scan');
  return scanOf(row);
}

/** Starts a scan, or answers the one that the same key started before. */
async function create(
  { db, maxAddresses }: Deps,
  request: ScanRequest,
  by: Creator,
  { key, note }: { key?: string | undefined; note?: Note } = {},
): Promise<Scan> {
  if (key !== undefined && (key.length === 0 || key.length > KEY_LENGTH))
    throw invalid('Idempotency-Key', `must have 1 to ${KEY_LENGTH} characters`);
  const before = key === undefined ? undefined : await earlier(db, request, by, key);
  if (before !== undefined) return get(db, by.sites, before);
  const prepared = await prepare(db, request, by, maxAddresses);
  await requireRoom(db, prepared.site, by);
  const id =
    (await db.transaction(async (sql) => {
      const started = await insert(sql, request, by, prepared, key);
      if (started !== undefined)
        await note?.(sql, { id: started, siteId: prepared.site.id, targets: request.targets });
      return started;
    })) ??
    // The same key came twice at once: the other one has committed.
    (await earlier(db, request, by, key ?? ''));
  if (id === undefined) throw new Problem('conflict', 'this Idempotency-Key is in use; try again');
  return get(db, by.sites, id);
}

/** What a scan would do. */
async function plan({ db, maxAddresses }: Deps, request: ScanRequest, by: Creator): Promise<ScanPlan> {
  const { site, settings, plan } = await prepare(db, request, by, maxAddresses);
  const collectors = await db.query<{ id: string; name: string; status: 'active'; online: boolean }>(
    `SELECT c.id, c.name, c.status, ${online('c')} AS online FROM collectors c
     WHERE c.site_id = $1::uuid AND c.status <> 'revoked' ORDER BY c.name LIMIT 1000`,
    [site.id],
  );
  const ready = collectors.filter((collector) => collector.online).length;
  const { packets, packetsPerSecond, seconds } = estimate(plan, settings, ready);
  const overlaps = await overlapsOf(db, site, plan);
  const warnings = [
    ...(ready === 0 ? [`no collector of site ${site.name} is online: the scan would wait`] : []),
    ...(overlaps.length > 0 ? ['unfinished scans visit some of the same addresses'] : []),
  ];
  return {
    siteId: site.id,
    site: site.name,
    profile: request.profile,
    addresses: plan.targets.count,
    excluded: plan.targets.excluded,
    jobs: plan.jobs.length,
    packetsPerSecond,
    estimatedPackets: packets,
    estimatedSeconds: seconds,
    collectors,
    overlaps,
    warnings,
  };
}

type ListQuery<Query extends PageRequest> = Omit<PageQuery<Query>, 'columns' | 'from' | 'key' | 'joins'>;
async function list<Query extends PageRequest>(db: Sql, query: ListQuery<Query>): Promise<Page<Scan>> {
  const { data, totalCount }: Page<ScanRow> = await readPage(db, {
    ...query,
    columns: COLUMNS,
    from: FROM,
    key: ['s.id'],
    joins: FOUND,
  });
  return { data: data.map(scanOf), totalCount };
}

async function detail(db: Sql, scope: readonly string[] | null, id: string): Promise<ScanDetail> {
  const scan = await get(db, scope, id);
  const [{ settings } = { settings: {} }] = await db.query<{ settings: unknown }>(
    'SELECT settings FROM scans WHERE id = $1::uuid',
    [id],
  );
  const jobs = await db.query<ScanJob & Record<string, unknown>>(
    `SELECT j.id, j.collector_id AS "collectorId", c.name AS collector, j.cidr, j.size AS addresses, j.status,
       j.status_reason AS "statusReason", j.attempt, round(j.probed::numeric / j.size, 4)::float8 AS progress
     FROM jobs j LEFT JOIN collectors c ON c.id = j.collector_id WHERE j.scan_id = $1::uuid ORDER BY j.position`,
    [id],
  );
  return { ...scan, settings: profileSettings.parse(settings), jobs };
}

/** Cancels a scan and tells the holders of its jobs to stop. */
const cancel = (db: Database, scope: readonly string[] | null, id: string, note?: Note): Promise<Scan> =>
  db.transaction(async (sql) => {
    const { siteId, status, targets } = await get(sql, scope, id);
    const held = await sql.query<LeaseName & { was: string }>(
      `WITH mine AS (SELECT id, status FROM jobs WHERE scan_id = $1::uuid AND status = ANY($2) ORDER BY id FOR UPDATE)
       UPDATE jobs SET status = 'cancelled', lease_expires_at = NULL, finished_at = now() FROM mine
       WHERE jobs.id = mine.id
       RETURNING jobs.id AS job, jobs.fence, jobs.collector_id AS collector, mine.status AS was`,
      [id, JOB_MOVES.cancelled],
    );
    const [ended] = await sql.query(
      `UPDATE scans SET status = 'cancelled', finished_at = now() WHERE id = $1::uuid AND status = ANY($2)
       RETURNING id`,
      [id, SCAN_MOVES.cancelled],
    );
    if (!ended) throw new Problem('conflict', `the scan is ${status} already`);
    const leases = held.filter(({ was }) => was === 'leased');
    await notifyLinks(sql, {
      verb: 'cancel',
      leases: leases.map(({ job, fence, collector }) => ({ job, fence, collector })),
    });
    await announce(sql, siteId, 'scan', [id]);
    await note?.(sql, { id, siteId, targets });
    return get(sql, scope, id);
  });

/** Unfinished scans of the site that share addresses with a plan. */
async function overlapsOf(sql: Sql, site: PlanSite, plan: Plan): Promise<ScanPlan['overlaps']> {
  const open = await sql.query<{
    id: string;
    targets: string;
    profile: string;
    status: Scan['status'];
    exclude: string[];
  }>(
    `SELECT id, targets, profile, status, settings->'exclude' AS exclude FROM scans
     WHERE site_id = $1::uuid AND status = ANY($2) ORDER BY created_at LIMIT ${OVERLAPS_TOLD}`,
    [site.id, SCANS_OPEN],
  );
  return open.flatMap(({ id, targets, profile, status, exclude }) => {
    const parsed = parseTargets(targets, {
      allowLoopback: true,
      allowSpecial: true,
      exclude: [...exclude, ...site.exclude],
      max: Number.MAX_SAFE_INTEGER,
    });
    const addresses = parsed.ok ? overlap(plan.targets.ranges, parsed.targets.ranges) : 0;
    return addresses > 0 ? [{ scanId: id, targets, profile, status, addresses }] : [];
  });
}
