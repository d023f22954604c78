/**
 * Counts what a search finds in what many devices say in the same words (prisma/migrations: `search_wording`), by adding
 * up instead of by looking at each device.
 */
import type { Database } from '../kernel/db.ts';
import { anywhere, inScope, type Parameters, type Scope } from '../kernel/list.ts';
import { inPortions } from '../kernel/tally.ts';

/** What identifiers are looked up by: the most ASCII letters in a row that a search has, three at least. */
const lettersOf = (search: string): string | undefined =>
  search.match(/[a-z]{3,}/g)?.reduce((most, each) => (each.length > most.length ? each : most));

/** Whether wordings can tell how often a search is found: they have no digits. */
export const isWorded = (search: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what stands for numbers in a wording
  lettersOf(search) !== undefined && !/[0-9\u0001]/.test(search);

/** How many devices per site have a search that `isWorded` in their searched text, where a further condition on `d.site_id` holds. */
export function countByWording(p: Parameters, search: string, scope: Scope, and: string): string {
  const [like, text] = [`LIKE ${p.add(anywhere(search))}::text`, `${p.add(search)}::text`];
  return `SELECT d.site_id, sum(d.n)::int8 AS n FROM (
      SELECT c.site_id, c.n FROM wordings w JOIN wording_counts c ON c.wording_id = w.id WHERE w.wording ${like}
      UNION ALL SELECT x.site_id, x.n FROM wording_changes x WHERE x.wording ${like}
      UNION ALL SELECT v.site_id, 1 FROM devices v
        WHERE search_identifiers(v.search_text) LIKE ${p.add(anywhere(lettersOf(search) ?? ''))}::text
          -- Not LIKE: the index of all texts is not to be asked. Without digits it is in a first line as in its wording.
          AND strpos(v.search_text, ${text}) > 0 AND strpos(split_part(v.search_text, E'\\n', 1), ${text}) = 0) d
    WHERE ${inScope(p, 'd.site_id', scope)} AND ${and} GROUP BY d.site_id`;
}

/** Changes folded per transaction. */
const FOLD_ROWS = 5_000;

/**
 * Folds what triggers appended since the last call, as tallies are. Wordings are unique because who holds the lock of
 * folding is the only one to insert them. @returns changes folded.
 */
export const foldWordings = (db: Database): Promise<number> =>
  inPortions(db, 'wordings', FOLD_ROWS, async (sql) => {
    const [row] = await sql.query<{ taken: number }>(
      `WITH taken AS (
         DELETE FROM wording_changes WHERE id IN (SELECT id FROM wording_changes ORDER BY id LIMIT ${FOLD_ROWS})
         RETURNING site_id, wording, n
       ), turned AS (
         SELECT site_id, wording, sum(n)::int8 AS n FROM taken GROUP BY 1, 2 HAVING sum(n) <> 0
       ), made AS (
         INSERT INTO wordings (wording) SELECT DISTINCT t.wording FROM turned t
         WHERE NOT EXISTS (SELECT FROM wordings w WHERE w.wording = t.wording) RETURNING id, wording
       ), folded AS (
         INSERT INTO wording_counts (wording_id, site_id, n)
         SELECT coalesce(m.id, w.id), t.site_id, t.n FROM turned t
         LEFT JOIN wordings w ON w.wording = t.wording LEFT JOIN made m ON m.wording = t.wording
         ON CONFLICT (wording_id, site_id) DO UPDATE SET n = wording_counts.n + EXCLUDED.n
       )
       SELECT count(*) AS taken FROM taken`,
    );
    const taken = row?.taken ?? 0;
    if (taken === 0) return 0;
    const gone = await sql.query<{ id: number }>(
      'DELETE FROM wording_counts WHERE n = 0 RETURNING wording_id AS id',
    );
    if (gone.length > 0)
      await sql.query(
        `DELETE FROM wordings w WHERE id = ANY($1::int8[])
           AND NOT EXISTS (SELECT FROM wording_counts c WHERE c.wording_id = w.id)`,
        [gone.map(({ id }) => id)],
      );
    return taken;
  });
