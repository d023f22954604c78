/** Scans at set times. Any instance runs what is due; the row's lock makes it one, and each run commits with its scan. */
import type { Schedule } from '@rollcall/shared/api/scans';
import { uuidv7 } from '@rollcall/shared/uuid';
import { orConflict } from '../platform/db/db.ts';
import { orderBy, Parameters, readPage, scopeOf, unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { patched } from '../platform/http/patch.ts';
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

/** What a request sets, as it is stored. */
const stored = (
  {
    name,
    targets,
    profile,
    cron,
    timezone,
    enabled,
  }: Pick<Schedule, 'name' | 'targets' | 'profile' | 'cron' | 'timezone' | 'enabled'>,
  next: Date,
) => ({
  name,
  targets: targets.trim(),
  profile,
  cron: cron.trim(),
  timezone,
  enabled,
  nextRunAt: enabled ? next : null,
});

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

async function read(sql: Sql, actor: Actor, id: string): Promise<Schedule> {
  const [row] = await sql.query<Schedule>(
    `SELECT ${COLUMNS} FROM ${FROM} WHERE ${VISIBLE} AND h.id = $2::uuid`,
    [visibleSites(actor), id],
  );
  if (!row) throw notFound('schedule');
  return row;
}

const unique = <T>(name: string, work: () => Promise<T>): Promise<T> =>
  orConflict(`the site has a schedule ${name} already`, work);

export const scheduleHandlers = ({ db, clock, audit, scans }: Deps): Handlers<Ids> => ({
  'schedules.list': async ({ actor, query }) =>
    readPage(db, {
      columns: COLUMNS,
      from: FROM,
      key: ['h.id'],
      where: VISIBLE,
      order: `${orderBy(query.sort ?? 'name', ORDERS)}, h.id`,
      parameters: new Parameters([scopeOf(actor, query.site)]),
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
        const data = { ...stored(body, next), id, siteId, createdBy: actor.userId };
        await sql.prisma.schedule.create({ data });
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
    const after = patched(before, body);
    const next = nextRun(after.cron, after.timezone, clock.now());
    await scans.plan(
      { targets: after.targets, profile: after.profile, site: before.siteId },
      creatorOf(actor),
    );
    const data = await unique(after.name, () =>
      db.transaction(async (sql) => {
        await sql.prisma.schedule.updateMany({ where: { id: params.id }, data: stored(after, next) });
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
      await sql.prisma.schedule.deleteMany({ where: { id: params.id } });
      await audit(sql, { actor, address, action: 'schedule.delete', subject: `schedule ${name}`, siteId });
    });
    return { data: null };
  },
});

/** Runs one schedule: its scan and its next time commit together, so that it runs once. */
const run = ({ db, clock, log, scans }: Deps, id: string): Promise<string | null> =>
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
      await sql.prisma.schedule.update({ where: { id }, data: { nextRunAt: next } });
      return null;
    }
    const request = { targets: due.targets, profile: due.profile, site: due.site_id };
    const by: Creator = { userId: null, name: `schedule ${due.name}`, sites: [due.site_id] };
    const scanId = await scans.start(sql, request, by);
    await sql.prisma.schedule.update({
      where: { id },
      data: { nextRunAt: next, lastRunAt: new Date(now), lastScanId: scanId },
    });
    return scanId;
  });

/** A schedule whose request no longer stands (its targets are forbidden now) leaves a failed scan that says why. */
const noteFailure = ({ db, clock }: Deps, id: string, reason: string): Promise<void> =>
  db.transaction(async (sql) => {
    const now = new Date(clock.now());
    await sql.query('SELECT 1 FROM schedules WHERE id = $1::uuid FOR UPDATE', [id]);
    const due = await sql.prisma.schedule.findUnique({ where: { id } });
    if (!due) return;
    const scanId = uuidv7(clock.now());
    const { siteId, targets, profile } = due;
    await sql.prisma.scan.create({
      data: {
        id: scanId,
        siteId,
        targets,
        profile,
        settings: {},
        addressesTotal: 0,
        status: 'failed',
        statusReason: reason,
        createdBy: `schedule ${due.name}`,
        finishedAt: now,
      },
    });
    const nextRunAt = nextRun(due.cron, due.timezone, now.getTime());
    await sql.prisma.schedule.update({
      where: { id },
      data: { nextRunAt, lastRunAt: now, lastScanId: scanId },
    });
  });

/**
 * Runs what is due and no other instance is at. A time that passed while no server ran is made up for once.
 * @returns scans started.
 */
export async function runDue(deps: Deps): Promise<string[]> {
  const { db, clock, log } = deps;
  const due = await db.query<{ id: string }>(
    `SELECT id FROM schedules WHERE enabled AND next_run_at <= $1 ORDER BY next_run_at LIMIT ${DUE_MOST}`,
    [new Date(clock.now())],
  );
  const started: string[] = [];
  for (const { id } of due) {
    try {
      const scanId = await run(deps, id);
      if (scanId !== null) started.push(scanId);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
      log.warn({ schedule: id, reason: error.message }, 'a schedule could not run');
      await noteFailure(deps, id, error.message);
    }
  }
  return started;
}

export const creatorOf = (actor: Actor): Creator => ({
  userId: actor.userId,
  name: actor.name,
  sites: visibleSites(actor),
});
