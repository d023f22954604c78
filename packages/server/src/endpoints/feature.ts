import type { Database } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { placesOf } from './read.ts';

export function endpointHandlers({ db }: { db: Database }): Handlers<'endpoints.place'> {
  return {
    'endpoints.place': async ({ query, actor }) => ({
      data: await placesOf(db, query.mac, scopeOf(actor, query.site)),
    }),
  };
}
