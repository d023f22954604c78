import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../../platform/db/db.ts';
import { scopeOf } from '../../platform/db/list.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { changesBefore, countChanges, listChanges } from './read.ts';

export function changeHandlers({
  db,
  clock,
}: {
  db: Database;
  clock: Clock;
}): Handlers<'changes.list' | 'changes.counts' | 'cases.changes'> {
  return {
    'changes.list': async ({ query, actor }) => {
      const scope = scopeOf(actor, query.site);
      return listChanges(db, query, { scope, now: clock.now() });
    },
    'changes.counts': async ({ query, actor }) => ({
      data: await countChanges(db, query, { scope: scopeOf(actor, query.site), now: clock.now() }),
    }),
    'cases.changes': async ({ params, actor }) => ({
      data: await changesBefore(db, params.id, scopeOf(actor)),
    }),
  };
}
