/** What the search of cases looks through. */
import type { Sql } from '../../platform/db/sql.ts';

/** Most characters of one case. */
const CHARACTERS = 100_000;

/** Adds words to a case, where they are not there yet. */
export async function addSearched(
  sql: Sql,
  siteId: string,
  texts: readonly { id: string; text: string }[],
): Promise<void> {
  if (texts.length === 0) return;
  const distinct = new Map(texts.map(({ id, text }) => [`${id} ${text}`, { id, text: text.toLowerCase() }]));
  const rows = [...distinct.values()];
  await sql.query(
    `UPDATE cases c SET search_text = left(c.search_text || E'\\n' || r.text, ${CHARACTERS})
     FROM (SELECT x.id, string_agg(x.text, E'\\n') AS text
       FROM jsonb_to_recordset($2::jsonb) AS x(id uuid, text text)
       JOIN cases k ON k.site_id = $1::uuid AND k.id = x.id AND strpos(k.search_text, x.text) = 0
       GROUP BY x.id) r
     WHERE c.site_id = $1::uuid AND c.id = r.id`,
    [siteId, JSON.stringify(rows)],
  );
}

/** Puts a case's searched text together anew: title, description, tags, comments, names of its devices. */
export async function refreshSearch(sql: Sql, siteId: string, id: string): Promise<void> {
  const [row] = await sql.query<{
    title: string;
    description: string;
    tags: string[];
    comments: string[];
    devices: string[];
  }>(
    `SELECT c.title, c.description, c.tags,
       (SELECT coalesce(array_agg(a.text ORDER BY a.at DESC), '{}') FROM case_activity a
         WHERE a.site_id = c.site_id AND a.case_id = c.id AND a.kind = 'comment') AS comments,
       (SELECT coalesce(array_agg(DISTINCT d.name), '{}') FROM events e
         JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id WHERE e.case_id = c.id) AS devices
     FROM cases c WHERE c.site_id = $1::uuid AND c.id = $2::uuid`,
    [siteId, id],
  );
  if (!row) return;
  // Device names before comments: they are what a cut must not lose.
  const text = [row.title, row.description, ...row.tags, ...row.devices, ...row.comments]
    .join('\n')
    .toLowerCase();
  await sql.query('UPDATE cases SET search_text = $3 WHERE site_id = $1::uuid AND id = $2::uuid', [
    siteId,
    id,
    text.slice(0, CHARACTERS),
  ]);
}
