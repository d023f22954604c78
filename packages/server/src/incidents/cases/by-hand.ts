/** Cases by hand: opened, given events, merged, split. */
import type { Database } from '../../platform/db/db.ts';
import { announce } from '../../platform/db/notify.ts';
import { sees } from '../../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import { lockIncidents } from '../conditions/store.ts';
import { type Moving, mergeInto, moveEvents } from './moves.ts';
import { queueNotices } from './outbox.ts';
import { refreshSearch } from './search.ts';
import { writeActivity } from './timeline.ts';
import { titleOf } from './title.ts';
import {
  by,
  type Doing,
  distinct,
  entry,
  insertCase,
  lockCase,
  mustBeOpen,
  onCase,
  siteOfCase,
  userId,
  type Work,
  workIn,
} from './work.ts';

const moving = (work: Work): Moving => ({ ...work, by: by(work) });

export interface NewCase {
  siteId: string;
  title: string;
  description: string;
  severity?: number | undefined;
  priority: number;
  assignee?: string | null | undefined;
  tags: readonly string[];
  eventIds?: readonly string[] | undefined;
}

/** Opens a case by hand. @returns its id. */
export async function createCase(db: Database, draft: NewCase, doing: Doing): Promise<string> {
  const { siteId } = draft;
  const { actor, at } = doing;
  if (!sees(actor, siteId)) throw new Problem('forbidden', 'no access to this site');
  return db.transaction(async (sql) => {
    await lockIncidents(sql, siteId);
    if (!(await sql.prisma.site.findUnique({ where: { id: siteId } }))) throw notFound('site');
    const work = workIn(sql, siteId, doing);
    const made = await insertCase(work, {
      title: draft.title,
      titleByHand: true,
      description: draft.description,
      severity: draft.severity ?? null,
      priority: draft.priority,
      assigneeId: draft.assignee ? await userId(work, draft.assignee) : null,
      tags: distinct(draft.tags),
    });
    const { id } = made;
    await writeActivity(sql, siteId, at, [entry(work, id, 'created', draft.title)]);
    if (draft.eventIds) await moveEvents(moving(work), id, draft.eventIds);
    // A severity given by hand stands until the next of its events comes or closes.
    if (draft.severity)
      await sql.prisma.case.update({ where: { id, siteId }, data: { severity: draft.severity } });
    await refreshSearch(sql, siteId, id);
    await queueNotices(sql, siteId, [{ caseId: id, type: 'case.opened' }], at);
    await announce(sql, siteId, 'case', [id]);
    await work.audited('create', made, { title: draft.title });
    return id;
  });
}

/** Puts events into a case; they leave the one they were in. */
export async function addEvents(
  db: Database,
  id: string,
  eventIds: readonly string[],
  doing: Doing,
): Promise<void> {
  await onCase(db, id, doing, async (work, found) => {
    mustBeOpen(found);
    await moveEvents(moving(work), id, eventIds);
    await work.audited('add-events', found, { events: eventIds.length });
  });
}

/** Merges another case of the same site into this one and closes it. */
export async function mergeCases(db: Database, id: string, otherId: string, doing: Doing): Promise<void> {
  if (id === otherId) throw invalid('caseId', 'must be another case');
  const other = await siteOfCase(db, otherId, doing.actor);
  await onCase(db, id, doing, async (work, found) => {
    if (other !== work.siteId) throw new Problem('conflict', 'cases of two sites cannot be merged');
    mustBeOpen(found);
    const merged = await lockCase(work, otherId);
    mustBeOpen(merged);
    await mergeInto(moving(work), otherId, id);
    await work.audited('merge', found, { merged: `#${merged.number}` });
  });
}

/** Makes a new case of some events of this one. @returns its id. */
export async function splitCase(
  db: Database,
  id: string,
  { eventIds, title }: { eventIds: readonly string[]; title?: string | undefined },
  doing: Doing,
): Promise<string> {
  return onCase(db, id, doing, async (work, found) => {
    mustBeOpen(found);
    const { sql, siteId, at } = work;
    const wanted = [...new Set(eventIds)];
    const own = await sql.query<{ message: string }>(
      `SELECT message FROM events WHERE site_id = $1::uuid AND case_id = $2::uuid AND id = ANY($3::uuid[])
       ORDER BY severity, first_seen, id`,
      [siteId, id, wanted],
    );
    if (own.length < wanted.length)
      throw new Problem('conflict', `not all of these events are in case #${found.number}`);
    const [left] = await sql.query(
      'SELECT 1 FROM events WHERE site_id = $1::uuid AND case_id = $2::uuid AND id <> ALL($3::uuid[]) LIMIT 1',
      [siteId, id, wanted],
    );
    if (!left)
      throw new Problem(
        'conflict',
        `these are all events of case #${found.number}: nothing would be left in it`,
      );
    const made = await insertCase(work, {
      ...found,
      title: title ?? titleOf(own[0]?.message ?? found.title),
      titleByHand: title !== undefined,
      description: '',
    });
    await writeActivity(sql, siteId, at, [
      entry(work, made.id, 'created', `split from case #${found.number}`),
    ]);
    await moveEvents(moving(work), made.id, wanted);
    await refreshSearch(sql, siteId, made.id);
    await queueNotices(sql, siteId, [{ caseId: made.id, type: 'case.opened' }], at);
    await announce(sql, siteId, 'case', [made.id]);
    await work.audited('split', found, { made: `#${made.number}`, events: wanted.length });
    return made.id;
  });
}
