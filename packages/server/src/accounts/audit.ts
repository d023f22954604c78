/** The append-only log of who did what. */
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Sql } from '../platform/db/db.ts';
import { between, Parameters, readPage, unix } from '../platform/db/list.ts';
import { type Handlers, visibleSites } from '../platform/http/handler.ts';
import type { Audit } from '../ports.ts';

export const audit: Audit = async ({ prisma }, { actor, action, subject, siteId, address, detail }) => {
  await prisma.audit.create({
    data: {
      id: uuidv7(),
      actorId: 'userId' in actor ? actor.userId : null,
      actor: actor.name,
      action,
      subject: subject ?? '',
      siteId: siteId ?? null,
      address: address ?? '',
      detail: (detail ?? {}) as Prisma.InputJsonObject,
    },
  });
};

const COLUMNS = `id, ${unix('at')} AS at, actor_id AS "actorId", actor, action, subject,
  site_id AS "siteId", address, detail`;
const WHERE = `($1::uuid[] IS NULL OR site_id = ANY($1) OR actor_id = $2) AND ($3::uuid IS NULL OR site_id = $3)`;

export const auditHandlers = ({ db }: { db: Sql }): Handlers<'audit.list'> => ({
  'audit.list': async ({ actor, query }) =>
    readPage(db, {
      columns: COLUMNS,
      from: 'audit',
      key: ['id'],
      where: WHERE,
      parameters: new Parameters([visibleSites(actor), actor.userId, query.site ?? null]),
      filters: {
        actor: (p, name) => `actor = ${p.add(name)}::text`,
        action: (p, action) => {
          const kind = p.add(action);
          return `(action = ${kind}::text OR starts_with(action, ${kind} || '.'))`;
        },
        ...between('at'),
      },
      query,
      // The column, not the answer's `at`: that one is in whole seconds.
      order: 'audit.at DESC, id DESC',
    }),
});
