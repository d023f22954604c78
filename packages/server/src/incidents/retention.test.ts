import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../accounts/accounts.ts';
import type { Database } from '../platform/db/db.ts';
import { holdLock, type Job } from '../platform/db/lock.ts';
import { compactTallies } from '../platform/db/tally.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addSite, asCaller, caller, insert } from '../testing/rows.ts';
import { incidentHandlers } from './handlers.ts';
import { createRetention } from './retention.ts';

afterAll(closeDatabases);

const DAYS = 365;
const clock = new ManualClock(Date.parse('2026-11-20T12:00:00Z'));
const ago = (days: number) => new Date(clock.now() - days * 86_400_000).toISOString();
const [live, closed] = [0, 2];
const [investigating, resolved, done] = [1, 2, 3];

describe.each(databases())('forgetting events and cases on %s', (name, open) => {
  let db: Database;
  let site: string;
  let told: object[];
  const ids = new Map<string, string>();
  beforeEach(async () => {
    db ??= await open();
    await db.query('TRUNCATE events, event_charts, cases, case_activity, audit');
    site = await addSite(db, uuidv7());
    told = [];
    ids.clear();
  });
  const retention = () =>
    createRetention({ db, clock, audit, log: { info: (what: unknown) => void told.push(what as object) } });

  const event = async (name: string, days: number, status: number, more: Record<string, unknown> = {}) => {
    ids.set(name, uuidv7());
    const row = {
      ...{ site_id: site, id: ids.get(name), kind: 'trap', source: 'trap', severity: 3, status, details: {} },
      ...{ message: name, dedup_key: name, count: 1, first_seen: ago(days), timestamp: ago(days) },
      ...{ closed_at: status === closed ? ago(days) : null },
    };
    await insert(db, 'events', [{ ...row, ...more }]);
  };
  const newCase = async (title: string, days: number, status: number): Promise<string> => {
    const id = uuidv7();
    await insert(db, 'cases', [
      {
        ...{ site_id: site, id, title, status, severity: 3, priority: 3, tags: [], manual_status: false },
        ...{
          number: ids.size + 1,
          told: true,
          search_text: '',
          created_at: ago(days),
          updated_at: ago(days),
        },
      },
    ]);
    ids.set(title, id);
    await insert(db, 'case_activity', [
      { site_id: site, id: uuidv7(), case_id: id, at: ago(days), actor: 'a', kind: 'comment', text: title },
    ]);
    return id;
  };
  const words = async (of: 'events.list' | 'cases.list') => {
    const key = of === 'events.list' ? 'message' : 'title';
    const { data, totalCount } = await asCaller(
      incidentHandlers({ db, clock, audit: async () => undefined }),
      caller(),
    )(of, { query: {} });
    expect(totalCount).toBe(data.length);
    return (data as unknown as Record<string, string>[]).map((row) => row[key]).sort();
  };
  const diaries = async () =>
    (await db.query<{ text: string }>('SELECT text FROM case_activity ORDER BY 1')).map(({ text }) => text);

  it('what is over for longer goes, with its timeline; what is open or younger stays, however old it began', async () => {
    await event('old', 366, closed);
    await event('young', 364, closed);
    await event('open since long ago', 2_000, live);
    await event('closed of late', 900, closed, { closed_at: ago(3) });
    await event('happened of late', 900, closed, { timestamp: ago(3), closed_at: ago(3) });
    const over = await newCase('closed', 400, done);
    const settled = await newCase('resolved', 400, resolved);
    const worked = await newCase('worked on', 400, investigating);
    const touched = await newCase('touched', 400, resolved);
    await db.query('UPDATE cases SET updated_at = $2 WHERE id = $1', [touched, ago(1)]);
    const lives = await newCase('closed by hand', 400, done);
    await event('of a closed case', 400, closed, { case_id: over });
    await event('of a resolved case', 400, closed, { case_id: settled });
    await event('of one worked on', 400, closed, { case_id: worked });
    await event('of one touched', 400, closed, { case_id: touched });
    await event('still there', 400, live, { case_id: lives });
    await event('of a case that is not there', 400, closed, { case_id: uuidv7() });

    const round = retention();
    expect(await round(0)).toEqual({ events: 0, cases: 0 });
    expect(await round(DAYS)).toEqual({ events: 4, cases: 2 });
    const events = [
      ...['closed of late', 'happened of late', 'of one touched', 'of one worked on', 'open since long ago'],
      ...['still there', 'young'],
    ];
    expect(await words('events.list')).toEqual(events);
    expect(await words('cases.list')).toEqual(['closed by hand', 'touched', 'worked on']);
    expect(await diaries()).toEqual(['closed by hand', 'touched', 'worked on']);
    expect(told).toEqual([{ events: 4, cases: 2, before: ago(DAYS) }]);
    expect(await db.query('SELECT actor, action, subject, detail FROM audit')).toEqual([
      {
        actor: 'system',
        action: 'incidents.forget',
        subject: 'events and cases over for 365 days',
        detail: { events: 4, cases: 2, before: ago(DAYS) },
      },
    ]);
    expect(await round(DAYS)).toEqual({ events: 0, cases: 0 });
    expect(told).toHaveLength(1);
  });

  it('tallies are what counting gives', async () => {
    for (let n = 0; n < 30; n++)
      await event(`${n}`, 350 + n, n % 3 ? closed : live, { severity: 1 + (n % 5) });
    await compactTallies(db);
    expect((await retention()(DAYS)).events).toBe(10);
    for (const compacted of [false, true]) {
      if (compacted) await compactTallies(db);
      const differing = await db.query(
        `WITH counted AS (
           SELECT site_id, event_day(timestamp) AS bucket, status, severity, source, count(*) AS n FROM events GROUP BY 1, 2, 3, 4, 5
           UNION ALL SELECT NULL, event_hour(timestamp), status, severity, source, count(*) FROM events GROUP BY 2, 3, 4, 5
         ), tallied AS (
           SELECT site_id, bucket, status, severity, source, sum(n)::int8 AS n FROM event_tally GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0)
         (TABLE counted EXCEPT TABLE tallied) UNION ALL (TABLE tallied EXCEPT TABLE counted)`,
      );
      expect(differing).toEqual([]);
    }
  });

  it('what has to stay keeps nothing else from being reached, and a round is bounded', async () => {
    // So many at the old end that one batch sees nothing else.
    const fill = (message: string, days: number, status: number, n: number) =>
      db.query(
        `INSERT INTO events (site_id, id, kind, source, severity, status, message, dedup_key, first_seen, timestamp, closed_at, case_id)
         SELECT $1::uuid, gen_random_uuid(), 'trap', 'trap', 3, ${status}, $2, $2 || n, t, t, t, $4::uuid
         FROM generate_series(1, ${n}) n, LATERAL (SELECT $3::timestamptz + n * interval '1 millisecond' AS t) x`,
        [site, message, ago(days), ids.get('worked on') ?? null],
      );
    await newCase('worked on', 400, investigating);
    await fill('kept', 800, closed, 6_000);
    ids.delete('worked on');
    await fill('old', 700, closed, 4_500);
    const round = retention();
    expect((await round(DAYS)).events).toBe(4_500);
    expect(await db.query('SELECT message, count(*) AS n FROM events GROUP BY 1')).toEqual([
      { message: 'kept', n: 6_000 },
    ]);
  });

  it.skipIf(name === 'pglite').each<[Job, number]>([
    ['forgetting', 0],
    ['sign-ins', 1],
  ])('one instance acts at a time, whatever else is locked: %s', async (job, deleted) => {
    await event('old', 366, closed);
    let inside: () => void = () => undefined;
    let leave: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      inside = resolve;
    });
    const other = db.transaction(async (sql) => {
      await holdLock(sql, job);
      inside();
      await new Promise<void>((resolve) => {
        leave = resolve;
      });
    });
    await held;
    expect(await retention()(DAYS)).toEqual({ events: deleted, cases: 0 });
    leave();
    await other;
    expect(await retention()(DAYS)).toEqual({ events: 1 - deleted, cases: 0 });
  });
});
