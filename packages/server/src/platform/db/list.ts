/**
 * What every list shares: parameters, visibility, orders out of an allow-list, and the one statement that answers a
 * page together with the exact number of all rows. Nothing that a caller sent ever becomes SQL text.
 */
import { macTexts } from '@rollcall/shared/api/endpoints';
import { type Actor, sees, visibleSites } from '../http/handler.ts';
import { Problem } from '../problem.ts';
import type { Sql } from './sql.ts';

/** The parameters of one statement, numbered as they are mentioned. */
export class Parameters {
  readonly values: unknown[];

  /** With the values of the placeholders that stand already. */
  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

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
  type: 'text' | 'int' | 'uuid',
  values: readonly unknown[],
): string {
  if (values.length === 1) return `${column} = ${parameters.add(values[0])}::${type}`;
  return `${column} = ANY(${parameters.add(values)}::${type}[])`;
}

/** A text as the columns `search_text` have it: lower case, white space as single spaces. */
export const searchable = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase();

/** A text as the inside of a LIKE pattern that matches it anywhere. The escape character is the backslash. */
export const anywhere = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Whether a column `search_text` has a text that is `searchable`; a hardware address, or a part of one, in any notation. */
export function foundBy(p: Parameters, column: string, text: string): string {
  const ways = [...new Set([text, ...macTexts(text)])];
  return `(${ways.map((way) => `${column} LIKE ${p.add(anywhere(way))}::text`).join(' OR ')})`;
}

/** That a text stands in one of some columns, in any case. */
export const containing = (p: Parameters, text: string, columns: readonly string[]): string => {
  const pattern = p.add(anywhere(text));
  return `(${columns.map((column) => `${column} ILIKE ${pattern}::text`).join(' OR ')})`;
};

/** The filters `from` and `to` of a time: Unix seconds, both inclusive. */
export const between = (column: string) => ({
  from: (p: Parameters, from: number): string => `${column} >= to_timestamp(${p.add(from)}::int8)`,
  to: (p: Parameters, to: number): string => `${column} < to_timestamp(${p.add(to)}::int8 + 1)`,
});

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

export interface PageRequest {
  page: number;
  pageSize: number;
}
export const offsetOf = ({ page, pageSize }: PageRequest): number => (page - 1) * pageSize;

/** Query keys that every list has and that filter nothing but its sites. */
type ListKey = 'site' | 'sort' | 'page' | 'pageSize';
export type FilterOf<Query> = Omit<Query, ListKey>;

/**
 * The condition that each filter of a list stands for; null: it asks for nothing. A filter that is missing here does not
 * compile, and one that is given is never overlooked: an unfiltered list is one without conditions.
 */
export type Filters<Filter, Context> = {
  readonly [Key in keyof Filter]-?: (
    p: Parameters,
    value: NonNullable<Filter[Key]>,
    context: Context,
  ) => string | null;
};

/** The conditions of the filters that are given. */
export function conditionsOf<Filter extends object, Context>(
  p: Parameters,
  filters: Filters<Filter, Context>,
  filter: Filter,
  context: Context,
): string[] {
  return (Object.keys(filters) as (keyof Filter)[]).flatMap((key) => {
    const value = filter[key];
    const condition = value === undefined || value === null ? null : filters[key](p, value, context);
    return condition === null ? [] : [condition];
  });
}

export interface PageSource {
  keys: string;
  from: string;
  where: string;
  order: readonly OrderBy[];
}

/** The keys of one page: what is behind them is read for those rows only, not for the ones that `OFFSET` skips. */
export function pageKeys({ keys, from, where, order }: PageSource, request: PageRequest): string {
  return `SELECT ${keys} FROM ${from} WHERE ${where} ORDER BY ${orderSql(order)} LIMIT ${request.pageSize} OFFSET ${offsetOf(request)}`;
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
  const found = rows.filter(({ id }) => id !== null).map(({ total: _, ...row }) => row as unknown as Row);
  return { rows: found, totalCount: rows[0]?.total ?? 0 };
}

/** A time of the database as the API tells it: Unix seconds, or null. */
export function seconds(time: Date): number;
export function seconds(time: Date | null): number | null;
export function seconds(time: Date | null): number | null {
  return time === null ? null : Math.floor(time.getTime() / 1000);
}
