/**
 * The queue of jobs: every statement that hands one out or takes it back. A lease names its holder and a fence that
 * grows with every claim; a holder of an older fence ends nothing. Time is the database's, so that instances
 * agree on when a lease is over.
 */
import { type ProfileSettings, profileSettings } from '@rollcall/shared/profile';
import type { Span } from '@rollcall/shared/protocol';
import type { PlannedJob } from '@rollcall/shared/targets';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Database, Sql } from '../platform/db/db.ts';
import { announce, type LeaseName, notifyJobs, notifyLinks } from '../platform/db/notify.ts';
import type { ClaimedJob, Lease, Progress } from '../ports.ts';
import { ATTEMPTS, type End, type endings } from './ending.ts';
import { COUNTED, doneBitmap, type From, NotYours, outcomesOf } from './outcomes.ts';
import { JOB_MOVES, SCAN_MOVES, SCANS_OPEN } from './states.ts';
import { type Turn, takeTurns } from './turns.ts';

/** A lease lasts this long without progress; with the time to notice, a job goes on elsewhere within 30 s. */
export const LEASE_MS = 25_000;
/** A job whose holder lives but gets nowhere is taken back after this long, or twice the time one device may take. */
const STUCK_MS = 600_000;
/** A lease that ends later than this many leases from now was given before the clock was set back. */
const LEASES_AHEAD = 10;
/** Jobs taken back in one statement. */
const REAP_MOST = 500;

interface Deps {
  db: Database;
  endings: Pick<ReturnType<typeof endings>, 'endJob' | 'finishScan'>;
  leaseMs: number;
}

/** Jobs of a new scan, in its transaction. */
export async function enqueue(
  sql: Sql,
  scan: { id: string; siteId: string },
  jobs: readonly PlannedJob[],
): Promise<void> {
  const rows = jobs.map(({ ranges, count, label }, position) => ({
    id: uuidv7(),
    position,
    cidr: label,
    spans: ranges,
    size: count,
  }));
  await sql.query(
    `INSERT INTO jobs (id, scan_id, site_id, position, cidr, spans, size)
     SELECT r.id, $1::uuid, $2::uuid, r.position, r.cidr, r.spans, r.size
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, position int, cidr text, spans jsonb, size int)`,
    [scan.id, scan.siteId, JSON.stringify(rows)],
  );
  await notifyJobs(sql, scan.siteId);
}

const due = (job: string): string =>
  `(${job}.status = 'queued' OR (${job}.status = 'deferred' AND coalesce(${job}.not_before, now()) <= now()))`;

const TURNS = `SELECT s.id AS scan,
    count(*) FILTER (WHERE j.status = 'leased') AS leased,
    count(*) FILTER (WHERE j.status = 'leased' AND j.collector_id = $2::uuid) AS mine,
    count(*) FILTER (WHERE ${due('j')}) AS waiting,
    coalesce(extract(epoch FROM max(j.started_at)), 0)::float8 AS last
  FROM scans s JOIN jobs j ON j.scan_id = s.id
  WHERE s.site_id = $1::uuid AND s.status = ANY($3)
  GROUP BY s.id`;

const CLAIM = `UPDATE jobs SET status = 'leased', status_reason = '', collector_id = $2::uuid,
    fence = fence + 1, attempt = attempt + 1, not_before = NULL,
    holders = holders || jsonb_build_object((fence + 1)::text, ($2::uuid)::text),
    lease_expires_at = now() + $3 * interval '1 millisecond',
    started_at = coalesce(started_at, now()), progress_at = now(), ${COUNTED('outcomes')}
  WHERE id = (SELECT j.id FROM jobs j WHERE j.scan_id = $1::uuid AND ${due('j')}
    ORDER BY j.position LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, fence, size, spans, outcomes`;

/** Jobs that are still in the hands they were given to, or would be had nobody noticed the end of their lease. */
const EXTEND = `UPDATE jobs j SET status = 'leased', status_reason = '',
    lease_expires_at = now() + $3 * interval '1 millisecond',
    progress_at = CASE WHEN p.probed > j.probed THEN now() ELSE j.progress_at END,
    probed = greatest(j.probed, least(j.size, p.probed)),
    alive = greatest(j.alive, least(j.size, p.alive)),
    devices = greatest(j.devices, least(j.size, p.devices))
  FROM jsonb_to_recordset($2::jsonb) AS p(job uuid, fence int, probed int, alive int, devices int)
  WHERE j.id = p.job AND j.fence = p.fence AND j.collector_id = $1::uuid AND j.status IN ('leased', 'queued')
  RETURNING j.id, j.scan_id, j.site_id`;

/** Why leases are taken back: which, with what reason, and whether the holder may still take its job up again. */
interface TakeBack {
  where: string;
  params: readonly unknown[];
  reason: string;
  /** False: it lost touch, and may come back as long as nobody else has the job. */
  forbid: boolean;
}

export function createQueue({ db, endings, leaseMs }: Deps) {
  /** Takes leases back; jobs whose attempts are spent are given up. */
  const takeBack = (take: TakeBack): Promise<LeaseName[]> =>
    db.transaction(async (sql) => {
      const n = take.params.length;
      const rows = await sql.query<LeaseName & { scan: string; site: string; status: string }>(
        `UPDATE jobs SET lease_expires_at = NULL, fence = fence + $${n + 3},
           status = CASE WHEN attempt >= $${n + 1} THEN 'failed' ELSE 'queued' END,
           status_reason = CASE WHEN attempt >= $${n + 1}
             THEN 'failed after ' || attempt || ' attempts: ' || $${n + 2}::text ELSE $${n + 2}::text END,
           finished_at = CASE WHEN attempt >= $${n + 1} THEN now() END
         WHERE id IN (SELECT id FROM jobs WHERE status = ANY($${n + 4}) AND ${take.where}
           ORDER BY id LIMIT ${REAP_MOST} FOR UPDATE SKIP LOCKED)
         RETURNING id AS job, fence - $${n + 3} AS fence, collector_id AS collector, scan_id AS scan, site_id AS site,
           status`,
        [...take.params, ATTEMPTS, take.reason, take.forbid ? 1 : 0, JOB_MOVES.queued],
      );
      for (const site of new Set(rows.map((row) => row.site))) {
        const scans = rows.filter((row) => row.site === site).map(({ scan }) => scan);
        await announce(sql, site, 'scan', [...new Set(scans)]);
        await notifyJobs(sql, site);
      }
      const over = rows.filter(({ status }) => take.forbid || status === 'failed');
      if (over.length > 0) await notifyLinks(sql, { verb: 'cancel', leases: over.map(leaseName) });
      const scans = new Set(rows.filter(({ status }) => status === 'failed').map(({ scan }) => scan));
      for (const scan of scans) await endings.finishScan(sql, scan);
      return rows.map(leaseName);
    });

  return {
    /** Hands out jobs of the collector's site until `capacity` are in its hands. */
    claim: (collector: { id: string; siteId: string; capacity: number }): Promise<ClaimedJob[]> =>
      db.transaction(async (sql) => {
        const { id, siteId, capacity } = collector;
        const turns = await sql.query<Turn>(TURNS, [siteId, id, SCANS_OPEN]);
        const claimed: ClaimedJob[] = [];
        for (const scanId of takeTurns(turns, capacity)) {
          const [row] = await sql.query<{
            id: string;
            fence: number;
            size: number;
            spans: Span[];
            outcomes: string;
          }>(CLAIM, [scanId, id, leaseMs]);
          if (!row) continue;
          const done = doneBitmap(outcomesOf(row.outcomes, row.size));
          const settings = await begin(sql, scanId);
          claimed.push({
            job: row.id,
            fence: row.fence,
            scanId,
            siteId,
            spans: row.spans,
            ...(done === undefined ? {} : { done }),
            settings,
          });
        }
        if (claimed.length > 0)
          await announce(sql, siteId, 'scan', [...new Set(claimed.map((c) => c.scanId))]);
        return claimed;
      }),

    /** Extends leases and notes progress. Answers those that the collector no longer holds: it has to stop them. */
    extend: async (collectorId: string, leases: readonly Progress[]): Promise<Lease[]> => {
      if (leases.length === 0) return [];
      const rows = await db.query<{ id: string; scan_id: string; site_id: string }>(EXTEND, [
        collectorId,
        JSON.stringify(leases),
        leaseMs,
      ]);
      const held = new Set(rows.map(({ id }) => id));
      const [first] = rows;
      if (first) await announce(db, first.site_id, 'scan', [...new Set(rows.map(({ scan_id }) => scan_id))]);
      return leases.filter(({ job }) => !held.has(job)).map(({ job, fence }) => ({ job, fence }));
    },

    /** A collector refused a job before it collected anything. False: it was not its job to refuse. */
    refuse: async (from: From, { job, fence }: Lease, end: End): Promise<boolean> => {
      try {
        return await db.transaction((sql) => endings.endJob(sql, job, end, from, fence));
      } catch (error) {
        if (error instanceof NotYours) return false;
        throw error;
      }
    },

    /** Gives back what a collector holds beside `working`: it came back without. */
    giveBack: (collectorId: string, working: readonly string[]): Promise<LeaseName[]> =>
      takeBack({
        where: 'collector_id = $1::uuid AND id <> ALL($2::uuid[])',
        params: [collectorId, working],
        reason: 'the collector started again without it',
        forbid: false,
      }),

    /** Takes everything from a collector that may not have it any more. */
    takeAll: (collectorId: string, reason: string): Promise<LeaseName[]> =>
      takeBack({ where: 'collector_id = $1::uuid', params: [collectorId], reason, forbid: true }),

    /** Takes back the leases that ran out, and the jobs that get nowhere. Call it every few seconds, anywhere. */
    reap: async (): Promise<LeaseName[]> => {
      const lost = await takeBack({
        where: `(lease_expires_at < now() OR lease_expires_at > now() + $1 * interval '1 millisecond')`,
        params: [leaseMs * LEASES_AHEAD],
        reason: 'the collector was lost',
        forbid: false,
      });
      const stuck = await takeBack({
        where: `progress_at < now() - interval '1 millisecond' * greatest($1::float8, 2 * (
          SELECT coalesce((s.settings->'snmp'->>'deviceBudgetMs')::float8, 0) FROM scans s WHERE s.id = jobs.scan_id))`,
        params: [STUCK_MS],
        reason: 'no progress for too long',
        forbid: true,
      });
      return [...lost, ...stuck];
    },

    /** Sites that have jobs to hand out right now. */
    sitesWithWork: async (): Promise<string[]> => {
      const rows = await db.query<{ site_id: string }>(
        `SELECT DISTINCT j.site_id FROM jobs j WHERE ${due('j')} AND j.status IN ('queued', 'deferred')`,
      );
      return rows.map(({ site_id }) => site_id);
    },
  };
}

const leaseName = ({ collector, job, fence }: LeaseName): LeaseName => ({ collector, job, fence });

/** The first claimed job sets its scan going. Answers the settings it was started with. */
async function begin(sql: Sql, scanId: string): Promise<ProfileSettings> {
  await sql.query(
    `UPDATE scans SET status = 'running', status_reason = '', started_at = now()
     WHERE id = $1::uuid AND status = ANY($2)`,
    [scanId, SCAN_MOVES.running],
  );
  const [row] = await sql.query<{ settings: unknown }>('SELECT settings FROM scans WHERE id = $1::uuid', [
    scanId,
  ]);
  return profileSettings.parse(row?.settings);
}
