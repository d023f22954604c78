/**
 * How the page and the exact number of a device list are found: as SQL for the common table expressions `total` (one
 * row, `n`) and `keys` (`site_id`, `id`). Which way is cheap depends on the filters; the caller does not see it.
 */
import type { DeviceFilter } from '@rollcall/shared/api/inventory';
import {
  type OrderBy,
  offsetOf,
  orderSql,
  type PageRequest,
  type PageSource,
  type Parameters,
  pageKeys,
  type Scope,
} from '../kernel/list.ts';
import { addressCount, conditionOf, isSearch, tallied, withoutClass } from './device-filter.ts';

interface Question {
  filter: DeviceFilter;
  scope: Scope;
  order: readonly OrderBy[];
  request: PageRequest;
}

export function devicePage(p: Parameters, question: Question): string {
  const { filter } = question;
  if (isSearch(filter)) return bySearch(p, question);
  if (filter.collector !== undefined) return byFinding(p, question);
  if (filter.Address !== undefined) return byAddress(p, question);
  return byTally(p, question);
}

const KEYS = 'd.site_id, d.id';
const TOTAL = '(SELECT n FROM total)';

/** The tally knows the number, an index has the order. */
function byTally(p: Parameters, { filter, scope, order, request }: Question): string {
  const total = `total AS MATERIALIZED (SELECT (${tallied(p, filter, scope)}) AS n)`;
  const classes = filter.class ?? [];
  if (classes.length < 2 || order[0]?.by !== 'd.name') {
    const page = { keys: KEYS, from: 'devices d', where: conditionOf(p, filter, scope), order };
    return `${total}, keys AS MATERIALIZED (${pageKeys(page, request, TOTAL)})`;
  }
  // Several classes: each has its names in order; as much of each as the page may need is put in order together.
  const rest = withoutClass(filter);
  const conditions = classes.map((each) => conditionOf(p, { ...rest, class: [each] }, scope));
  const from: PageSource['from'] = (direction, reach) => {
    const parts = conditions.map(
      (where) =>
        `(SELECT d.site_id, d.id, d.name FROM devices d WHERE ${where} ORDER BY ${orderSql(direction)} LIMIT ${reach})`,
    );
    return `(${parts.join(' UNION ALL ')}) d`;
  };
  return `${total}, keys AS MATERIALIZED (${pageKeys({ keys: KEYS, from, where: 'true', order }, request, TOTAL)})`;
}

/** Addresses are counted in their own index; of the page the planner knows how many it will find. */
function byAddress(p: Parameters, { filter, scope, order, request }: Question): string {
  const page = { keys: KEYS, from: 'devices d', where: conditionOf(p, filter, scope), order };
  return `total AS MATERIALIZED (SELECT (${addressCount(p, filter, scope)}) AS n),
    keys AS MATERIALIZED (${pageKeys(page, request, TOTAL)})`;
}

const columns = (order: readonly OrderBy[]): string => ['d.site_id', ...order.map(({ by }) => by)].join(', ');

/** Few enough to be found all, counted and put in order. */
function byFinding(p: Parameters, { filter, scope, order, request }: Question): string {
  return `hits AS MATERIALIZED (SELECT ${columns(order)} FROM devices d WHERE ${conditionOf(p, filter, scope)}),
    total AS MATERIALIZED (SELECT count(*) AS n FROM hits),
    keys AS MATERIALIZED (${pageKeys({ keys: KEYS, from: 'hits d', where: 'true', order }, request, TOTAL)})`;
}

/** Up to this many hits of a search are found all. */
const FEW = 5_000;

/**
 * How many devices a text matches is what the planner guesses worst. So the first hits are fetched: where they are all,
 * they are counted and put in order; where there are more, they are dense enough to walk along the order to a page,
 * and are counted by a scan of their own. The branch that is not taken costs nothing (one-time filters).
 */
function bySearch(p: Parameters, { filter, scope, order, request }: Question): string {
  const where = conditionOf(p, filter, scope);
  const many = '(SELECT yes FROM many)';
  const few = `SELECT ${KEYS} FROM few d WHERE NOT ${many}
    ORDER BY ${orderSql(order)} LIMIT ${request.pageSize} OFFSET ${offsetOf(request)}`;
  const page = { keys: KEYS, from: 'devices d', where: `${many} AND ${where}`, order };
  return `few AS MATERIALIZED (SELECT ${columns(order)} FROM devices d WHERE ${where} LIMIT ${FEW + 1}),
    many AS MATERIALIZED (SELECT count(*) > ${FEW} AS yes FROM few),
    total AS MATERIALIZED (SELECT CASE WHEN ${many} THEN (SELECT count(*) FROM devices d WHERE ${where})
      ELSE (SELECT count(*) FROM few) END AS n),
    keys AS MATERIALIZED (SELECT * FROM ((${few}) UNION ALL (${pageKeys(page, request, TOTAL)})) AS found
      LIMIT ${request.pageSize})`;
}
