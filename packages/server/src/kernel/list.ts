/**
 * What every list shares: parameters, visibility, orders out of an allow-list, and the one statement that answers a
 * page together with the exact number of all rows. Nothing that a caller sent ever becomes SQL text.
 */
import { type Actor, sees, visibleSites } from './handler.ts';
import { Problem } from './problem.ts';
import type { Sql } from './sql.ts';

/** The parameters of one statement, numbered as they are mentioned. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value and gives its placeholder. */
  add(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** Sites a statement may read: null means every one. */
export type Scope = readonly string[] | null;

/** The caller's sites, narrowed to one where the query names it. */
export function scopeOf(actor: Actor, site?: string): Scope {
  if (site === undefined) return visibleSites(actor);
  if (!sees(actor, site)) throw new Problem('forbidden', 'no access to this site');
  return [site];
}

/** The condition that keeps a statement inside a scope. One site is an equality, so that ordered indexes serve it. */
export function inScope(parameters: Parameters, column: string, scope: Scope): string {
  if (scope === null) return 'true';
  if (scope.length === 1) return `${column} = ${parameters.add(scope[0])}::uuid`;
  return `${column} = ANY(${parameters.add(scope)}::uuid[])`;
}

/** One of some values. A single one is an equality, so that ordered indexes serve it. */
export function oneOf(
  parameters: Parameters,
  column: string,
  type: 'text' | 'int',
  values: readonly unknown[],
): string {
  if (values.length === 1) return `${column} = ${parameters.add(values[0])}::${type}`;
  return `${column} = ANY(${parameters.add(values)}::${type}[])`;
}

/** A text as the inside of a LIKE pattern that matches it anywhere. The escape character is the backslash. */
export const anywhere = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** One column of an order: an expression over the list's table, and its direction. */
export interface OrderBy {
  by: string;
  descending: boolean;
}

/** The order that `sort` names, out of the list's allow-list; ties are broken by the columns behind it. */
export function orderOf<Field extends string>(
  sorts: Readonly<Record<Field, readonly string[]>>,
  sort: Field | `-${Field}`,
): OrderBy[] {
  const descending = sort.startsWith('-');
  const field = (descending ? sort.slice(1) : sort) as Field;
  return sorts[field].map((by) => ({ by, descending }));
}

export const orderSql = (order: readonly OrderBy[]): string =>
  order.map(({ by, descending }) => (descending ? `${by} DESC` : by)).join(', ');
export const reversed = (order: readonly OrderBy[]): OrderBy[] =>
  order.map(({ by, descending }) => ({ by, descending: !descending }));

export interface PageRequest {
  page: number;
  pageSize: number;
}
export const offsetOf = ({ page, pageSize }: PageRequest): number => (page - 1) * pageSize;

/** Beyond this many rows before it, a page is also looked for from the other end. */
const DEEP = 2_000;

export interface PageSource {
  keys: string;
  /**
   * The table, or how it is read in a given order as far as `reach` rows: for sources that are put together out of
   * ordered parts.
   */
  from: string | ((order: readonly OrderBy[], reach: string) => string);
  where: string;
  order: readonly OrderBy[];
}

/**
 * The keys of one page, as `SELECT … LIMIT`. A deep page beyond the middle is walked to from the end, where `total` (a
 * scalar subquery) says that this is shorter: the branch that is not taken costs nothing (a one-time filter).
 */
export function pageKeys(
  { keys, from, where, order }: PageSource,
  request: PageRequest,
  total: string,
): string {
  const { pageSize } = request;
  const offset = offsetOf(request);
  const select = (direction: readonly OrderBy[], reach: string, gate: string, limit: string) =>
    `SELECT ${keys} FROM ${typeof from === 'string' ? from : from(direction, reach)} WHERE ${where}${gate}
     ORDER BY ${orderSql(direction)} ${limit}`;
  const forward = (gate: string) =>
    select(order, String(offset + pageSize), gate, `LIMIT ${pageSize} OFFSET ${offset}`);
  if (offset < DEEP) return forward('');
  const backward = select(
    reversed(order),
    `greatest(0, ${total} - ${offset})`,
    ` AND ${total} < ${2 * offset}`,
    `LIMIT greatest(0, least(${pageSize}, ${total} - ${offset})) OFFSET greatest(0, ${total} - ${offset + pageSize})`,
  );
  // The outer LIMIT is for the planner: it cannot see through the ones that are computed.
  return `SELECT * FROM ((${forward(` AND ${total} >= ${2 * offset}`)}) UNION ALL (${backward})) AS found LIMIT ${pageSize}`;
}

/** `total` as a scalar subquery, for `pageKeys`. */
export const TOTAL = '(SELECT n FROM total)';

/** The columns that a page needs of what was found: its key and its order. */
const foundColumns = (as: string, order: readonly OrderBy[]): string =>
  [...new Set([`${as}.site_id`, `${as}.id`, ...order.map(({ by }) => by)])].join(', ');

/** Up to this many matches are found all. */
export const FEW = 5_000;

interface Matches {
  table: string;
  as: string;
  where: string;
  order: readonly OrderBy[];
}

/**
 * Page and number as `findGuessed` has them, right where there are no more than `FEW` matches; a greater number says that
 * there are more. Half of a statement that is planned each time was what to do then.
 */
export function findFew({ table, as, where, order }: Matches, request: PageRequest): string {
  return `few AS MATERIALIZED (SELECT ${foundColumns(as, order)} FROM ${table} ${as} WHERE ${where} LIMIT ${FEW + 1}),
    total AS MATERIALIZED (SELECT count(*) AS n FROM few),
    keys AS MATERIALIZED (${pageOfFew(as, order, request)})`;
}
const pageOfFew = (as: string, order: readonly OrderBy[], request: PageRequest, gate = ''): string =>
  `SELECT ${as}.site_id, ${as}.id FROM few ${as} ${gate}
    ORDER BY ${orderSql(order)} LIMIT ${request.pageSize} OFFSET ${offsetOf(request)}`;

interface Guessed extends Matches {
  /**
   * How many matches are counted, where that is not plain: what is known before, as common table expressions and a query
   * of a number that there are at least; then what counts where `many` is true, and the columns of `total`.
   */
  counting?: { before: string; least: string; found: (many: string) => string; n: string; also: string };
}

/**
 * Page and number for filters whose number of matches the planner cannot tell, as the common table expressions `total`
 * (one row, `n`) and `keys`. The first matches are fetched: where they are all, they are counted and put in order; where
 * there are more, they are dense enough to walk along the order to a page, and are counted by a scan of their own. The
 * branch that is not taken costs nothing (one-time filters).
 */
export function findGuessed({ table, as, where, order, counting }: Guessed, request: PageRequest): string {
  const keys = `${as}.site_id, ${as}.id`;
  const many = '(SELECT yes FROM many)';
  const n = counting?.n ?? `(SELECT count(*) FROM ${table} ${as} WHERE ${where})`;
  const least = counting ? `(${counting.least}) > ${FEW}` : 'false';
  const few = pageOfFew(as, order, request, `WHERE NOT ${many}`);
  const page = { keys, from: `${table} ${as}`, where: `${many} AND ${where}`, order };
  return `${counting ? `${counting.before},` : ''}
    few AS MATERIALIZED (SELECT ${foundColumns(as, order)} FROM ${table} ${as}
      WHERE NOT ${least} AND ${where} LIMIT ${FEW + 1}),
    many AS MATERIALIZED (SELECT ${least} OR (SELECT count(*) FROM few) > ${FEW} AS yes),
    ${counting ? `${counting.found(many)},` : ''}
    total AS MATERIALIZED (SELECT CASE WHEN ${many} THEN ${n} ELSE (SELECT count(*) FROM few) END AS n${counting?.also ?? ''}),
    keys AS MATERIALIZED (SELECT * FROM ((${few}) UNION ALL (${pageKeys(page, request, TOTAL)})) AS found
      LIMIT ${request.pageSize})`;
}

export interface Page<Row> {
  rows: Row[];
  totalCount: number;
}

/**
 * Runs a statement whose rows carry `total`: it answers at least one row, and one without `id` where the page is
 * empty (`FROM total LEFT JOIN page`).
 */
export async function readPage<Row extends { id: string }>(
  sql: Sql,
  text: string,
  parameters: Parameters,
  kept?: 'kept',
): Promise<Page<Row>> {
  const rows = await sql.query<Row & { total: number }>(text, parameters.values, kept);
  return { rows: rows.filter((row) => row.id !== null), totalCount: rows[0]?.total ?? 0 };
}

/** A time of the database as the API tells it: Unix seconds, or null. */
export function seconds(time: Date): number;
export function seconds(time: Date | null): number | null;
export function seconds(time: Date | null): number | null {
  return time === null ? null : Math.floor(time.getTime() / 1000);
}
