/** Maintenance windows as people plan them. */
import {
  type MaintenanceScope,
  type MaintenanceTimes,
  type MaintenanceWindow,
  maintenanceScope,
  maintenanceTimes,
} from '@rollcall/shared/api/maintenance';
import type { Clock } from '@rollcall/shared/clock';
import { canonicalBlock } from '@rollcall/shared/ip';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Prisma } from '../../generated/prisma/client.ts';
import { storedFilters } from '../../platform/db/custom-fields.ts';
import type { Database, Transaction } from '../../platform/db/db.ts';
import { orderBy, type Page, Parameters, readPage, scopeOf, unix } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { type Actor, type Handlers, sees, visibleSites } from '../../platform/http/handler.ts';
import { patched } from '../../platform/http/patch.ts';
import { nextRun, requireZone } from '../../platform/ops/recurrence.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import type { Audit } from '../../ports.ts';
import { lockIncidents } from '../conditions/store.ts';
import { reconsider } from './end.ts';
import { activeAt, nextAfter, type Span } from './recurrence.ts';

/** Windows of one site, at most: every event looks through them. */
const WINDOWS_MOST = 500;

type Ids =
  | 'maintenance.list'
  | 'maintenance.get'
  | 'maintenance.create'
  | 'maintenance.update'
  | 'maintenance.delete';

export interface MaintenanceDeps {
  db: Database;
  clock: Clock;
  /** Writes one entry of the audit log, in the transaction of the deed. */
  audit: Audit;
}

interface Row extends Omit<MaintenanceWindow, 'active' | 'next' | 'scope' | 'times'> {
  scope: unknown;
  times: unknown;
}

const COLUMNS = `m.id, m.site_id AS "siteId", x.name AS site, m.name, m.note, m.scope, m.timezone, m.times, m.enabled,
  m.created_by AS "createdBy", ${unix('m.created_at')} AS "createdAt"`;
const FROM = 'maintenance_windows m JOIN sites x ON x.id = m.site_id';
const VISIBLE = '($1::uuid[] IS NULL OR m.site_id = ANY($1))';
const ORDERS = { name: 'lower(m.name)', createdAt: 'm.created_at' };

interface Plan {
  timezone: string;
  times: MaintenanceTimes;
  scope: MaintenanceScope;
}

/** When a window is over for good; null: it comes again for ever. @throws Problem naming what cannot be. */
function overAt({ timezone, times, scope }: Plan, now: number): Date | null {
  const block = scope.Address === undefined ? null : canonicalBlock(scope.Address);
  if (block && !block.ok) throw invalid('scope.Address', block.reason);
  requireZone(timezone);
  if (times.kind === 'once') {
    if (times.until <= times.from) throw invalid('times.until', 'must be after from');
    return new Date(times.until * 1000);
  }
  nextRun(times.cron, timezone, now);
  return times.until === null ? null : new Date((times.until + times.minutes * 60) * 1000);
}

/** In the transaction that stores it. @throws Problem where no device can have what it names. */
async function storedScope(
  sql: Transaction,
  { field, ...scope }: MaintenanceScope,
  before: MaintenanceScope = {},
): Promise<MaintenanceScope> {
  if (!field) return scope;
  const names = { member: 'scope.field', before: before.field ?? [] };
  return { ...scope, field: await storedFilters(sql, ['device'], field, names) };
}

type Wanted = Pick<MaintenanceWindow, 'name' | 'note' | 'scope' | 'timezone' | 'times' | 'enabled'>;

/** What a request sets, as it is stored. */
const stored = ({ name, note, scope, timezone, times, enabled }: Wanted, over: Date | null) => ({
  name,
  note,
  timezone,
  enabled,
  overAt: over,
  scope: scope as Prisma.InputJsonObject,
  times: times as Prisma.InputJsonObject,
});

const shownSpan = (span: Span | null) =>
  span && { from: Math.floor(span.from / 1000), until: Math.floor(span.until / 1000) };

function shown(row: Row, now: number): MaintenanceWindow {
  const window = { times: maintenanceTimes.parse(row.times), timezone: row.timezone };
  return {
    ...row,
    scope: maintenanceScope.parse(row.scope),
    times: window.times,
    active: row.enabled ? shownSpan(activeAt(window, now)) : null,
    next: row.enabled ? shownSpan(nextAfter(window, now)) : null,
  };
}

export function maintenanceHandlers({ db, clock, audit }: MaintenanceDeps): Handlers<Ids> {
  const read = async (sql: Sql, actor: Actor, id: string): Promise<MaintenanceWindow> => {
    const [row] = await sql.query<Row>(
      `SELECT ${COLUMNS} FROM ${FROM} WHERE ${VISIBLE} AND m.id = $2::uuid`,
      [visibleSites(actor), id],
    );
    if (!row) throw notFound('maintenance window');
    return shown(row, clock.now());
  };
  /** One deed: under the site's lock, in the audit log, and with a new look at what waits for the end of a window. */
  const deed = <T>(
    { siteId, id, name }: { siteId: string; id: string; name: string },
    { actor, address }: { actor: Actor; address: string },
    action: string,
    work: (sql: Transaction) => Promise<T>,
  ): Promise<T> =>
    db.transaction(async (sql) => {
      await lockIncidents(sql, siteId);
      const done = await work(sql);
      await reconsider(sql, siteId, clock.now());
      await announce(sql, siteId, 'maintenance', [id]);
      await audit(sql, { actor, address, action, subject: `maintenance ${name}`, siteId });
      return done;
    });

  return {
    'maintenance.list': async ({ actor, query }) => {
      const { data, totalCount }: Page<Row> = await readPage(db, {
        columns: COLUMNS,
        from: FROM,
        key: ['m.id'],
        where: VISIBLE,
        order: `${orderBy(query.sort ?? 'name', ORDERS)}, m.id`,
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: {},
        query,
      });
      return { data: data.map((row) => shown(row, clock.now())), totalCount };
    },

    'maintenance.get': async ({ actor, params }) => ({ data: await read(db, actor, params.id) }),

    'maintenance.create': async (call) => {
      const { actor, body } = call;
      if (!sees(actor, body.siteId)) throw new Problem('forbidden', 'no access to this site');
      const over = overAt(body, clock.now());
      const id = uuidv7(clock.now());
      const data = await deed({ ...body, id }, call, 'maintenance.create', async (sql) => {
        const { siteId } = body;
        if (!(await sql.prisma.site.findUnique({ where: { id: siteId } }))) throw notFound('site');
        if ((await sql.prisma.maintenanceWindow.count({ where: { siteId } })) >= WINDOWS_MOST)
          throw new Problem('conflict', `the site has ${WINDOWS_MOST} maintenance windows; delete some`);
        const by = { createdBy: actor.name, createdById: actor.userId, createdAt: new Date(clock.now()) };
        const wanted = { ...body, scope: await storedScope(sql, body.scope) };
        await sql.prisma.maintenanceWindow.create({ data: { ...stored(wanted, over), siteId, id, ...by } });
        return read(sql, actor, id);
      });
      return { data, headers: { Location: `/api/maintenance/${id}` } };
    },

    'maintenance.update': async (call) => {
      const { actor, params, body } = call;
      const before = await read(db, actor, params.id);
      const after = patched<Wanted>(before, body);
      const over = overAt(after, clock.now());
      const data = await deed(
        { id: before.id, siteId: before.siteId, name: after.name },
        call,
        'maintenance.update',
        async (sql) => {
          const where = { id: params.id };
          const wanted = { ...after, scope: await storedScope(sql, after.scope, before.scope) };
          await sql.prisma.maintenanceWindow.updateMany({ where, data: stored(wanted, over) });
          return read(sql, actor, params.id);
        },
      );
      return { data };
    },

    'maintenance.delete': async (call) => {
      const { actor, params } = call;
      const before = await read(db, actor, params.id);
      await deed(before, call, 'maintenance.delete', (sql) =>
        sql.prisma.maintenanceWindow.deleteMany({ where: { id: params.id } }),
      );
      return { data: null };
    },
  };
}
