import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope, scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { notFound } from '../platform/problem.ts';
import { listEndpoints } from './list.ts';
import type { Makers } from './makers.ts';
import { placesOf } from './read.ts';

type Ids = 'endpoints.list' | 'endpoints.get' | 'interfaces.endpoints';

export function endpointHandlers({ db, makers }: { db: Database; makers: Makers }): Handlers<Ids> {
  return {
    'endpoints.list': async ({ query, actor }) => {
      const { rows, totalCount } = await listEndpoints(db, query, {
        scope: scopeOf(actor, query.site),
        makers,
      });
      return { data: rows, totalCount };
    },
    'endpoints.get': async ({ params, query, actor }) => {
      const data = await placesOf(db, params.mac, { scope: scopeOf(actor, query.site), makers });
      if (data.length === 0) throw notFound('endpoint');
      return { data };
    },
    'interfaces.endpoints': async ({ params: { id }, query, actor }) => {
      const scope = scopeOf(actor);
      if (!(await interfaceExists(db, id, scope))) throw notFound('interface');
      const { rows, totalCount } = await listEndpoints(db, { ...query, interface: id }, { scope, makers });
      return { data: rows, totalCount };
    },
  };
}

async function interfaceExists(db: Database, id: string, scope: Scope): Promise<boolean> {
  const p = new Parameters();
  const rows = await db.query(
    `SELECT 1 FROM interfaces i WHERE i.id = ${p.add(id)}::uuid AND ${inScope(p, 'i.site_id', scope)}`,
    p.values,
  );
  return rows.length > 0;
}
