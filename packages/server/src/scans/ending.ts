/** How jobs end, or are put off, and with the last of them their scan. */
import type { JobEndObservation } from '@rollcall/shared/observation';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { RecordChanges } from '../ports.ts';
import { type From, lockJob, NOT_PROBED, outcomesOf } from './outcomes.ts';
import { JOB_ENDS, JOB_MOVES, SCAN_MOVES } from './states.ts';
import { writeTally } from './tally.ts';

/** Attempts without a single new outcome until a job is given up. */
export const ATTEMPTS = 5;
/** A collector that says "failed" may be broken itself: one more try, perhaps by another. */
export const FAILED_ATTEMPTS = 2;
/** Wait before a deferred job is offered again; doubled with every attempt. */
const DEFER_FIRST_MS = 30_000;
/** Longest wait before a deferred job is offered again. */
const DEFER_MOST_MS = 600_000;

export interface End {
  result: 'done' | 'deferred' | 'failed';
  reason: string;
}
export type Verdict =
  | { status: 'done'; reason: string }
  | { status: 'failed'; reason: string }
  | { status: 'deferred'; reason: string; waitMs: number };

/** What becomes of a job whose holder says that it ended. `left`: addresses without an outcome. */
export function judge(end: End, job: { attempt: number; left: number }): Verdict {
  if (end.result === 'done' && job.left === 0) return { status: 'done', reason: '' };
  const reason =
    end.result === 'done' ? `${job.left} addresses came without an outcome` : end.reason || end.result;
  const budget = end.result === 'failed' ? FAILED_ATTEMPTS : ATTEMPTS;
  if (job.attempt >= budget) return { status: 'failed', reason: gaveUp(job.attempt, reason) };
  const waitMs = Math.min(DEFER_MOST_MS, DEFER_FIRST_MS * 2 ** Math.max(0, job.attempt - 1));
  return { status: 'deferred', reason, waitMs };
}

export const gaveUp = (attempts: number, reason: string): string =>
  `failed after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason}`;

const countLeft = (outcomes: string): number => outcomes.split(NOT_PROBED).length - 1;

export const endings = (deps: {
  recordChanges: RecordChanges;
  now: () => number;
  /** Begins what an ended scan leads to. */
  follow: (sql: Sql, scanId: string) => Promise<unknown>;
}) => {
  /** Ends a locked job, and its scan when it was the last. */
  const endJob = async (sql: Sql, job: string, end: End, from: From, fence: number): Promise<boolean> => {
    const row = await lockJob(sql, job, fence, from);
    if (!row || fence !== row.fence || (JOB_ENDS as readonly string[]).includes(row.status)) return false;
    const verdict = judge(end, { attempt: row.attempt, left: countLeft(outcomesOf(row.outcomes, row.size)) });
    const [ended] = await sql.query<{ id: string }>(
      `UPDATE jobs SET status = $2, status_reason = $3, lease_expires_at = NULL,
         not_before = now() + $4 * interval '1 millisecond',
         finished_at = CASE WHEN $5 THEN now() END
       WHERE id = $1::uuid AND status = ANY($6) RETURNING id`,
      [
        job,
        verdict.status,
        verdict.reason.slice(0, 500),
        verdict.status === 'deferred' ? verdict.waitMs : null,
        verdict.status !== 'deferred',
        JOB_MOVES[verdict.status],
      ],
    );
    if (!ended) return false;
    await announce(sql, row.site_id, 'scan', [row.scan_id]);
    if (verdict.status !== 'deferred') await finishScan(sql, row.scan_id);
    return true;
  };

  /** Ends a scan all of whose jobs ended. Locks it first: of two last jobs ending at once, one sees the other's end. */
  const finishScan = async (sql: Sql, scanId: string): Promise<void> => {
    await sql.query('SELECT 1 FROM scans WHERE id = $1::uuid FOR NO KEY UPDATE', [scanId]);
    const [tally] = await sql.query<{
      total: number;
      open: number;
      done: number;
      failed: number;
      first: string;
    }>(
      `SELECT count(*) AS total, count(*) FILTER (WHERE status <> ALL($2)) AS open,
         count(*) FILTER (WHERE status = 'done') AS done, count(*) FILTER (WHERE status = 'failed') AS failed,
         coalesce((array_agg(status_reason ORDER BY position) FILTER (WHERE status = 'failed'))[1], '') AS first
       FROM jobs WHERE scan_id = $1::uuid`,
      [scanId, JOB_ENDS],
    );
    if (!tally || tally.open > 0) return;
    const status = tally.failed === 0 ? 'completed' : tally.done === 0 ? 'failed' : 'partial';
    const reason =
      status === 'completed'
        ? ''
        : `${tally.failed} of ${tally.total} jobs ended without a result: ${tally.first}`;
    const [ended] = await sql.query<{ site_id: string; targets: string }>(
      `UPDATE scans SET status = $2, status_reason = $3, finished_at = now()
       WHERE id = $1::uuid AND status = ANY($4) RETURNING site_id, targets`,
      [scanId, status, reason, SCAN_MOVES[status]],
    );
    if (!ended) return;
    await writeTally(sql, scanId);
    if (status !== 'failed') await deps.follow(sql, scanId);
    if (status === 'completed') return;
    const { site_id: siteId, targets } = ended;
    await deps.recordChanges(sql, [
      { kind: 'scan.failed', siteId, at: deps.now(), scanId, targets: targets.slice(0, 500), reason },
    ]);
  };

  return {
    endJob,
    finishScan,
    /** A `job-end` observation: only that of the present lease counts. */
    applyJobEnd: async (sql: Sql, observation: JobEndObservation, from: From): Promise<void> => {
      const end = { result: observation.result, reason: observation.reason ?? '' };
      await endJob(sql, observation.job, end, from, observation.fence);
    },
  };
};
