/**
 * Roots that are recognised after their case was opened: the case is about them from then on, and other cases that
 * were opened for what they explain go into it.
 */
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Placed } from '../cases/cases.ts';
import { mergeInto } from '../cases/moves.ts';
import { queueNotices } from '../cases/outbox.ts';
import { addSearched } from '../cases/search.ts';
import { type Activity, SYSTEM, writeActivity } from '../cases/timeline.ts';

/** Most characters of a title. */
const TITLE = 200;

/** After the events of this transaction and their cases are stored. */
export async function followRoots(
  sql: Sql,
  siteId: string,
  { rerooted, merged }: Pick<Placed, 'rerooted' | 'merged'>,
  now: number,
  newId: () => string,
): Promise<void> {
  for (const [from, into] of merged) await mergeInto({ sql, siteId, at: now, newId, by: SYSTEM }, from, into);
  if (rerooted.length === 0) return;
  const named = rerooted.map((each) => ({ ...each, title: each.title.slice(0, TITLE) }));
  const rows = await sql.query<{ id: string; before: string; title: string }>(
    `UPDATE cases c SET root_device_id = r."rootDeviceId", updated_at = $2::timestamptz,
       title = CASE WHEN b.title_by_hand THEN b.title ELSE r.title END
     FROM jsonb_to_recordset($3::jsonb) AS r(id uuid, "rootDeviceId" uuid, title text), cases b
     WHERE c.site_id = $1::uuid AND c.id = r.id AND b.site_id = c.site_id AND b.id = c.id
     RETURNING c.id, b.title AS before, c.title`,
    [siteId, new Date(now), JSON.stringify(named)],
  );
  const titles = new Map(rows.map((row) => [row.id, row]));
  const entries = named.map(({ id, title }): Activity => {
    const { before = '', title: after = before } = titles.get(id) ?? {};
    return {
      ...SYSTEM,
      id: newId(),
      caseId: id,
      kind: 'comment',
      text: `recognised the root: ${title}`,
      from: before === after ? null : before,
      to: before === after ? null : after,
    };
  });
  await writeActivity(sql, siteId, now, entries);
  await addSearched(
    sql,
    siteId,
    named.map(({ id, title }) => ({ id, text: title })),
  );
  await queueNotices(
    sql,
    siteId,
    named.map(({ id }) => ({ caseId: id, type: 'case.changed' })),
    now,
  );
  await announce(
    sql,
    siteId,
    'case',
    named.map(({ id }) => id),
  );
}
