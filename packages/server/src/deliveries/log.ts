/** The log of deliveries, and sending one again. */
import type { DeliveryDetail } from '@rollcall/shared/api/deliveries';
import { Parameters, readPage, scopeOf, unix } from '../platform/db/list.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import { type Actor, type Handlers, visibleSites } from '../platform/http/handler.ts';
import { notFound, Problem } from '../platform/problem.ts';
import type { DeliveryDeps } from './deps.ts';

/** Of subscriptions `s`: what one is about must all be visible, because what it is told of goes to anyone who reads the log. */
export const VISIBLE = '($1::uuid[] IS NULL OR (NOT s.all_sites AND s.site_ids <@ $1))';

export const DELIVERY_COLUMNS = `d.id, d.subscription_id AS "subscriptionId", s.name AS subscription,
  d.site_id AS "siteId", d.case_id AS "caseId", (d.payload -> 'data' -> 'case' ->> 'number')::int AS "caseNumber",
  d.type, d.status, d.attempts, ${unix('d.created_at')} AS "createdAt", ${unix('d.next_at')} AS "nextAttemptAt",
  ${unix('d.finished_at')} AS "finishedAt", d.response_status AS "responseStatus", d.error`;
export const DELIVERY_FROM = 'deliveries d JOIN subscriptions s ON s.id = d.subscription_id';

export function deliveryLogHandlers({
  db,
  clock,
  audit,
}: DeliveryDeps): Handlers<'deliveries.list' | 'deliveries.get' | 'deliveries.resend'> {
  const read = async (sql: Sql, actor: Actor, id: string): Promise<DeliveryDetail> => {
    const [row] = await sql.query<DeliveryDetail>(
      `SELECT ${DELIVERY_COLUMNS}, d.payload, d.log, d.recipients FROM ${DELIVERY_FROM} WHERE ${VISIBLE} AND d.id = $2::uuid`,
      [visibleSites(actor), id],
    );
    if (!row) throw notFound('delivery');
    return row;
  };
  return {
    'deliveries.list': async ({ actor, query }) => {
      scopeOf(actor, query.site);
      return readPage(db, {
        columns: DELIVERY_COLUMNS,
        from: DELIVERY_FROM,
        key: ['d.id'],
        where: `${VISIBLE} AND ($2::uuid IS NULL OR d.site_id = $2)`,
        parameters: new Parameters([visibleSites(actor), query.site ?? null]),
        filters: {
          subscription: (p, id) => `d.subscription_id = ${p.add(id)}::uuid`,
          status: (p, status) => `d.status = ${p.add(status)}::text`,
        },
        query,
        order: 'd.created_at DESC, d.position DESC',
      });
    },

    'deliveries.get': async ({ actor, params }) => ({ data: await read(db, actor, params.id) }),

    'deliveries.resend': async ({ actor, params, address }) => {
      const data = await db.transaction(async (sql) => {
        const { subscription, siteId } = await read(sql, actor, params.id);
        const rows = await sql.query(
          `UPDATE deliveries SET status = 'queued', next_at = $2, begun_at = $2, finished_at = NULL,
             recipients = '[]'
           WHERE id = $1::uuid AND (claimed_until IS NULL OR claimed_until < $2) RETURNING 1`,
          [params.id, new Date(clock.now())],
        );
        if (rows.length === 0) throw new Problem('conflict', 'it is being sent right now');
        await audit(sql, {
          actor,
          address,
          action: 'delivery.resend',
          subject: `subscription ${subscription}`,
        });
        await announce(sql, siteId, 'delivery', [params.id]);
        const { payload: _p, log: _l, recipients: _r, ...shown } = await read(sql, actor, params.id);
        return shown;
      });
      return { data };
    },
  };
}
