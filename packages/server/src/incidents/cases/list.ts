/** The case list and one case. */

import type { Case, CaseActivity, CaseDetail, CaseQuery } from '@rollcall/shared/api/incidents';
import {
  ACTIVITY_KINDS,
  CASE_ACTIVITY_MOST,
  CASE_EVENTS_MOST,
  type CASE_SORTS,
} from '@rollcall/shared/api/incidents';
import { EventStatus } from '@rollcall/shared/model';
import { isUuid } from '@rollcall/shared/uuid';
import { z } from 'zod';
import {
  anywhere,
  type FilterOf,
  type Filters,
  inScope,
  oneOf,
  orderOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
} from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { EVENT_COLUMNS, EVENT_DEVICE, type EventRow, toEvent } from '../events/list.ts';

type Sort = (typeof CASE_SORTS)[number];
const ORDERS: Record<Sort, readonly string[]> = {
  updatedAt: ['c.updated_at', 'c.id'],
  createdAt: ['c.created_at', 'c.id'],
  number: ['c.number'],
  severity: ['c.severity', 'c.updated_at', 'c.id'],
  priority: ['c.priority', 'c.updated_at', 'c.id'],
  status: ['c.status', 'c.updated_at', 'c.id'],
};

interface CaseRow {
  id: string;
  number: number;
  siteId: string;
  title: string;
  description: string;
  status: number;
  severity: number;
  priority: number;
  assigneeId: string | null;
  assignee: string | null;
  tags: string[];
  eventCount: number;
  openEventCount: number;
  rootDeviceId: string | null;
  createdAt: Date;
  updatedAt: Date;
  resolvedAt: Date | null;
  closedAt: Date | null;
}

/** The columns of a case, over `cases c`. */
const COLUMNS = `c.id, c.number, c.site_id AS "siteId", c.title, c.description, c.status, c.severity, c.priority,
  c.assignee_id AS "assigneeId", (SELECT u.name FROM users u WHERE u.id = c.assignee_id) AS assignee, c.tags,
  (SELECT count(*) FROM events e WHERE e.case_id = c.id) AS "eventCount",
  (SELECT count(*) FROM events e WHERE e.case_id = c.id AND e.status < ${EventStatus.closed}) AS "openEventCount",
  c.root_device_id AS "rootDeviceId", c.created_at AS "createdAt", c.updated_at AS "updatedAt",
  c.resolved_at AS "resolvedAt", c.closed_at AS "closedAt"`;

const toCase = (row: CaseRow): Case => ({
  ...row,
  createdAt: seconds(row.createdAt),
  updatedAt: seconds(row.updatedAt),
  resolvedAt: seconds(row.resolvedAt),
  closedAt: seconds(row.closedAt),
});

/** One page of cases and how many there are on all pages. `me` is the caller's user id. */
export async function listCases(sql: Sql, query: CaseQuery, scope: Scope, me: string): Promise<Page<Case>> {
  const parameters = new Parameters();
  const { data, totalCount }: Page<CaseRow> = await readPage(sql, {
    columns: COLUMNS,
    from: 'cases c',
    key: ['c.site_id', 'c.id'],
    where: inScope(parameters, 'c.site_id', scope),
    parameters,
    filters: FILTERS,
    context: me,
    query,
    order: orderOf(ORDERS, query.sort ?? '-updatedAt'),
    // By several tags the matches are collected first (`OFFSET 0`): PostgreSQL takes tags for independent, so it would
    // look for the few cases that have both in the order of the list, through nearly all of it.
    ...((query.tag?.length ?? 0) > 1 && {
      source: (where: string) => `(SELECT c.* FROM cases c WHERE ${where} OFFSET 0) c`,
    }),
    kept: true,
  });
  return { data: data.map(toCase), totalCount };
}

const FILTERS: Filters<FilterOf<CaseQuery>, string> = {
  status: (p, codes) => oneOf(p, 'c.status', 'int', codes),
  severity: (p, codes) => oneOf(p, 'c.severity', 'int', codes),
  priority: (p, codes) => oneOf(p, 'c.priority', 'int', codes),
  assignee: assigned,
  tag: (p, tags) => (tags.length > 0 ? `lower_all(c.tags) @> lower_all(${p.add(tags)}::text[])` : null),
  q: (p, text) =>
    words(text)
      .map((word) => matches(p, word))
      .join(' AND ') || null,
};

function assigned(p: Parameters, assignee: string, me: string): string {
  if (assignee === 'none') return 'c.assignee_id IS NULL';
  if (assignee === 'me') return `c.assignee_id = ${p.add(me)}::uuid`;
  if (isUuid(assignee)) return `c.assignee_id = ${p.add(assignee)}::uuid`;
  return `c.assignee_id = (SELECT u.id FROM users u WHERE u.name = ${p.add(assignee.toLowerCase())}::text)`;
}

/** Most words of one search. */
const WORDS_MOST = 16;
const words = (q: string): string[] => q.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MOST);

/** `#1042`: a case's number. */
const isNumber = (word: string): boolean => /^#\d{1,9}$/.test(word);

/** A word that must occur somewhere, or a number. */
function matches(p: Parameters, word: string): string {
  if (isNumber(word)) return `c.number = ${p.add(Number(word.slice(1)))}::int`;
  return `c.search_text LIKE ${p.add(anywhere(word))}::text`;
}

interface ActivityRow {
  id: string;
  at: Date;
  actor: string;
  kind: string;
  text: string;
  from: string | null;
  to: string | null;
}
const activityKind = z.enum(ACTIVITY_KINDS).catch('comment');

export const toActivity = (row: ActivityRow): CaseActivity => ({
  ...row,
  at: seconds(row.at),
  kind: activityKind.parse(row.kind),
});

/** One case with its events and activity; null where it does not exist or is not in scope. */
export async function readCase(sql: Sql, id: string, scope: Scope): Promise<CaseDetail | null> {
  const p = new Parameters();
  const [row] = await sql.query<CaseRow>(
    `SELECT ${COLUMNS} FROM cases c WHERE c.id = ${p.add(id)}::uuid AND ${inScope(p, 'c.site_id', scope)}`,
    p.values,
    'kept',
  );
  if (!row) return null;
  const events = await sql.query<EventRow>(
    `SELECT ${EVENT_COLUMNS} FROM events e ${EVENT_DEVICE}
     WHERE e.case_id = $1::uuid AND e.site_id = $2::uuid ORDER BY e.timestamp DESC, e.id DESC LIMIT ${CASE_EVENTS_MOST}`,
    [id, row.siteId],
    'kept',
  );
  const activity = await sql.query<ActivityRow>(
    `SELECT a.id, a.at, a.actor, a.kind, a.text, a."from", a."to" FROM case_activity a
     WHERE a.site_id = $2::uuid AND a.case_id = $1::uuid ORDER BY a.at DESC, a.id DESC LIMIT ${CASE_ACTIVITY_MOST}`,
    [id, row.siteId],
    'kept',
  );
  return { ...toCase(row), events: events.map(toEvent), activity: activity.map(toActivity).reverse() };
}
