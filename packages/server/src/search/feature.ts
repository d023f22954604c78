import { scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { type SearchDeps, searchAll } from './search.ts';

export const searchHandlers = (deps: SearchDeps): Handlers<'search.get'> => ({
  'search.get': async ({ query, actor }) => ({
    data: await searchAll(deps, query.q, scopeOf(actor, query.site)),
  }),
});
