/**
 * The tools of people's work on cases: one transaction each, under the site's lock, with a line in its timeline for each
 * thing that changed.
 */
import { CaseStatus } from '@rollcall/shared/model';
import { isUuid } from '@rollcall/shared/uuid';
import type { Database } from '../../platform/db/db.ts';
import { inScope, Parameters, type Scope, scopeOf } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Actor } from '../../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import { lockIncidents } from '../conditions/store.ts';
import { ascendingIds } from '../ids.ts';
import type { Activity } from './timeline.ts';

/** One piece of work: who does it, when, and the tools of its transaction. */
export interface Work {
  sql: Sql;
  siteId: string;
  actor: Actor;
  at: number;
  newId: () => string;
}
export interface Doing {
  actor: Actor;
  at: number;
}

export interface StoredCase {
  id: string;
  number: number;
  title: string;
  /** A person wrote the title: it is not refreshed. */
  titleByHand: boolean;
  description: string;
  status: number;
  severity: number;
  priority: number;
  assigneeId: string | null;
  tags: string[];
}

export const by = ({ actor }: Work) => ({ actor: actor.name, actorId: actor.userId });
export const entry = (
  work: Work,
  caseId: string,
  kind: Activity['kind'],
  text: string,
  from: string | null = null,
  to: string | null = null,
): Activity => ({
  ...by(work),
  id: work.newId(),
  caseId,
  kind,
  text,
  from,
  to,
});

/** @throws Problem `not_found` where the case does not exist or is not in scope. */
export async function siteOfCase(sql: Sql, id: string, scope: Scope): Promise<string> {
  const p = new Parameters();
  const [row] = await sql.query<{ siteId: string }>(
    `SELECT c.site_id AS "siteId" FROM cases c WHERE c.id = ${p.add(id)}::uuid AND ${inScope(p, 'c.site_id', scope)}`,
    p.values,
  );
  if (!row) throw notFound('case');
  return row.siteId;
}

/** Runs work on a case the caller sees, with the site locked; tells live streams. */
export async function onCase<T>(
  db: Database,
  id: string,
  { actor, at }: Doing,
  work: (work: Work, found: StoredCase) => Promise<T>,
): Promise<T> {
  const siteId = await siteOfCase(db, id, scopeOf(actor));
  return db.transaction(async (sql) => {
    await lockIncidents(sql, siteId);
    const each: Work = { sql, siteId, actor, at, newId: ascendingIds(at) };
    const done = await work(each, await lockCase(each, id));
    await announce(sql, siteId, 'case', [id]);
    return done;
  });
}

export async function lockCase({ sql, siteId }: Work, id: string): Promise<StoredCase> {
  const [row] = await sql.query<StoredCase>(
    `SELECT id, number, title, title_by_hand AS "titleByHand", description, status, severity, priority,
       assignee_id AS "assigneeId", tags
     FROM cases WHERE site_id = $1::uuid AND id = $2::uuid FOR UPDATE`,
    [siteId, id],
  );
  if (!row) throw notFound('case');
  return row;
}

export const mustBeOpen = (found: StoredCase): void => {
  if (found.status === CaseStatus.closed) throw new Problem('conflict', `case #${found.number} is closed`);
};

/** Severity of a case that neither a person nor an event gave one. */
const SEVERITY_DEFAULT = 4;

export async function insertCase(
  { sql, siteId, at, newId }: Work,
  draft: Omit<StoredCase, 'id' | 'number' | 'status' | 'severity'> & { severity: number | null },
): Promise<string> {
  const id = newId();
  await sql.query(
    `INSERT INTO cases (site_id, id, title, title_by_hand, description, severity, priority, assignee_id, tags, created_at,
       updated_at)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8::uuid, $9::text[], $10::timestamptz, $10::timestamptz)`,
    [
      siteId,
      id,
      draft.title,
      draft.titleByHand,
      draft.description,
      draft.severity ?? SEVERITY_DEFAULT,
      draft.priority,
      draft.assigneeId,
      draft.tags,
      new Date(at),
    ],
  );
  return id;
}

/** Tags without repeats; two that differ in case are one. */
export const distinct = (tags: readonly string[]): string[] => [
  ...new Map(tags.map((tag) => [tag.toLowerCase(), tag])).values(),
];

/** A person who may work this site's cases: by id or name, or `me`. */
export async function userId({ sql, siteId, actor }: Work, assignee: string): Promise<string> {
  if (assignee === 'me') return actor.userId;
  const [user] = await sql.query<{ id: string }>(
    `SELECT u.id FROM users u WHERE ${isUuid(assignee) ? 'u.id = $1::uuid' : 'u.name = lower($1)'} AND u.disabled_at IS NULL
       AND (u.all_sites OR EXISTS (SELECT 1 FROM user_sites s WHERE s.user_id = u.id AND s.site_id = $2::uuid))`,
    [assignee, siteId],
  );
  if (!user) throw invalid('assignee', 'must be a user with access to this site');
  return user.id;
}
