/** Collectors as people see and manage them. */
import type { Collector } from '@rollcall/shared/api/collectors';
import { orConflict, type Transaction } from '../platform/db/db.ts';
import { containing, oneOf, orderBy, Parameters, readPage, scopeOf, unix } from '../platform/db/list.ts';
import { announce, notifyLinks } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { online } from '../platform/ops/online.ts';
import { notFound, Problem } from '../platform/problem.ts';
import type { CollectorDeps } from './deps.ts';

/** Times of `health` are milliseconds as the heartbeat had them; people get seconds. */
const SECONDS = (path: string): string => `floor((c.health #>> '{${path}}')::float8 / 1000)::int8`;
const COLUMNS = `c.id, c.site_id AS "siteId", s.name AS site, c.name, c.status, c.status_reason AS "statusReason",
  ${online('c')} AS online, CASE WHEN ${online('c')} THEN ${unix('c.connected_at')} END AS "connectedAt",
  ${unix('c.last_seen_at')} AS "lastSeenAt", ${unix('c.created_at')} AS "createdAt", c.hostname, c.software,
  c.clock_offset_ms AS "clockOffsetMs",
  (SELECT count(*) FROM jobs j WHERE j.collector_id = c.id AND j.status = 'leased') AS jobs,
  jsonb_build_object('at', ${SECONDS('at')},
    'outbox', CASE WHEN c.health ? 'outbox' THEN jsonb_build_object('depth', c.health #> '{outbox,depth}',
      'bytes', c.health #> '{outbox,bytes}', 'oldest', ${SECONDS('outbox,oldest')}) END,
    'drops', coalesce(c.health -> 'drops', '{}'), 'rssBytes', c.health -> 'rssBytes',
    'loopDelayMs', c.health -> 'loopDelayMs', 'watch', nullif(c.health -> 'watch', 'null'), 'engines', coalesce(c.health -> 'engines', '[]'),
    'capacity', c.health -> 'capacity') AS health`;
const FROM = 'collectors c JOIN sites s ON s.id = c.site_id';
const VISIBLE = '($1::uuid[] IS NULL OR c.site_id = ANY($1))';
const ORDERS = {
  name: 'lower(c.name)',
  status: 'c.status',
  lastSeenAt: 'c.last_seen_at',
  createdAt: 'c.created_at',
};

type Ids =
  | 'collectors.list'
  | 'collectors.get'
  | 'collectors.update'
  | 'collectors.revoke'
  | 'collectors.rotate'
  | 'collectors.release'
  | 'collectors.delete';
type Deps = Pick<CollectorDeps, 'db' | 'audit' | 'recordChanges' | 'clock'> & {
  jobs: Pick<CollectorDeps['jobs'], 'takeAll'>;
};

export function collectorHandlers({ db, audit, recordChanges, clock, jobs }: Deps): Handlers<Ids> {
  const read = async (sql: Sql, actor: Actor, id: string): Promise<Collector> => {
    const [row] = await sql.query<Collector>(
      `SELECT ${COLUMNS} FROM ${FROM} WHERE ${VISIBLE} AND c.id = $2::uuid`,
      [visibleSites(actor), id],
    );
    if (!row) throw notFound('collector');
    return row;
  };

  /** Does something to a collector the caller may see, tells everybody, and answers it as it is then. */
  const change = (
    call: { actor: Actor; params: { id: string }; address: string },
    action: string,
    work: (sql: Transaction, before: Collector) => Promise<Record<string, unknown> | undefined>,
    // Not the stronger one: that waits for the first window of a stream, which names its collector.
    lock: 'UPDATE' | 'NO KEY UPDATE' = 'NO KEY UPDATE',
  ): Promise<Collector> =>
    db.transaction(async (sql) => {
      const { actor, params, address } = call;
      await sql.query(`SELECT 1 FROM collectors WHERE id = $1::uuid FOR ${lock}`, [params.id]);
      const before = await read(sql, actor, params.id);
      const detail = await work(sql, before);
      const { siteId, name } = before;
      await audit(sql, {
        actor,
        address,
        action: `collector.${action}`,
        subject: `collector ${name}`,
        siteId,
        ...(detail ? { detail } : {}),
      });
      await notifyLinks(sql, { verb: 'check', collector: params.id });
      await announce(sql, siteId, 'collector', [params.id]);
      return read(sql, actor, params.id);
    });

  return {
    'collectors.list': async ({ actor, query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: FROM,
        key: ['c.id'],
        where: VISIBLE,
        parameters: new Parameters([scopeOf(actor, query.site)]),
        filters: {
          search: (p, text) => containing(p, text, ['c.name', 'c.hostname']),
          status: (p, statuses) => oneOf(p, 'c.status', 'text', statuses),
        },
        query,
        order: `${orderBy(query.sort ?? 'name', ORDERS)}, c.id`,
      }),

    'collectors.get': async ({ actor, params }) => ({ data: await read(db, actor, params.id) }),

    'collectors.update': async (call) => {
      const { name } = call.body;
      const data = await orConflict(`the site has a collector ${name} already`, () =>
        change(call, 'rename', async (sql, before) => {
          await sql.prisma.collector.update({ where: { id: before.id }, data: { name } });
          return { to: name };
        }),
      );
      return { data };
    },

    'collectors.revoke': async (call) => {
      const data = await change(call, 'revoke', async (sql, { id }) => {
        const data = {
          status: 'revoked',
          statusReason: `revoked by ${call.actor.name}`,
          pendingKey: null,
        };
        await sql.prisma.collector.update({ where: { id }, data });
        return undefined;
      });
      await jobs.takeAll(data.id, 'the collector was revoked');
      return { data: await read(db, call.actor, data.id) };
    },

    'collectors.rotate': async (call) => {
      const data = await change(call, 'rotate', async (sql, before) => {
        if (!before.online)
          throw new Problem(
            'conflict',
            'it is not online: a collector makes its new key itself; try again when it is',
          );
        await notifyLinks(sql, { verb: 'rotate', collector: before.id });
        return undefined;
      });
      return { data };
    },

    'collectors.release': async (call) => {
      const data = await change(
        call,
        'release',
        async (sql, before) => {
          const { id, siteId, name, statusReason } = before;
          if (before.status !== 'quarantined')
            throw new Problem('conflict', `it is ${before.status}, not quarantined`);
          // The next holder of its key is let in, whatever generation it shows, and gets one above all that were ever shown.
          await sql.query(
            `UPDATE collectors SET status = 'active', status_reason = '',
             pending_generation = greatest(generation, coalesce(pending_generation, 0)), generation = 0, pending_key = NULL
           WHERE id = $1::uuid`,
            [id],
          );
          // What it still has is taken from the start: another holder, or its own outbox before it went back, may have used
          // the same sequences, and what now bears them would pass for old.
          await sql.prisma.collectorStream.deleteMany({ where: { collectorId: id } });
          await recordChanges(sql, [
            { kind: 'collector.restored', siteId, at: clock.now(), collectorId: id, collectorName: name },
          ]);
          return { reason: statusReason };
        },
        // Waits for a first window that is being stored, whose mark could not be seen otherwise.
        'UPDATE',
      );
      return { data };
    },

    'collectors.delete': async ({ actor, params, address }) => {
      await db.transaction(async (sql) => {
        const { name, siteId, status } = await read(sql, actor, params.id);
        if (status !== 'revoked') throw new Problem('conflict', `it is ${status}; revoke it first`);
        await sql.prisma.collector.deleteMany({ where: { id: params.id } });
        await audit(sql, {
          actor,
          address,
          action: 'collector.delete',
          subject: `collector ${name}`,
          siteId,
        });
      });
      return { data: null };
    },
  };
}
