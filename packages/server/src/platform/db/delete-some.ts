/**
 * The statement that deletes some rows of a table, each of which it returns: `where` speaks of `t`. A row is named by its part
 * and its place, because a place alone is one in every part of a table that is partitioned by site.
 */
export const deleteSome = (table: string, where: string, most: number): string =>
  `DELETE FROM ${table} d USING (SELECT t.tableoid AS part, t.ctid AS place FROM ${table} t WHERE ${where} LIMIT ${most}) o
   WHERE d.ctid = o.place AND d.tableoid = o.part RETURNING 1`;
