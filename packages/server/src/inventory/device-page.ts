/**
 * How the page and the exact number of a device list are found: as SQL for the common table expressions `total` (one
 * row: `n`, with a signpost `rank`, and `counted` where a number is to be remembered) and `keys` (`site_id`, `id`). Which
 * way is cheap depends on the filters; the caller does not see it.
 */
import type { DeviceFilter } from '@rollcall/shared/api/inventory';
import {
  findGuessed,
  type OrderBy,
  offsetOf,
  orderSql,
  type PageRequest,
  type PageSource,
  type Parameters,
  pageKeys,
  type Scope,
  TOTAL,
} from '../kernel/list.ts';
import {
  addressCount,
  addressCountBySite,
  conditionOf,
  isLarge,
  isSearch,
  isTallied,
  searchCountBySite,
  spelled,
  tallied,
  withoutClass,
} from './device-filter.ts';
import { type Counted, inOneWalk, rememberedCount } from './remembered.ts';
import { mayHaveSignposts, pageFrom, type Signpost } from './signposts.ts';

interface Question {
  filter: DeviceFilter;
  scope: Scope;
  order: readonly OrderBy[];
  request: PageRequest;
  /** What is remembered of its number; undefined where nothing is to be. */
  known?: Counted | undefined;
  /** Near which the page is, of a list that `hasSignposts`. */
  signpost?: Signpost | undefined;
}

export function devicePage(p: Parameters, question: Question): string {
  const { filter } = question;
  if (isSearch(filter) || filter.collector !== undefined) return byGuess(p, question);
  if (filter.Address !== undefined) return byAddress(p, question);
  return byTally(p, question);
}

/** Whether deep pages of a list leave signposts: all devices, by what seldom changes. */
export const hasSignposts = (filter: DeviceFilter, order: readonly OrderBy[]): boolean =>
  isUnfiltered(filter) && mayHaveSignposts(order);

/** Whether only the scope says which devices are listed. */
const isUnfiltered = ({ monitor, class: classes, collector, ...rest }: DeviceFilter): boolean =>
  isTallied(rest) && monitor === undefined && !classes && collector === undefined;

/** Devices with what their sightings tell. The planner sees through it. */
export const SEEN_DEVICES = `(SELECT d.*, v.last_seen, v.last_scan_id, v.rtt_ms
  FROM devices d JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id)`;

/** The sightings alone: their own index has their order. */
const SIGHTINGS = '(SELECT site_id, device_id AS id, last_seen FROM sightings)';

/** What has all columns of an order and of its filters. No filter asks for a sighting. */
function tableFor(order: readonly OrderBy[], filter: DeviceFilter): string {
  if (!order.some(({ by }) => by === 'd.last_seen')) return 'devices';
  return isUnfiltered(filter) ? SIGHTINGS : SEEN_DEVICES;
}

/**
 * Under which the number is remembered once it was counted; null: it is not. A search or a large network alone: with
 * further filters it would depend on more than `device_revision` watches.
 */
export function questionOf({ monitor, class: classes, collector, ...rest }: DeviceFilter): string | null {
  if (monitor !== undefined || classes !== undefined || collector !== undefined) return null;
  const { Address } = rest;
  return isSearch(rest) || (Address !== undefined && isLarge(Address)) ? spelled(rest) : null;
}

const KEYS = 'd.site_id, d.id';

/** How many match is not known: what the planner would guess of a text or a collector is often far off. */
function byGuess(p: Parameters, { filter, scope, order, request, known }: Question): string {
  const where = conditionOf(p, filter, scope);
  const found = { table: tableFor(order, filter), as: 'd', where, order };
  if (known === undefined) return findGuessed(found, request);
  const { before, after } = rememberedCount(p, {
    known,
    scope,
    count: inOneWalk('d.site_id', (and) => searchCountBySite(p, filter, scope, and)),
  });
  const counting = {
    before,
    least: 'SELECT coalesce(sum(n), 0) FROM known',
    found: after,
    n: '(SELECT n FROM remembered)',
    also: ', (SELECT counted FROM remembered) AS counted',
  };
  return findGuessed({ ...found, counting }, request);
}

/** The tally knows the number, an index has the order. */
function byTally(p: Parameters, { filter, scope, order, request, signpost }: Question): string {
  const all = `(${tallied(p, filter, scope)})`;
  if (signpost) {
    const offset = offsetOf(request);
    const page = { scope, order, offset, pageSize: request.pageSize, signpost };
    const { counting, rankIn, keys } = pageFrom(p, page);
    return `${counting},
      total AS MATERIALIZED (SELECT a.n, ${rankIn('a.n', 'r.n')} AS rank, r.counted FROM (SELECT ${all} AS n) AS a, remembered r),
      keys AS MATERIALIZED (${keys})`;
  }
  const total = `total AS MATERIALIZED (SELECT ${all} AS n)`;
  const classes = filter.class ?? [];
  if (classes.length < 2 || order[0]?.by !== 'd.name') {
    const page = {
      keys: KEYS,
      from: `${tableFor(order, filter)} d`,
      where: conditionOf(p, filter, scope),
      order,
    };
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
function byAddress(p: Parameters, { filter, scope, order, request, known }: Question): string {
  const page = {
    keys: KEYS,
    from: `${tableFor(order, filter)} d`,
    where: conditionOf(p, filter, scope),
    order,
  };
  const total = known
    ? remembered(p, { filter, scope, known })
    : `total AS MATERIALIZED (SELECT (${addressCount(p, filter, scope)}) AS n)`;
  return `${total},
    keys AS MATERIALIZED (${pageKeys(page, request, TOTAL)})`;
}

function remembered(
  p: Parameters,
  { filter, scope, known }: Pick<Question, 'filter' | 'scope'> & { known: Counted },
) {
  const { before, after } = rememberedCount(p, {
    known,
    scope,
    count: addressCountBySite(p, filter, scope),
  });
  return `${before}, ${after('true')}, total AS MATERIALIZED (SELECT n, counted FROM remembered)`;
}
