/** Scans at set times. Any instance runs what is due; the row's lock makes it one, and each run commits with its scan. */
import type { Schedule } from '@rollcall/shared/api/scans';
import { uuidv7 } from '@rollcall/shared/uuid';
import { uniqueViolation } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import { orderBy, page, unix } from '../platform/db/page.ts';
import type { Sql } from '../platform/db/sql.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { nextRun } from '../platform/ops/recurrence.ts';
import { notFound, Problem } from '../platform/problem.ts';
import type { ScanDeps } from './deps.ts';
import type { Creator, Scans } from './scans.ts';
import { SCANS_OPEN } from './states.ts';

/** Schedules run in one pass. */
const DUE_MOST = 100;

const COLUMNS = `h.id, h.site_id AS "siteId", x.name AS site, h.name, h.targets, h.profile, h.cron, h.timezone,
  h.enabled, ${unix('h.created_at')} AS "createdAt", ${unix('h.last_run_at')} AS "lastRunAt",
  h.last_scan_id AS "lastScanId", ${unix('h.next_run_at')} AS "nextRunAt"`;
const FROM = 'schedules h JOIN sites x ON x.id = h.site_id';
const VISIBLE = '($1::uuid[] IS NULL OR h.site_id = ANY($1))';
const ORDERS = { name: 'lower(h.name)', nextRunAt: 'h.next_run_at', lastRunAt: 'h.last_run_at' };

type Ids = 'schedules.list' | 'schedules.get' | 'schedules.create' | 'schedules.update' | 'schedules.delete';
type Deps = Pick<ScanDeps, 'db' | 'clock' | 'log' | 'audit'> & { scans: Pick<Scans, 'start' | 'plan'> };

interface Due {
  id: string;
  site_id: string;
  name: string;
  targets: string;
  profile: string;
  cron: string;
  timezone: string;
  busy: boolean;
}

export function createSchedules({ db, clock, log, audit, scans }: Deps) {
  const read = async (sql: Sql, actor: Actor, id: string): Promise<Schedule> => {
    const [row] = await sql.query<Schedule>(
      `SELECT ${COLUMNS} FROM ${FROM} WHERE ${VISIBLE} AND h.id = $2::uuid`,
      [visibleSites(actor), id],
    );
    if (!row) throw notFound('schedule');
    return row;
  };
  const unique = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw uniqueViolation(error)
        ? new Problem('conflict', `the site has a schedule ${name} already`)
        : error;
    }
  };

  const handlers: Handlers<Ids> = {
    'schedules.list': async ({ actor, query }) =>
      page(db, {
        columns: COLUMNS,
        from: FROM,
        where: VISIBLE,
        order: `${orderBy(query.sort ?? 'name', ORDERS)}, h.id`,
        params: [scopeOf(actor, query.site)],
        filters: {},
        query,
      }),

    'schedules.get': async ({ actor, params }) => ({ data: await read(db, actor, params.id) }),

    'schedules.create': async ({ actor, body, address }) => {
      const next = nextRun(body.cron, body.timezone, clock.now());
      const { siteId } = await scans.plan(body, creatorOf(actor));
      const id = uuidv7(clock.now());
      const data = await unique(body.name, () =>
        db.transaction(async (sql) => {
          await sql.query(
            `INSERT INTO schedules (id, site_id, name, targets, profile, cron, timezone, enabled, created_by, next_run_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
            [
              id,
              siteId,
              body.name,
              body.targets.trim(),
              body.profile,
              body.cron.trim(),
              body.timezone,
              body.enabled,
              actor.userId,
              body.enabled ? next : null,
            ],
          );
          await audit(sql, {
            actor,
            address,
            action: 'schedule.create',
            subject: `schedule ${body.name}`,
            siteId,
          });
          return read(sql, actor, id);
        }),
      );
      return { data, headers: { Location: `/api/discovery/schedules/${id}` } };
    },

    'schedules.update': async ({ actor, params, body, address }) => {
      const before = await read(db, actor, params.id);
      const after = {
        name: body.name ?? before.name,
        targets: body.targets ?? before.targets,
        profile: body.profile ?? before.profile,
        cron: body.cron ?? before.cron,
        timezone: body.timezone ?? before.timezone,
        enabled: body.enabled ?? before.enabled,
      };
      const next = nextRun(after.cron, after.timezone, clock.now());
      await scans.plan(
        { targets: after.targets, profile: after.profile, site: before.siteId },
        creatorOf(actor),
      );
      const data = await unique(after.name, () =>
        db.transaction(async (sql) => {
          await sql.query(
            `UPDATE schedules SET name = $2, targets = $3, profile = $4, cron = $5, timezone = $6, enabled = $7,
               next_run_at = $8 WHERE id = $1::uuid`,
            [
              params.id,
              after.name,
              after.targets.trim(),
              after.profile,
              after.cron.trim(),
              after.timezone,
              after.enabled,
              after.enabled ? next : null,
            ],
          );
          const fields = Object.keys(body);
          const { siteId } = before;
          await audit(sql, {
            actor,
            address,
            action: 'schedule.update',
            subject: `schedule ${after.name}`,
            siteId,
            detail: { fields },
          });
          return read(sql, actor, params.id);
        }),
      );
      return { data };
    },

    'schedules.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const { name, siteId } = await read(sql, actor, params.id);
        await sql.query('DELETE FROM schedules WHERE id = $1::uuid', [params.id]);
        await audit(sql, { actor, address, action: 'schedule.delete', subject: `schedule ${name}`, siteId });
      });
      return { data: null };
    },
  };

  /** Runs one schedule: its scan and its next time commit together, so that it runs once. */
  const run = (id: string): Promise<string | null> =>
    db.transaction(async (sql) => {
      const now = clock.now();
      const [due] = await sql.query<Due>(
        `SELECT h.id, h.site_id, h.name, h.targets, h.profile, h.cron, h.timezone,
           EXISTS (SELECT 1 FROM scans s WHERE s.id = h.last_scan_id AND s.status = ANY($3)) AS busy
         FROM schedules h WHERE h.id = $1::uuid AND h.enabled AND h.next_run_at <= $2 FOR UPDATE OF h SKIP LOCKED`,
        [id, new Date(now), SCANS_OPEN],
      );
      if (!due) return null;
      const next = nextRun(due.cron, due.timezone, now);
      if (due.busy) {
        log.info({ schedule: id }, 'the last run has not finished: left out');
        await sql.query('UPDATE schedules SET next_run_at = $2 WHERE id = $1::uuid', [id, next]);
        return null;
      }
      const request = { targets: due.targets, profile: due.profile, site: due.site_id };
      const by: Creator = { userId: null, name: `schedule ${due.name}`, sites: [due.site_id] };
      const scanId = await scans.start(sql, request, by);
      await sql.query(
        'UPDATE schedules SET next_run_at = $2, last_run_at = $3, last_scan_id = $4 WHERE id = $1::uuid',
        [id, next, new Date(now), scanId],
      );
      return scanId;
    });

  /** A schedule whose request no longer stands (its targets are forbidden now) leaves a failed scan that says why. */
  const noteFailure = (id: string, reason: string): Promise<void> =>
    db.transaction(async (sql) => {
      const now = new Date(clock.now());
      const [due] = await sql.query<Due>('SELECT * FROM schedules WHERE id = $1::uuid FOR UPDATE', [id]);
      if (!due) return;
      const scanId = uuidv7(clock.now());
      await sql.query(
        `INSERT INTO scans (id, site_id, targets, profile, settings, status, status_reason, created_by_name,
           addresses_total, finished_at)
         VALUES ($1, $2, $3, $4, '{}', 'failed', $5, $6, 0, $7)`,
        [scanId, due.site_id, due.targets, due.profile, reason, `schedule ${due.name}`, now],
      );
      await sql.query(
        'UPDATE schedules SET next_run_at = $2, last_run_at = $3, last_scan_id = $4 WHERE id = $1::uuid',
        [id, nextRun(due.cron, due.timezone, now.getTime()), now, scanId],
      );
    });

  return {
    handlers,

    /**
     * Runs what is due and no other instance is at. A time that passed while no server ran is made up for once.
     * @returns scans started.
     */
    runDue: async (): Promise<string[]> => {
      const due = await db.query<{ id: string }>(
        `SELECT id FROM schedules WHERE enabled AND next_run_at <= $1 ORDER BY next_run_at LIMIT ${DUE_MOST}`,
        [new Date(clock.now())],
      );
      const started: string[] = [];
      for (const { id } of due) {
        try {
          const scanId = await run(id);
          if (scanId !== null) started.push(scanId);
        } catch (error) {
          if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
          log.warn({ schedule: id, reason: error.message }, 'a schedule could not run');
          await noteFailure(id, error.message);
        }
      }
      return started;
    },
  };
}

export const creatorOf = (actor: Actor): Creator => ({
  userId: actor.userId,
  name: actor.name,
  sites: visibleSites(actor),
});
