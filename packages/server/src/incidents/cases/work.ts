/**
 * The tools of people's work on cases: one transaction each, under the site's lock, with a line in its timeline for each
 * thing that changed.
 */
import { CaseStatus } from '@rollcall/shared/model';
import { isUuid } from '@rollcall/shared/uuid';
import type { Database, Transaction } from '../../platform/db/db.ts';
import { announce } from '../../platform/db/notify.ts';
import { type Actor, sees } from '../../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import type { Audit } from '../../ports.ts';
import { lockIncidents } from '../conditions/store.ts';
import { ascendingIds } from '../ids.ts';
import type { Activity } from './timeline.ts';

/** One piece of work: who does it, when, and the tools of its transaction. */
export interface Work {
  sql: Transaction;
  siteId: string;
  actor: Worker;
  at: number;
  newId: () => string;
  /** Writes what was done into the audit log. */
  audited: (verb: string, one: Pick<StoredCase, 'id' | 'number'>, detail?: object) => Promise<void>;
}
/** A person, or anyone who has a link. */
export type Worker = Pick<Actor, 'name' | 'sites'> & { userId: string | null };
export interface Doing {
  actor: Worker;
  at: number;
  /** Address of the caller. */
  address: string;
  audit: Audit;
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
): Activity => ({ ...by(work), id: work.newId(), caseId, kind, text, from, to });

/** @throws Problem `not_found` where the case does not exist or the caller does not see its site. */
export async function siteOfCase({ prisma }: Database, id: string, actor: Worker): Promise<string> {
  const found = await prisma.case.findUnique({ where: { id }, select: { siteId: true } });
  if (!found || !sees(actor, found.siteId)) throw notFound('case');
  return found.siteId;
}

export const workIn = (sql: Transaction, siteId: string, { actor, at, address, audit }: Doing): Work => ({
  ...{ sql, siteId, actor, at, newId: ascendingIds(at) },
  audited: (verb, { id, number }, detail) =>
    audit(sql, {
      ...{ actor, address, siteId, action: `case.${verb}`, subject: `case #${number}` },
      detail: { id, ...detail },
    }),
});

/** Runs work on a case the caller sees, with the site locked; tells live streams. */
export async function onCase<T>(
  db: Database,
  id: string,
  doing: Doing,
  work: (work: Work, found: StoredCase) => Promise<T>,
): Promise<T> {
  const siteId = await siteOfCase(db, id, doing.actor);
  return db.transaction(async (sql) => {
    await lockIncidents(sql, siteId);
    const each = workIn(sql, siteId, doing);
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
): Promise<Pick<StoredCase, 'id' | 'number'>> {
  return sql.prisma.case.create({
    select: { id: true, number: true },
    data: {
      siteId,
      id: newId(),
      title: draft.title,
      titleByHand: draft.titleByHand,
      description: draft.description,
      severity: draft.severity ?? SEVERITY_DEFAULT,
      priority: draft.priority,
      assigneeId: draft.assigneeId,
      tags: draft.tags,
      createdAt: new Date(at),
      updatedAt: new Date(at),
    },
  });
}

/** Tags without repeats; two that differ in case are one. */
export const distinct = (tags: readonly string[]): string[] => [
  ...new Map(tags.map((tag) => [tag.toLowerCase(), tag])).values(),
];

/** A person who may work this site's cases: by id or name, or `me`. */
export async function userId({ sql, siteId, actor }: Work, assignee: string): Promise<string> {
  if (assignee === 'me' && actor.userId !== null) return actor.userId;
  const user = await sql.prisma.user.findUnique({
    where: isUuid(assignee) ? { id: assignee } : { name: assignee.toLowerCase() },
    select: { id: true, allSites: true, disabledAt: true, sites: { where: { siteId } } },
  });
  if (!user || user.disabledAt !== null || !(user.allSites || user.sites.length > 0))
    throw invalid('assignee', 'must be a user with access to this site');
  return user.id;
}
