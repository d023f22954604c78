import type { Sql } from '../kernel/db.ts';

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

/** One page of a list and the exact number of rows on all pages, in one statement. */
export async function page<T>(
  sql: Sql,
  { columns, from, where, order, params, page, pageSize }: PageQuery,
): Promise<{ data: T[]; totalCount: number }> {
  const n = params.length;
  const [row] = await sql.query<{ total: number; rows: T[] }>(
    `SELECT (SELECT count(*) FROM ${from} WHERE ${where}) AS total,
       (SELECT coalesce(jsonb_agg(found), '[]') FROM (
          SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT $${n + 1} OFFSET $${n + 2}
        ) found) AS rows`,
    [...params, pageSize, (page - 1) * pageSize],
  );
  return { data: row?.rows ?? [], totalCount: row?.total ?? 0 };
}

/** `name` → `"name" ASC`, `-name` → `"name" DESC`; the columns come from a closed list. */
export const orderOf = <F extends string>(
  sort: F | `-${F}` | undefined,
  columns: Record<F, string>,
  otherwise: F,
): string => {
  const descending = sort?.startsWith('-') ?? false;
  const field = (descending ? sort?.slice(1) : sort) as F | undefined;
  return `${columns[field ?? otherwise]} ${descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`;
};

/** A LIKE pattern for "contains this text", whatever signs it has. */
export const contains = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
