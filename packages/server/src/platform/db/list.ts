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

/** The order that `sort` names, out of the list's allow-list; ties are broken by the columns behind it. */
export function orderOf<Field extends string>(
  sorts: Readonly<Record<Field, readonly string[]>>,
  sort: Field | `-${Field}`,
): string {
  const [field, direction] = fieldOf(sort);
  return sorts[field].map((by) => `${by}${direction}`).join(', ');
}

/** The order of a short list by one column; an empty value is below every other. */
export const orderBy = <Field extends string>(
  sort: Field | `-${Field}`,
  columns: Readonly<Record<Field, string>>,
): string => {
  const [field, direction] = fieldOf(sort);
  return `${columns[field]}${direction === '' ? ' NULLS FIRST' : ' DESC NULLS LAST'}`;
};

const fieldOf = <Field extends string>(sort: Field | `-${Field}`): [Field, '' | ' DESC'] =>
  sort.startsWith('-') ? [sort.slice(1) as Field, ' DESC'] : [sort as Field, ''];

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

export interface PageQuery<Query extends PageRequest, Context = null> {
  /** Columns of a row, over `from` and `joins`. */
  columns: string;
  /** Tables whose rows are counted, filtered and put in order. */
  from: string;
  /** Columns of `from` that make a row unique. */
  key: readonly string[];
  /** Tables that only columns come from: they are joined to the rows of the page alone, not to those before it. */
  joins?: string;
  /** What always holds. */
  where: string;
  /** Those that `where` mentions. */
  parameters?: Parameters;
  filters: Filters<FilterOf<NoInfer<Query>>, NoInfer<Context>>;
  context?: Context;
  query: Query;
  /** Ends with a unique column, so that pages neither repeat nor skip. Never text of a caller's. */
  order: string;
  /** Where a quicker statement counts the rows of an unfiltered list. */
  total?: (where: string) => string;
  /** Where the page is looked for, if that is not `from`. */
  source?: (where: string) => string;
  /** The first page of the unfiltered list comes again and again: its statement stays prepared. */
  kept?: true;
}

/** One page of a list as the API answers it. */
export interface Page<Row> {
  data: Row[];
  /** Rows on all pages. */
  totalCount: number;
}

/**
 * One page and the exact number of rows on all pages, in one statement. The keys of the page are found first: what is
 * behind them is read for those rows only, not for the ones that `OFFSET` skips.
 */
export async function readPage<Row extends object, Query extends PageRequest, Context = null>(
  sql: Sql,
  list: PageQuery<Query, Context>,
): Promise<Page<Row>> {
  const { columns, from, key, joins = '', filters, query, order, parameters: p = new Parameters() } = list;
  const asked = conditionsOf(p, filters, query, list.context as Context);
  const where = [list.where, ...asked].join(' AND ');
  const isUnfiltered = asked.length === 0;
  const total = (isUnfiltered && list.total?.(where)) || `SELECT count(*) FROM ${from} WHERE ${where}`;
  const named = key.map((column, i) => `${column} AS key${i}`).join(', ');
  const same = key.map((column, i) => `${column} = page.key${i}`).join(' AND ');
  const keys = pageRows(named, list.source?.(where) ?? from, { where, order }, query);
  return pageOf(
    sql,
    `WITH total AS MATERIALIZED (SELECT (${total}) AS n), page AS MATERIALIZED (${keys})
     SELECT total.n AS total, page.key0 IS NOT NULL AS listed, ${columns}
     FROM total LEFT JOIN (${from} JOIN page ON ${same} ${joins}) ON true ORDER BY ${order}`,
    p,
    list.kept && isUnfiltered && query.page === 1 ? 'kept' : undefined,
  );
}

/** The rows of one page as a statement. */
export const pageRows = (
  columns: string,
  from: string,
  { where, order }: { where: string; order: string },
  request: PageRequest,
): string =>
  `SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ${request.pageSize} OFFSET ${offsetOf(request)}`;

/** Runs a statement whose rows carry `total` and `listed`: it answers at least one row, not `listed` where the page is empty. */
export async function pageOf<Row extends object>(
  sql: Sql,
  text: string,
  parameters: Parameters,
  kept?: 'kept',
): Promise<Page<Row>> {
  const rows = await sql.query<Row & { total: number; listed: boolean }>(text, parameters.values, kept);
  const data = rows
    .filter(({ listed }) => listed)
    .map(({ total: _t, listed: _l, ...row }) => row as unknown as Row);
  return { data, totalCount: rows[0]?.total ?? 0 };
}

/** SQL: a timestamp as Unix seconds. */
export const unix = (column: string): string => `floor(extract(epoch FROM ${column}))::int8`;

/** A time of the database as the API tells it: Unix seconds, or null. */
export function seconds(time: Date): number;
export function seconds(time: Date | null): number | null;
export function seconds(time: Date | null): number | null {
  return time === null ? null : Math.floor(time.getTime() / 1000);
}
