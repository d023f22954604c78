/**
 * Roots that are told, or recognised, late. A case that was opened before is about its root from then on, and other cases that
 * were opened for what that explains go into it. What lies behind a root that was not told yet waits for it in no case.
 */
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Placed } from '../cases/cases.ts';
import { mergeInto } from '../cases/moves.ts';
import { queueNotices } from '../cases/outbox.ts';
import { addSearched } from '../cases/search.ts';
import { type Activity, SYSTEM, writeActivity } from '../cases/timeline.ts';
import { titleOf } from '../cases/title.ts';
import type { Suppression } from '../conditions/condition.ts';
import type { Loaded } from '../conditions/store.ts';
import { idsOf } from '../ids.ts';
import type { Incoming } from './match.ts';

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
  const named = rerooted.map((each) => ({ ...each, title: titleOf(each.title) }));
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
  await announce(sql, siteId, 'case', idsOf(named));
}

/**
 * Events of some conditions that were looked at again, in no case because what explains them was not told yet; with what explains
 * them now. Mostly that is told soon and takes them in; where it came back, or proved to lie behind another one itself, they are
 * placed behind that one.
 */
export async function stillWaiting(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
  suppressions: ReadonlyMap<string, Suppression>,
): Promise<Incoming[]> {
  const waiting = due.flatMap(({ key, live, condition }): Incoming[] => {
    const suppression = suppressions.get(key);
    if (condition.state !== 'suppressed' || condition.eventId === null || !live) return [];
    if (suppression?.by !== 'path') return [];
    return [
      {
        eventId: condition.eventId,
        at: condition.since,
        message: condition.opening.message,
        deviceId: condition.opening.deviceId,
        rootId: suppression.root.id,
        formerCaseId: condition.caseId,
        opens: false,
        down: false,
        interfaceId: null,
        peer: null,
      },
    ];
  });
  if (waiting.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM events WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) AND case_id IS NULL
       AND maintenance_until IS NULL`,
    [siteId, waiting.map(({ eventId }) => eventId)],
  );
  const placeless = new Set(rows.map(({ id }) => id));
  return waiting.filter(({ eventId }) => placeless.has(eventId));
}
