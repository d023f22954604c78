import { conditionsOf, type FilterOf, type Filters, offsetOf, type PageRequest, Parameters } from './list.ts';
import type { Sql } from './sql.ts';

export interface PageQuery<Query extends PageRequest> {
  /** Columns named and shaped as the API shows them. */
  columns: string;
  from: string;
  /** What always holds, with its parameters. */
  where: string;
  params: readonly unknown[];
  filters: Filters<FilterOf<NoInfer<Query>>, null>;
  query: Query;
  /** Ends with a unique column, so that pages neither repeat nor skip. Never text of a caller's. */
  order: string;
}

/** One page of a small list and the exact number of rows on all pages, in one statement. */
export async function page<Row, Query extends PageRequest>(
  sql: Sql,
  { columns, from, where, params, filters, query, order }: PageQuery<Query>,
): Promise<{ data: Row[]; totalCount: number }> {
  const p = new Parameters(params);
  const all = [where, ...conditionsOf(p, filters, query, null)].join(' AND ');
  const [row] = await sql.query<{ total: number; rows: Row[] }>(
    `SELECT (SELECT count(*) FROM ${from} WHERE ${all}) AS total,
       (SELECT coalesce(jsonb_agg(found), '[]') FROM (
          SELECT ${columns} FROM ${from} WHERE ${all} ORDER BY ${order}
          LIMIT ${query.pageSize} OFFSET ${offsetOf(query)}
        ) found) AS rows`,
    p.values,
  );
  return { data: row?.rows ?? [], totalCount: row?.total ?? 0 };
}

/** `name` → `"name" ASC`, `-name` → `"name" DESC`; the columns come from a closed list. */
export const orderBy = <Field extends string>(
  sort: Field | `-${Field}`,
  columns: Readonly<Record<Field, string>>,
): string => {
  const descending = sort.startsWith('-');
  const field = (descending ? sort.slice(1) : sort) as Field;
  return `${columns[field]} ${descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`;
};

/** SQL: a timestamp as Unix seconds. */
export const unix = (column: string): string => `floor(extract(epoch FROM ${column}))::int8`;
