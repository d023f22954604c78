/** What operators change about a case. */

import type { CaseActivity } from '@rollcall/shared/api/incidents';
import type { NoticeType } from '@rollcall/shared/api/notices';
import { CaseStatus } from '@rollcall/shared/model';
import type { Database } from '../../platform/db/db.ts';
import { patched } from '../../platform/http/patch.ts';
import { acknowledgeEvents } from '../events/work.ts';
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

/** Applies a patch. What is given as it is already changes nothing, but *investigating* acknowledges what is open now. */
export const patchCase = (db: Database, id: string, patch: CasePatch, doing: Doing): Promise<void> =>
  onCase(db, id, doing, async (work, found) => {
    mustBeOpen(found);
    await apply(work, found, patch);
  });

/** A case is investigated from now on, unless it is over. `detail`: what else the audit log says of it. */
export const acknowledgeCase = (db: Database, id: string, doing: Doing, detail: object): Promise<void> =>
  onCase(db, id, doing, async (work, found) => {
    if (found.status < CaseStatus.resolved)
      await apply(work, found, { status: CaseStatus.investigating }, detail);
  });

async function apply(work: Work, found: StoredCase, patch: CasePatch, detail?: object): Promise<void> {
  const { id } = found;
  const { sql, siteId, actor, at } = work;
  const next = await afterPatch(work, found, patch);
  const moved = next.status !== found.status;
  // Who works on a case looks after what is wrong in it; what comes to it later is new.
  const acknowledged =
    patch.status === CaseStatus.investigating
      ? await acknowledgeEvents(sql, siteId, { caseId: id, by: actor.name, at })
      : 0;
  const users = await userNames(work, [found.assigneeId, next.assigneeId]);
  const entries = differences(work, found, next, { users, acknowledged });
  if (entries.length === 0) return;
  const { id: _id, number: _number, ...members } = next;
  await sql.prisma.case.update({
    where: { id, siteId },
    data: {
      ...members,
      updatedAt: new Date(at),
      ...((moved || acknowledged > 0) && movedTo(next.status, new Date(at))),
    },
  });
  await writeActivity(sql, siteId, at, entries);
  await queueNotices(sql, siteId, [{ caseId: id, type: noticeOf(found.status, next.status) }], at);
  await refreshSearch(sql, siteId, id);
  await work.audited(verbOf(found, next, acknowledged), found, {
    ...{ ...detail, ...sidesOf(found, next, users) },
    ...(acknowledged > 0 && { acknowledged }),
  });
}

/** By its verb a change is found in the audit log: the status first, which people look for. */
function verbOf(a: StoredCase, b: StoredCase, acknowledged: number): string {
  if (a.status === b.status && acknowledged > 0) return 'acknowledge';
  if (a.status === b.status) return a.assigneeId === b.assigneeId ? 'update' : 'assign';
  if (b.status === CaseStatus.closed) return 'close';
  if (b.status === CaseStatus.resolved) return 'resolve';
  return a.status === CaseStatus.open ? 'acknowledge' : 'reopen';
}

/** Both sides of what was changed, for the audit log; of a description, which is long, none. */
function sidesOf(a: StoredCase, b: StoredCase, users: ReadonlyMap<string, string>) {
  const told = ({ title, status, severity, priority, assigneeId, tags }: StoredCase) =>
    Object.entries({
      ...{ title, severity, priority, status: caseStatusName(status), tags: tags.join(', ') },
      assignee: assigneeId === null ? null : (users.get(assigneeId) ?? assigneeId),
    });
  const differing = (one: StoredCase, other: StoredCase) => {
    const values = new Map<string, unknown>(told(other));
    return Object.fromEntries(told(one).filter(([name, value]) => values.get(name) !== value));
  };
  return { before: differing(a, b), after: differing(b, a) };
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
  { users, acknowledged }: { users: ReadonlyMap<string, string>; acknowledged: number },
): Activity[] {
  const events = `${acknowledged} open ${acknowledged === 1 ? 'event' : 'events'} acknowledged`;
  const name = (id: string | null) => (id === null ? null : (users.get(id) ?? id));
  const line = (kind: Activity['kind'], text: string, from: string | null, to: string | null) =>
    entry(work, a.id, kind, text, from, to);
  const lower = (tags: readonly string[]) => new Set(tags.map((tag) => tag.toLowerCase()));
  const added = b.tags.filter((tag) => !lower(a.tags).has(tag.toLowerCase()));
  const removed = a.tags.filter((tag) => !lower(b.tags).has(tag.toLowerCase()));
  return [
    ...(a.status !== b.status
      ? [line('status', acknowledged > 0 ? events : '', caseStatusName(a.status), caseStatusName(b.status))]
      : acknowledged > 0
        ? [line('comment', events, null, null)]
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
  return onCase(db, id, doing, async (work, found) => {
    const written = entry(work, id, 'comment', text);
    await writeActivity(work.sql, work.siteId, work.at, [written]);
    await work.sql.prisma.case.update({
      where: { id, siteId: work.siteId },
      data: { updatedAt: new Date(work.at) },
    });
    await queueNotices(work.sql, work.siteId, [{ caseId: id, type: 'case.changed' }], work.at);
    await refreshSearch(work.sql, work.siteId, id);
    await work.audited('comment', found);
    const { caseId: _c, actorId: _a, ...shown } = written;
    return { ...shown, at: Math.floor(work.at / 1000) };
  });
}
