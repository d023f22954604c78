import { type Clock, systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, Installation, until } from './harness.ts';

/** What a server does by the clock, beside its work. */

const HOUR_MS = 3_600_000;

describe.each(databases)('housekeeping on %s', (_name, url) => {
  let hourly: (() => unknown)[];
  let installation: Installation;
  beforeAll(async () => {
    hourly = [];
    const clock: Clock = {
      ...systemClock,
      every: (ms, task) => {
        if (ms === HOUR_MS) hourly.push(task);
        return systemClock.every(ms, task);
      },
    };
    const settings = { ROLLCALL_EVENT_DAYS: '365' };
    installation = await Installation.start({ clock, settings, databaseUrl: await url() });
  }, 120_000);
  afterAll(async () => installation?.stop());

  it('forgets what is too old, as its rules and its settings say', async () => {
    const { db } = installation.server;
    const site = await installation.site('old', 161, []);
    const long = `now() - interval '500 days'`;
    await db.query(
      `INSERT INTO events (site_id, id, kind, source, severity, status, details, message, dedup_key, count, first_seen, timestamp, closed_at)
       VALUES ($1::uuid, gen_random_uuid(), 'trap', 'trap', 3, 2, '{}', 'long ago', 'long ago', 1, ${long}, ${long}, ${long})`,
      [site],
    );
    await db.query(
      `INSERT INTO audit (id, at, actor, action, subject, address, detail) VALUES (gen_random_uuid(), ${long}, 'ada', 'long.ago', '', '', '{}')`,
    );
    await db.query(
      `INSERT INTO sessions (id_hash, user_id, id, created_at, last_seen_at, expires_at)
       SELECT '\\x00', id, gen_random_uuid(), ${long}, ${long}, ${long} FROM users LIMIT 1`,
    );
    for (const task of hourly) await task();
    expect((await installation.api('GET', '/api/events?Source=trap')).totalCount).toBe(0);
    const { data } = await installation.api<{ action: string }[]>('GET', '/api/audit?pageSize=100');
    expect(data.map(({ action }) => action)).toContain('incidents.forget');
    expect(data.map(({ action }) => action)).not.toContain('long.ago');
    expect(await db.query('SELECT 1 FROM sessions WHERE expires_at < now()')).toEqual([]);
  });

  it('looks anew at tables that filled', async () => {
    const { db } = installation.server;
    await db.query(
      `INSERT INTO audit (id, actor, action) SELECT gen_random_uuid(), 'ada', 'many' FROM generate_series(1, 3000)`,
    );
    await until(30_000, 'statistics of the audit log', async () => {
      const [table] = await db.query<{ n: number }>(
        `SELECT reltuples AS n FROM pg_class WHERE oid = 'audit'::regclass`,
      );
      return (table?.n ?? 0) >= 3000;
    });
  }, 60_000);
});
