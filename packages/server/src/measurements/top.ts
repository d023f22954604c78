/** `GET /api/metrics/top`: the highest of the last measurements. */
import { RANKED, type TopEntry, type TopQuery } from '@rollcall/shared/api/measurements';
import { foundIn } from '../platform/db/annotated.ts';
import { oneOf, type Parameters, type Scope, searchable } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { highestValues, interfaceNames } from './last.ts';

export async function readTop(
  sql: Sql,
  query: TopQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<TopEntry[]> {
  const { of, unit } = RANKED[query.metric];
  const best = await highestValues(sql, query.metric, {
    ...{ of, scope, now, limit: query.limit },
    where: (p) => conditions(p, query),
  });
  const names = await interfaceNames(sql, best);
  return best.map(({ at, ...entry }) => ({
    ...entry,
    interfaceName: names.get(entry.interfaceId ?? '') ?? null,
    unit,
    at: Math.floor(at.getTime() / 1000),
  }));
}

/** As the list of devices has them. */
function conditions(p: Parameters, query: TopQuery): string[] {
  const words = searchable(query.search ?? '');
  return [
    ...(query.class ? [oneOf(p, 'd.class', 'text', query.class)] : []),
    ...(words === '' ? [] : [foundIn(p, 'd', words)]),
  ];
}
