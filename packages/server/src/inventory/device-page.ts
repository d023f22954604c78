/**
 * How the page and the exact number of a device list are found: as SQL for the common table expressions `total` (one
 * row, `n`) and `keys` (`site_id`, `id`). Which way is cheap depends on the filters; the caller does not see it.
 */
import type { DeviceFilter } from '@rollcall/shared/api/inventory';
import {
  findGuessed,
  type OrderBy,
  orderSql,
  type PageRequest,
  type PageSource,
  type Parameters,
  pageKeys,
  type Scope,
  TOTAL,
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
  if (isSearch(filter) || filter.collector !== undefined)
    return findGuessed(
      {
        table: tableFor(question.order),
        as: 'd',
        where: conditionOf(p, filter, question.scope),
        order: question.order,
      },
      question.request,
    );
  if (filter.Address !== undefined) return byAddress(p, question);
  return byTally(p, question);
}

/** Devices with what their sightings tell. The planner sees through it. */
export const SEEN_DEVICES = `(SELECT d.*, v.last_seen, v.last_scan_id, v.rtt_ms
  FROM devices d JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id)`;

/** What has all columns of an order: no filter asks for a sighting. */
const tableFor = (order: readonly OrderBy[]): string =>
  order.some(({ by }) => by === 'd.last_seen') ? SEEN_DEVICES : 'devices';

const KEYS = 'd.site_id, d.id';

/** The tally knows the number, an index has the order. */
function byTally(p: Parameters, { filter, scope, order, request }: Question): string {
  const total = `total AS MATERIALIZED (SELECT (${tallied(p, filter, scope)}) AS n)`;
  const classes = filter.class ?? [];
  if (classes.length < 2 || order[0]?.by !== 'd.name') {
    const page = { keys: KEYS, from: `${tableFor(order)} d`, where: conditionOf(p, filter, scope), order };
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
  const page = { keys: KEYS, from: `${tableFor(order)} d`, where: conditionOf(p, filter, scope), order };
  return `total AS MATERIALIZED (SELECT (${addressCount(p, filter, scope)}) AS n),
    keys AS MATERIALIZED (${pageKeys(page, request, TOTAL)})`;
}
