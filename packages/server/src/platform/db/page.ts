import type { Sql } from './sql.ts';

export interface PageQuery {
  /** Columns named and shaped as the API shows them. */
  columns: string;
  from: string;
  where: string;
  /** Ends with a unique column, so that pages neither repeat nor skip. Never text of a caller's. */
  order: string;
  params: readonly unknown[];
  page: number;
  pageSize: number;
}

/** One page of a small list and the exact number of rows on all pages, in one statement. */
export async function page<Row>(sql: Sql, query: PageQuery): Promise<{ data: Row[]; totalCount: number }> {
  const { columns, from, where, order, params } = query;
  const n = params.length;
  const [row] = await sql.query<{ total: number; rows: Row[] }>(
    `SELECT (SELECT count(*) FROM ${from} WHERE ${where}) AS total,
       (SELECT coalesce(jsonb_agg(found), '[]') FROM (
          SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT $${n + 1} OFFSET $${n + 2}
        ) found) AS rows`,
    [...params, query.pageSize, (query.page - 1) * query.pageSize],
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
