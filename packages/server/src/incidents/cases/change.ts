/** What operators change about a case. */

import type { CaseActivity } from '@rollcall/shared/api/incidents';
import type { NoticeType } from '@rollcall/shared/api/notices';
import { CaseStatus } from '@rollcall/shared/model';
import type { Database, Transaction } from '../../platform/db/db.ts';
import { patched } from '../../platform/http/patch.ts';
import { caseStatusName, moveCase } from '../transitions.ts';
import { queueNotices } from './outbox.ts';
import { refreshSearch } from './search.ts';
import { type Activity, writeActivity } from './timeline.ts';
import {
  type Doing,
  distinct,
  entry,
  mustBeOpen,
  onCase,
  type StoredCase,
  userId,
  type Work,
} from './work.ts';

export interface CasePatch {
  title?: string | undefined;
  description?: string | undefined;
  status?: number | undefined;
  severity?: number | undefined;
  priority?: number | undefined;
  assignee?: string | null | undefined;
  tags?: readonly string[] | undefined;
}

/** Applies a patch; what is given as it is already changes nothing. */
export const patchCase = (db: Database, id: string, patch: CasePatch, doing: Doing): Promise<void> =>
  onCase(db, id, doing, async (work, found) => {
    mustBeOpen(found);
    await apply(work, found, patch);
  });

/** An open case is investigated from now on, and `also` is done with it; any other stays as it is. */
export const acknowledgeCase = (
  db: Database,
  id: string,
  doing: Doing,
  also: (sql: Transaction) => Promise<void>,
): Promise<void> =>
  onCase(db, id, doing, async (work, found) => {
    if (found.status !== CaseStatus.open) return;
    await apply(work, found, { status: CaseStatus.investigating });
    await also(work.sql);
  });

async function apply(work: Work, found: StoredCase, patch: CasePatch): Promise<void> {
  const { id } = found;
  const next = await afterPatch(work, found, patch);
  const entries = differences(work, found, next, await userNames(work, [found.assigneeId, next.assigneeId]));
  if (entries.length === 0) return;
  const { sql, siteId, at } = work;
  const moved = next.status !== found.status;
  const { id: _id, number: _number, ...members } = next;
  await sql.prisma.case.update({
    where: { id, siteId },
    data: { ...members, updatedAt: new Date(at), ...(moved && movedTo(next.status, new Date(at))) },
  });
  await writeActivity(sql, siteId, at, entries);
  await queueNotices(sql, siteId, [{ caseId: id, type: noticeOf(found.status, next.status) }], at);
  await refreshSearch(sql, siteId, id);
}

/** What else is stored of a case whose status was set by hand; a case keeps the time at which it was resolved when it closes. */
const movedTo = (status: number, at: Date) => ({
  manualStatus: true,
  ...(status < CaseStatus.resolved && { resolvedAt: null }),
  ...(status === CaseStatus.resolved && { resolvedAt: at }),
  ...(status === CaseStatus.closed && { closedAt: at }),
});

/** The notice of a change by hand. A case that is closed without having been resolved is over as well. */
function noticeOf(from: number, to: number): NoticeType {
  if (from < CaseStatus.resolved && to >= CaseStatus.resolved) return 'case.resolved';
  return from === CaseStatus.resolved && to < CaseStatus.resolved ? 'case.reopened' : 'case.changed';
}

async function afterPatch(work: Work, found: StoredCase, patch: CasePatch): Promise<StoredCase> {
  const { assignee, tags, ...plain } = patch;
  const next = patched<StoredCase>(found, plain);
  next.titleByHand ||= next.title !== found.title;
  if (assignee !== undefined) next.assigneeId = assignee === null ? null : await userId(work, assignee);
  if (tags !== undefined) next.tags = distinct(tags);
  if (next.status !== found.status) moveCase(found.status, next.status);
  return next;
}

async function userNames({ sql }: Work, ids: readonly (string | null)[]): Promise<Map<string, string>> {
  const rows = await sql.prisma.user.findMany({
    where: { id: { in: ids.filter((each) => each !== null) } },
    select: { id: true, name: true },
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** One line for each difference. */
function differences(
  work: Work,
  a: StoredCase,
  b: StoredCase,
  users: ReadonlyMap<string, string>,
): Activity[] {
  const name = (id: string | null) => (id === null ? null : (users.get(id) ?? id));
  const line = (kind: Activity['kind'], text: string, from: string | null, to: string | null) =>
    entry(work, a.id, kind, text, from, to);
  const lower = (tags: readonly string[]) => new Set(tags.map((tag) => tag.toLowerCase()));
  const added = b.tags.filter((tag) => !lower(a.tags).has(tag.toLowerCase()));
  const removed = a.tags.filter((tag) => !lower(b.tags).has(tag.toLowerCase()));
  return [
    ...(a.status !== b.status
      ? [line('status', '', caseStatusName(a.status), caseStatusName(b.status))]
      : []),
    ...(a.assigneeId !== b.assigneeId ? [line('assigned', '', name(a.assigneeId), name(b.assigneeId))] : []),
    ...(a.priority !== b.priority ? [line('priority', '', String(a.priority), String(b.priority))] : []),
    ...(added.length + removed.length > 0
      ? [line('tag', '', removed.join(', ') || null, added.join(', ') || null)]
      : []),
    ...(a.severity !== b.severity
      ? [line('comment', 'changed the severity', String(a.severity), String(b.severity))]
      : []),
    ...(a.title !== b.title ? [line('comment', 'changed the title', a.title, b.title)] : []),
    ...(a.description !== b.description ? [line('comment', 'changed the description', null, null)] : []),
  ];
}

/** Adds a comment; closed cases take them too. */
export async function commentCase(
  db: Database,
  id: string,
  text: string,
  doing: Doing,
): Promise<CaseActivity> {
  return onCase(db, id, doing, async (work) => {
    const written = entry(work, id, 'comment', text);
    await writeActivity(work.sql, work.siteId, work.at, [written]);
    await work.sql.prisma.case.update({
      where: { id, siteId: work.siteId },
      data: { updatedAt: new Date(work.at) },
    });
    await queueNotices(work.sql, work.siteId, [{ caseId: id, type: 'case.changed' }], work.at);
    await refreshSearch(work.sql, work.siteId, id);
    const { caseId: _c, actorId: _a, ...shown } = written;
    return { ...shown, at: Math.floor(work.at / 1000) };
  });
}
