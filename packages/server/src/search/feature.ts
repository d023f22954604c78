import type { Database } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { FindEndpoints } from '../ports.ts';
import { searchAll } from './search.ts';

export interface SearchDeps {
  db: Database;
  findEndpoints: FindEndpoints;
}

export const searchHandlers = (deps: SearchDeps): Handlers<'search.get'> => ({
  'search.get': async ({ query, actor }) => ({
    data: await searchAll(deps, query.q, scopeOf(actor, query.site)),
  }),
});
