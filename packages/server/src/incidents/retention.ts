/**
 * Events and cases that are over, deleted by age. What is open stays however old it is, and so does every event of a
 * case that is not over: resolved or closed, and left alone for as long.
 */
import type { Clock } from '@rollcall/shared/clock';
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import type { Database } from '../platform/db/db.ts';
import { tryLock } from '../platform/db/lock.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Logger } from '../platform/ops/log.ts';
import type { Audit } from '../ports.ts';
import { forgetHistories } from './availability/forget.ts';

export interface Deleted {
  events: number;
  cases: number;
}

/** A place in the order of time; what lies before it was looked at in this pass. */
interface Place {
  at: Date | string;
  id: string;
}

interface Step extends Place {
  looked: number;
  gone: number;
}

const DAY_MS = 86_400_000;
/** Rows looked at per transaction: a bound for its locks, and for the walk over what has to stay. */
const EVENTS = 5_000;
/** Each takes its timeline with it. */
const CASES = 500;
/** Transactions per table and round; the rest comes with the next. */
const BATCHES = 100;
const START: Place = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

const isOver = (c: string) => `${c}.status >= ${CaseStatus.resolved} AND ${c}.updated_at < $1::timestamptz`;
/** Where the walk ended, and how many rows of it are gone; no row where there was nothing to walk over. */
const STEP = `SELECT w."at", w.id, (SELECT count(*) FROM walked)::int AS looked, (SELECT count(*) FROM gone)::int AS gone
  FROM walked w ORDER BY w."at" DESC, w.id DESC LIMIT 1`;

// Walked in an index, from where the last batch ended: what has to stay is passed over once, not with every batch.
const EVENTS_STEP = `
  WITH walked AS MATERIALIZED (
    SELECT e.site_id, e.id, e.timestamp AS "at", e.case_id, e.closed_at FROM events e
    WHERE (e.timestamp, e.id) > ($2::timestamptz, $3::uuid) AND e.timestamp < $1::timestamptz
      AND e.status = ${EventStatus.closed}
    ORDER BY e.timestamp, e.id LIMIT ${EVENTS}
  ), gone AS (
    DELETE FROM events e USING walked w LEFT JOIN cases c ON c.site_id = w.site_id AND c.id = w.case_id
    WHERE e.site_id = w.site_id AND e.id = w.id AND w.closed_at < $1::timestamptz AND (c.id IS NULL OR ${isOver('c')})
    RETURNING 1
  )
  ${STEP}`;

// A case goes after its last event: no event ever names one that is not there.
const CASES_STEP = `
  WITH walked AS MATERIALIZED (
    SELECT c.site_id, c.id, c.updated_at AS "at" FROM cases c
    WHERE (c.updated_at, c.id) > ($2::timestamptz, $3::uuid) AND ${isOver('c')}
    ORDER BY c.updated_at, c.id LIMIT ${CASES}
  ), gone AS (
    DELETE FROM cases c USING walked w
    WHERE c.site_id = w.site_id AND c.id = w.id AND ${isOver('c')}
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.case_id = w.id)
    RETURNING c.site_id, c.id
  ), timeline AS (
    DELETE FROM case_activity a USING gone g WHERE a.site_id = g.site_id AND a.case_id = g.id
  )
  ${STEP}`;

interface Walk {
  readonly statement: string;
  /** Rows it looks at, at most. */
  readonly most: number;
  from: Place;
}

/** Undefined where there is nothing to look at, or another instance is at it. */
async function step(sql: Sql, { statement, from }: Walk, before: Date): Promise<Step | undefined> {
  if (!(await tryLock(sql, 'forgetting'))) return undefined;
  const [done] = await sql.query<Step>(statement, [before, from.at, from.id]);
  return done;
}

interface Deps {
  db: Database;
  clock: Pick<Clock, 'now'>;
  log: Pick<Logger, 'info'>;
  /** Writes down what was done. */
  audit: Audit;
}

/**
 * A round that deletes what has been over for so many days (0: nothing); call it every hour, by any number of instances.
 * It goes on where the last round ended, so that what has to stay keeps nothing else from being reached.
 */
export function createRetention({ db, clock, log, audit }: Deps): (days: number) => Promise<Deleted> {
  const walks: Record<keyof Deleted, Walk> = {
    events: { statement: EVENTS_STEP, most: EVENTS, from: START },
    cases: { statement: CASES_STEP, most: CASES, from: START },
  };
  const tell = async (deleted: Deleted, days: number, before: Date) => {
    if (deleted.events + deleted.cases === 0) return;
    const detail = { ...deleted, before: before.toISOString() };
    log.info(detail, 'deleted events and cases that were over for too long');
    const subject = `events and cases over for ${days} days`;
    await audit(db, { actor: { name: 'system' }, action: 'incidents.forget', subject, detail });
  };
  return async (days) => {
    const deleted: Deleted = { events: 0, cases: 0 };
    if (days === 0) return deleted;
    const before = new Date(clock.now() - days * DAY_MS);
    await forgetHistories(db, before);
    try {
      for (const table of ['events', 'cases'] as const) {
        const walk = walks[table];
        for (let batch = 0; batch < BATCHES; batch++) {
          const done = await db.transaction((sql) => step(sql, walk, before));
          deleted[table] += done?.gone ?? 0;
          const more = done !== undefined && done.looked === walk.most;
          walk.from = more ? { at: done.at, id: done.id } : START;
          if (!more) break;
        }
      }
    } finally {
      // What is gone is told of, even where a later batch failed.
      await tell(deleted, days, before);
    }
    return deleted;
  };
}
