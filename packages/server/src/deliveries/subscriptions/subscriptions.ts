/** Subscriptions as people manage them. Secrets go out once and never again. */

import type { Subscription } from '@rollcall/shared/api/subscriptions';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Scope } from '../../platform/access/scope.ts';
import { orConflict, type Transaction } from '../../platform/db/db.ts';
import { orderBy, Parameters, readPage, unix } from '../../platform/db/list.ts';
import { holdLock } from '../../platform/db/lock.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { type Actor, type Handlers, visibleSites } from '../../platform/http/handler.ts';
import { notFound, Problem } from '../../platform/problem.ts';
import { testPayload } from '../channels/sample.ts';
import type { DeliveryDeps } from '../deps.ts';
import { DELIVERY_COLUMNS, DELIVERY_FROM, VISIBLE } from '../log.ts';
import { type Given, makeSecret, type SealedRow, withGiven } from './secrets.ts';
import { changed, checkChoice, checkTarget, givenSecrets, stored } from './targets.ts';

/** About one site, and as many about all sites: every case that turns looks through both. */
const SUBSCRIPTIONS_MOST = 100;

const COLUMNS = `s.id, s.name, s.kind, s.url,
  CASE WHEN s.kind = 'webhook' THEN coalesce(s.format, 'rollcall') END AS format, s.template, s.channel, s.headers, s.addresses,
  s.facility, s.app_name AS "appName", s.authority, s.acknowledge, s.types, s.severity, s.all_sites AS "allSites",
  s.site_ids AS "siteIds", s.tags, s.fields, s.classes, s.event_kinds AS "eventKinds", s.hours, s.allow_private AS "allowPrivate", s.enabled, s.disabled_reason AS "disabledReason",
  ${unix('s.failing_since')} AS "failingSince", ${unix('s.last_delivered_at')} AS "lastDeliveredAt",
  (SELECT count(*) FROM deliveries d WHERE d.subscription_id = s.id AND d.status = 'queued') AS waiting,
  ${unix('s.created_at')} AS "createdAt"`;
const ORDERS = { name: 'lower(s.name)', createdAt: 's.created_at' };

type Ids =
  | 'subscriptions.list'
  | 'subscriptions.get'
  | 'subscriptions.create'
  | 'subscriptions.update'
  | 'subscriptions.delete'
  | 'subscriptions.rotate'
  | 'subscriptions.revokeLinks'
  | 'subscriptions.test';

export function subscriptionHandlers({ db, clock, audit, keyring, eventKinds }: DeliveryDeps): Handlers<Ids> {
  const read = async (sql: Sql, actor: Actor, id: string): Promise<Subscription> => {
    const [row] = await sql.query<Subscription>(
      `SELECT ${COLUMNS} FROM subscriptions s WHERE ${VISIBLE} AND s.id = $2::uuid`,
      [visibleSites(actor), id],
    );
    if (!row) throw notFound('subscription');
    return row;
  };
  const lock = async (sql: Transaction, id: string): Promise<SealedRow> => {
    const [row] = await sql.query<SealedRow & Record<string, unknown>>(
      'SELECT id, sealed, key_id AS "keyId" FROM subscriptions WHERE id = $1::uuid FOR UPDATE',
      [id],
    );
    if (!row) throw notFound('subscription');
    return row;
  };
  const setSecrets = async (sql: Transaction, id: string, given: Given) => {
    const { sealed, keyId } = withGiven(keyring, await lock(sql, id), given);
    await sql.prisma.subscription.update({ where: { id }, data: { sealed, keyId } });
  };
  const unique = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    orConflict(`there is a subscription ${name} already`, work);
  const audited = <T>(
    { actor, address }: { actor: Actor; address: string },
    action: string,
    name: string,
    work: (sql: Transaction) => Promise<T>,
    detail: Record<string, unknown> = {},
  ): Promise<T> =>
    unique(name, () =>
      db.transaction(async (sql) => {
        const done = await work(sql);
        await audit(sql, { actor, address, action, subject: `subscription ${name}`, detail });
        return done;
      }),
    );

  return {
    'subscriptions.list': async ({ actor, query }) =>
      readPage(db, {
        columns: COLUMNS,
        from: 'subscriptions s',
        key: ['s.id'],
        where: VISIBLE,
        order: `${orderBy(query.sort ?? 'name', ORDERS)}, s.id`,
        parameters: new Parameters([visibleSites(actor)]),
        filters: {},
        query,
      }),

    'subscriptions.get': async ({ actor, params }) => ({ data: await read(db, actor, params.id) }),

    'subscriptions.create': async (call) => {
      const { actor, body } = call;
      const id = uuidv7(clock.now());
      checkTarget(actor, body);
      checkChoice(eventKinds, body);
      const sealed =
        body.kind === 'webhook' ? makeSecret(keyring, id, clock.now(), givenSecrets(body)) : null;
      const data = await audited(call, 'subscription.create', body.name, async (sql) => {
        const fields = await stored(sql, actor, body);
        await requireRoom(sql, id, fields);
        await sql.prisma.subscription.create({
          data: {
            id,
            kind: body.kind,
            sealed: sealed?.sealed ?? null,
            keyId: sealed?.keyId ?? null,
            ...fields,
            createdBy: actor.userId,
            createdAt: new Date(clock.now()),
          },
        });
        return read(sql, actor, id);
      });
      return {
        data,
        extra: { secret: sealed?.secret ?? null },
        headers: { Location: `/api/subscriptions/${id}` },
      };
    },

    'subscriptions.update': async (call) => {
      const { actor, params, body } = call;
      const before = await read(db, actor, params.id);
      const after = changed(before, body);
      checkTarget(actor, after, before);
      checkChoice(eventKinds, after);
      const fields = Object.keys(body);
      const data = await audited(
        call,
        'subscription.update',
        after.name,
        async (sql) => {
          // Setting it right lets it begin anew.
          const anew = body.enabled === true || body.url !== undefined;
          const is = await stored(sql, actor, after, before);
          await requireRoom(sql, params.id, is);
          const given = givenSecrets(body);
          if (given) await setSecrets(sql, params.id, given);
          await sql.prisma.subscription.updateMany({
            where: { id: params.id },
            data: {
              ...is,
              ...(anew && { disabledReason: '', failingSince: null }),
            },
          });
          return read(sql, actor, params.id);
        },
        { fields },
      );
      return { data };
    },

    'subscriptions.delete': async (call) => {
      const { name } = await read(db, call.actor, call.params.id);
      await audited(call, 'subscription.delete', name, (sql) =>
        sql.prisma.subscription.deleteMany({ where: { id: call.params.id } }),
      );
      return { data: null };
    },

    'subscriptions.rotate': async (call) => {
      const { actor, params } = call;
      const { name, kind } = await read(db, actor, params.id);
      if (kind !== 'webhook') throw new Problem('conflict', 'only a webhook has a secret');
      return audited(call, 'subscription.rotate', name, async (sql) => {
        const row = await lock(sql, params.id);
        const { secret, sealed, keyId } = makeSecret(keyring, params.id, clock.now(), { row });
        await sql.prisma.subscription.update({ where: { id: params.id }, data: { sealed, keyId } });
        return { data: await read(sql, actor, params.id), extra: { secret } };
      });
    },

    'subscriptions.revokeLinks': async (call) => {
      const { actor, params } = call;
      const { name } = await read(db, actor, params.id);
      return audited(call, 'subscription.revoke-links', name, async (sql) => {
        await sql.prisma.subscription.updateMany({
          where: { id: params.id },
          data: { linkVersion: { increment: 1 } },
        });
        return { data: await read(sql, actor, params.id) };
      });
    },

    'subscriptions.test': async (call) => {
      const { actor, params } = call;
      const { name, siteIds } = await read(db, actor, params.id);
      const now = clock.now();
      const id = uuidv7(now);
      const data = await audited(call, 'subscription.test', name, async (sql) => {
        // Locked against a delete at the same moment.
        const kept = await sql.query('SELECT 1 FROM subscriptions WHERE id = $1::uuid FOR KEY SHARE', [
          params.id,
        ]);
        if (kept.length === 0) throw notFound('subscription');
        const at = new Date(now);
        await sql.prisma.delivery.create({
          data: {
            id,
            subscriptionId: params.id,
            type: 'test',
            status: 'queued',
            payload: testPayload(now) as unknown as Prisma.InputJsonObject,
            nextAt: at,
            begunAt: at,
            createdAt: at,
          },
        });
        await announce(sql, siteIds[0] ?? null, 'delivery', [id]);
        const [row] = await sql.query<Record<string, unknown>>(
          `SELECT ${DELIVERY_COLUMNS} FROM ${DELIVERY_FROM} WHERE d.id = $1::uuid`,
          [id],
        );
        return row;
      });
      return { data: data as never };
    },
  };
}

/** Each site has its own room, so that an administrator of one takes none of others. @param id of the one that comes. */
async function requireRoom(sql: Transaction, id: string, { allSites, siteIds }: Scope): Promise<void> {
  // One after the other, or those that come at once all find room.
  if (allSites) await holdLock(sql, 'subscriptions');
  await sql.query('SELECT 1 FROM sites WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE', [siteIds]);
  for (const about of allSites ? [{ allSites }] : siteIds.map((site) => ({ siteIds: { has: site } })))
    if ((await sql.prisma.subscription.count({ where: { ...about, id: { not: id } } })) >= SUBSCRIPTIONS_MOST)
      throw new Problem(
        'conflict',
        `${allSites ? 'all sites have' : 'the site has'} ${SUBSCRIPTIONS_MOST} subscriptions; delete some`,
      );
}
