import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope, scopeOf } from '../platform/db/list.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { notFound } from '../platform/problem.ts';
import { listEndpoints } from './list.ts';
import type { Makers } from './makers.ts';
import { placesOf } from './read.ts';

type Ids = 'endpoints.list' | 'endpoints.get' | 'interfaces.endpoints';

export function endpointHandlers({
  db,
  makers,
  clock,
}: {
  db: Database;
  makers: Makers;
  clock: Clock;
}): Handlers<Ids> {
  const now = () => Math.floor(clock.now() / 1000);
  return {
    'endpoints.list': async ({ query, actor }) => {
      return listEndpoints(db, query, { scope: scopeOf(actor, query.site), makers, now: now() });
    },
    'endpoints.get': async ({ params, query, actor }) => {
      const data = await placesOf(db, params.mac, { scope: scopeOf(actor, query.site), makers, now: now() });
      if (data.length === 0) throw notFound('endpoint');
      return { data };
    },
    'interfaces.endpoints': async ({ params: { id }, query, actor }) => {
      const scope = scopeOf(actor);
      if (!(await interfaceExists(db, id, scope))) throw notFound('interface');
      return listEndpoints(db, { ...query, interface: id }, { scope, makers, now: now() });
    },
  };
}

/** Every key of an interface begins with its site: the sites are gone through, so that an index finds it in each. */
async function interfaceExists(db: Database, id: string, scope: Scope): Promise<boolean> {
  const p = new Parameters();
  const rows = await db.query(
    `SELECT 1 FROM sites s JOIN interfaces i ON i.site_id = s.id AND i.id = ${p.add(id)}::uuid
     WHERE ${inScope(p, 's.id', scope)}`,
    p.values,
  );
  return rows.length > 0;
}
