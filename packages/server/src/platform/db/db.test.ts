import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { closeDatabases, createPostgres, databases } from '../../testing/database.ts';
import { notFound, Problem } from '../problem.ts';
import {
  type Database,
  databaseAway,
  isUniqueViolation,
  openDatabase,
  orConflict,
  sqlState,
  type Transaction,
  unavailable,
} from './db.ts';
import { type Migration, MigrationError, migrate, pending, readMigrations } from './migrate.ts';

afterAll(closeDatabases);

/** Does once what upgrades do: adds and fills a column, replaces an index, adds a constraint, a table and a trigger. */
const LATER: Migration = {
  name: '99991231_later',
  checksum: 'c',
  sql: `
    ALTER TABLE devices ADD COLUMN rack TEXT;
    UPDATE devices SET rack = 'rack of ' || name;
    ALTER TABLE devices ALTER COLUMN rack SET NOT NULL, ADD CONSTRAINT devices_rack CHECK (rack <> '');
    DROP INDEX devices_by_name;
    CREATE INDEX devices_by_name ON devices (name, id) INCLUDE (site_id, rack);
    CREATE TABLE moves (device_id UUID NOT NULL, rack TEXT NOT NULL);
    CREATE FUNCTION device_moved() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO moves VALUES (NEW.id, NEW.rack);
      RETURN NULL;
    END $$;
    CREATE TRIGGER devices_moved AFTER INSERT ON devices FOR EACH ROW EXECUTE FUNCTION device_moved();`,
};

describe.each(databases())('the database on %s', (name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  it('gives the same value types on both databases', async () => {
    const [row] = await db.query(
      `SELECT 9007199254740991::int8 AS big, '2026-11-21T03:00:00.123Z'::timestamptz AS at, '10.0.0.1'::inet AS ip,
        $1::jsonb AS doc, $2::text[] AS words, ARRAY['10.0.0.1']::inet[] AS ips, 1.5::numeric AS num, true AS yes,
        '018f0000-0000-7000-8000-000000000001'::uuid AS id, ARRAY['018f0000-0000-7000-8000-000000000001']::uuid[] AS ids,
        1.25::float8 AS real, 'x'::bytea AS raw, NULL::text AS none`,
      [JSON.stringify({ a: [1, null] }), ['a', 'b,"c']],
    );
    expect({ ...row, raw: Buffer.from(row?.raw as Uint8Array).toString() }).toEqual({
      big: 9007199254740991,
      at: new Date('2026-11-21T03:00:00.123Z'),
      ip: '10.0.0.1',
      doc: { a: [1, null] },
      words: ['a', 'b,"c'],
      ips: expect.anything(),
      num: '1.5',
      yes: true,
      id: '018f0000-0000-7000-8000-000000000001',
      ids: ['018f0000-0000-7000-8000-000000000001'],
      real: 1.25,
      raw: 'x',
      none: null,
    });
  });

  it('keeps a transaction whole: all or nothing', async () => {
    await expect(
      db.transaction(async (sql) => {
        await sql.query(
          `INSERT INTO sites (id, name, networks, exclude) VALUES (gen_random_uuid(), 'a', '{}', '{}')`,
        );
        throw new Error('stop');
      }),
    ).rejects.toThrow('stop');
    expect(await db.query('SELECT * FROM sites')).toEqual([]);
  });

  it('runs statements and Prisma of a transaction on one connection, all or nothing', async () => {
    const both = (end: () => void) =>
      db.transaction(async ({ query, prisma }) => {
        const id = randomUUID();
        await query(`INSERT INTO sites (id, name) VALUES ($1, 'by statement')`, [id]);
        await prisma.site.update({ where: { id }, data: { name: 'by Prisma' } });
        // Outside of the transaction, whose changes it does not see; PGlite has but one connection.
        if (name === 'postgresql') expect(await db.prisma.site.findUnique({ where: { id } })).toBeNull();
        expect(await query('SELECT name FROM sites WHERE id = $1', [id])).toEqual([{ name: 'by Prisma' }]);
        end();
      });
    const stop = () => {
      throw new Error('stop');
    };
    await expect(both(stop)).rejects.toThrow('stop');
    expect(await db.prisma.site.count()).toBe(0);
    await both(() => undefined);
    expect(await db.prisma.site.deleteMany()).toEqual({ count: 1 });
  });

  it('keeps transactions apart that run at the same time', async () => {
    const names = ['one', 'two', 'three'];
    const seen = await Promise.all(
      names.map((name) =>
        db
          .transaction(async ({ prisma }) => {
            await prisma.site.create({ data: { id: randomUUID(), name } });
            const found = await prisma.site.findMany();
            throw new Error(found.map((site) => site.name).join());
          })
          .catch((error: Error) => error.message),
      ),
    );
    expect(seen).toEqual(names);
  });

  it('retries a transaction in which Prisma lost a race', async () => {
    let tries = 0;
    await db.transaction(async ({ prisma }) => {
      tries += 1;
      if (tries < 3)
        await prisma.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$`;
    });
    expect(tries).toBe(3);
  });

  it('says by Prisma what a statement says: a lock that is not free', async () => {
    const locked = db.transaction(async ({ prisma }) => {
      await prisma.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'held' USING ERRCODE = '55P03'; END $$`;
    });
    await expect(locked).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('something else holds'),
    });
  });

  it.each([
    ['40001', 3, undefined],
    ['40P01', 3, undefined],
    ['55P03', 1, 'unavailable'],
    ['57014', 1, undefined],
    ['23514', 1, undefined],
    ['53100', 1, 'unavailable'],
  ])(
    'does after SQLSTATE %s of a model what it does after that of a statement',
    async (state, most, code) => {
      const outcome = async (write: (sql: Transaction) => Promise<unknown>) => {
        let tries = 0;
        const failure = await db
          .transaction(async (sql) => {
            tries += 1;
            if (tries === 3) return;
            await sql.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`);
            await sql.query(
              'CREATE TRIGGER refuse BEFORE INSERT ON sites FOR EACH ROW EXECUTE FUNCTION refuse()',
            );
            await write(sql);
          })
          .then(
            () => undefined,
            (error: Error) => error,
          );
        const problem = failure instanceof Problem ? { code: failure.code, message: failure.message } : null;
        return { tries, problem, state: sqlState(failure instanceof Problem ? failure.cause : failure) };
      };
      const data = { id: randomUUID(), name: 'refused' };
      const byModel = await outcome(({ prisma }) => prisma.site.create({ data }));
      const byStatement = await outcome(({ query }) =>
        query('INSERT INTO sites (id, name) VALUES ($1, $2)', [data.id, data.name]),
      );
      expect(byModel).toEqual(byStatement);
      expect(byModel).toMatchObject({ tries: most, problem: code === undefined ? null : { code } });
    },
  );

  it('says that the database is away by Prisma as well, outside of a transaction', async () => {
    const refused = db.prisma.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'over' USING ERRCODE = '57P01'; END $$`;
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('leaves sockets their turns while statement follows statement', async () => {
    const STATEMENTS = 50;
    let [turns, over] = [0, false];
    const turn = () => {
      turns += 1;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    await db.transaction(async (sql) => {
      for (let i = 0; i < STATEMENTS; i++) await sql.query('SELECT 1');
    });
    over = true;
    expect(turns).toBeGreaterThanOrEqual(STATEMENTS);
  });

  it('retries a transaction that lost a race', async () => {
    let tries = 0;
    const done = await db.transaction(async () => {
      tries += 1;
      if (tries < 3) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
      return 'done';
    });
    expect([done, tries]).toEqual(['done', 3]);
  });

  it.skipIf(name === 'pglite')(
    'lets ingest wait for a lock only so long, and then asks it to come again',
    async () => {
      expect(await db.ingest.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '2s' }]);
      expect(await db.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '0' }]);
      let tries = 0;
      await db.transaction(async (sql) => {
        await sql.query('SELECT pg_advisory_xact_lock(4711)');
        const waiting = db.ingest.transaction(async (other) => {
          tries += 1;
          await other.query(`SET LOCAL lock_timeout = '20ms'`);
          await other.query('SELECT pg_advisory_xact_lock(4711)');
        });
        await expect(waiting).rejects.toMatchObject({
          code: 'unavailable',
          message: expect.stringContaining('something else holds'),
        });
      });
      // Others have their turn first: the queue brings it back.
      expect(tries).toBe(1);
    },
  );

  it.skipIf(name === 'pglite')(
    'answers kept statements on connections that know them, whatever else goes on and however long nothing does',
    async () => {
      const pid = async () =>
        (await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid', [], 'kept'))[0]?.pid;
      const first = await pid();
      const others = Array.from({ length: 4 }, () => db.query('SELECT pg_sleep(0.2)'));
      expect(await pid()).toBe(first);
      // A pool ends connections that lie idle for 10 s, by default.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        await Promise.all(others);
        expect(await pid()).toBe(first);
        vi.advanceTimersByTime(60_000);
      } finally {
        vi.useRealTimers();
      }
      expect(await pid()).toBe(first);
    },
  );

  it.skipIf(name === 'pglite').each([
    ['a statement', ({ query }: Transaction) => query('SELECT 1')],
    ['a model', ({ prisma }: Transaction) => prisma.site.count()],
  ])('survives the end of its connection in a transaction, before %s', async (_next, next) => {
    const cut = db.transaction(async (sql) => {
      const [own] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await db.query('SELECT pg_terminate_backend($1)', [own?.pid]);
      const there = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1';
      await expect.poll(() => db.query(there, [own?.pid])).toEqual([]);
      await next(sql);
    });
    await expect(cut).rejects.toMatchObject({ code: 'unavailable' });
    expect(await db.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('knows a unique violation, of a statement and of Prisma', async () => {
    const insert = `INSERT INTO sites (id, name, networks, exclude) VALUES (gen_random_uuid(), 'a', '{}', '{}')`;
    await db.query(insert);
    expect(isUniqueViolation(await db.query(insert).catch((e: unknown) => e))).toBe(true);
    const again = () => db.prisma.site.create({ data: { id: randomUUID(), name: 'a' } });
    await expect(orConflict('there is one', again)).rejects.toMatchObject({
      code: 'conflict',
      message: 'there is one',
    });
    const other = () => db.query('SELECT nonsense');
    await expect(orConflict('there is one', other)).rejects.toMatchObject({ code: '42703' });
  });

  it('reads through Prisma what SQL wrote, times in UTC', async () => {
    await db.query(
      `INSERT INTO sites (id, name, networks, exclude, created_at)
       VALUES (gen_random_uuid(), 'b', '{10.0.0.0/8}', '{}', '2026-01-02T03:04:05Z')`,
    );
    const site = await db.prisma.site.findUnique({ where: { name: 'b' } });
    expect([site?.networks, site?.createdAt.toISOString()]).toEqual([
      ['10.0.0.0/8'],
      '2026-01-02T03:04:05.000Z',
    ]);
  });

  it('hears notifications, also those of a transaction, after its commit', async () => {
    const heard: string[] = [];
    const stop = await db.listen('rollcall_test', (payload) => heard.push(payload));
    await db.notify('rollcall_test', 'one');
    await db.transaction(async (sql) => {
      await sql.query(`SELECT pg_notify('rollcall_test', 'two')`);
    });
    await db
      .transaction(async (sql) => {
        await sql.query(`SELECT pg_notify('rollcall_test', 'never')`);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await expect.poll(() => heard).toEqual(['one', 'two']);
    await stop();
  });

  it('runs exclusive work one at a time', async () => {
    const trace: string[] = [];
    const work = (name: string) =>
      db.exclusively(1, async () => {
        trace.push(`${name} in`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        trace.push(`${name} out`);
      });
    await Promise.all([work('a'), work('b')]);
    expect(trace).toEqual(['a in', 'a out', 'b in', 'b out']);
  });

  it('case 47: applies migrations once and refuses a database that is newer', async () => {
    const db = await open();
    const all = readMigrations();
    const next: Migration = { name: '99991231_more', sql: 'CREATE TABLE more (id int)', checksum: 'c' };
    expect(await migrate(db, [...all, next])).toEqual(['99991231_more']);
    expect(await migrate(db, [...all, next])).toEqual([]);
    await expect(migrate(db, all)).rejects.toThrow(/newer version/);
  });

  it('works on a database that is newer by what was only added', async () => {
    const db = await open();
    const all = readMigrations();
    const sql = '-- Additive\nALTER TABLE devices ADD COLUMN rack TEXT';
    await migrate(db, [...all, { name: '99991231_rack', sql, checksum: 'c' }]);
    expect(await migrate(db, all)).toEqual([]);
    // A backup of before is not put into it: what the migration would have filled stayed empty.
    await expect(migrate(db, all, 'refuse')).rejects.toThrow(/newer version/);
  });

  it('case 47: a later migration changes tables that hold rows, partitioned by site or not', async () => {
    const db = await open();
    const [site, device] = [randomUUID(), randomUUID()];
    await db.query(`INSERT INTO sites (id, name) VALUES ($1, 'kept')`, [site]);
    await db.query(`INSERT INTO devices (site_id, id, name, first_seen) VALUES ($1, $2, 'kept', now())`, [
      site,
      device,
    ]);
    await migrate(db, [...readMigrations(), LATER]);
    expect(await db.query('SELECT name, rack, site_id, id FROM devices')).toEqual([
      { name: 'kept', rack: 'rack of kept', site_id: site, id: device },
    ]);
    // Its trigger fires for rows of every part.
    await db.query(
      `INSERT INTO devices (site_id, id, name, rack, first_seen) VALUES ($1, $2, 'new', 'r', now())`,
      [site, randomUUID()],
    );
    expect(await db.query(`SELECT count(*)::int AS n FROM moves`)).toEqual([{ n: 1 }]);
    // What the first migration made is still kept up.
    expect(await db.query('SELECT sum(n)::int AS n FROM device_tally')).toEqual([{ n: 2 }]);
  });

  it('gives a migration as long as it takes', async () => {
    await db.script(`DO $$ BEGIN
      IF current_setting('statement_timeout') <> '0' THEN RAISE EXCEPTION 'it has %', current_setting('statement_timeout'); END IF;
    END $$`);
  });

  it('case 47: leaves nothing of a migration that fails', async () => {
    const db = await open();
    await db.query('DELETE FROM _prisma_migrations');
    const bad: Migration = { name: 'bad', sql: 'CREATE TABLE half (id int); SELECT nonsense', checksum: 'c' };
    await expect(migrate(db, [bad])).rejects.toThrow(MigrationError);
    expect(await db.query(`SELECT to_regclass('half') AS t`)).toEqual([{ t: null }]);
    expect(await db.query('SELECT * FROM _prisma_migrations')).toEqual([]);
  });
});

const server = process.env.TEST_DATABASE_URL;
describe.skipIf(!server)('the notification connection on PostgreSQL', () => {
  it('listens again after it was lost, tells that something may have been missed, and tells the loss once', async () => {
    const lines: string[] = [];
    const { url } = await createPostgres(server as string);
    const db = await openDatabase(
      { url },
      pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    );
    const heard: string[] = [];
    await db.listen('rollcall_test', (payload) => heard.push(payload));
    await db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'rollcall listen' AND datname = current_database()`,
    );
    await expect.poll(() => heard).toEqual(['']);
    await db.notify('rollcall_test', 'again');
    await expect.poll(() => heard).toEqual(['', 'again']);
    expect(lines.filter((line) => line.includes('notification connection lost'))).toHaveLength(1);
    await db.close();
    // Who closes what another has closed ends nothing more.
    await db.close();
  });
});

it.skipIf(!server)(
  'says that a database which this process has closed is away: no fault of what was to be stored',
  async () => {
    const closed = await openDatabase({ url: server ?? '' }, pino({ level: 'silent' }));
    await closed.close();
    for (const work of [
      () => closed.query('SELECT 1'),
      () => closed.transaction((sql) => sql.query('SELECT 1')),
      () => closed.ingest.transaction((sql) => sql.query('SELECT 1')),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'unavailable' });
  },
);

describe('pending', () => {
  const migration = (name: string, checksum = name): Migration => ({ name, sql: '', checksum });
  it.each([
    ['nothing ran', [], ['a', 'b']],
    ['one ran', [{ migration_name: 'a', checksum: 'a', logs: null }], ['b']],
  ])('%s', (_case, ran, expected) => {
    expect(pending(ran, [migration('a'), migration('b')]).map((m) => m.name)).toEqual(expected);
  });
  it('refuses an edited migration', () => {
    expect(() => pending([{ migration_name: 'a', checksum: 'old', logs: null }], [migration('a')])).toThrow(
      /changed after/,
    );
  });
});

it.each([
  [{ code: 'ECONNREFUSED' }, true],
  [{ code: '57P01' }, true],
  [{ code: '08006' }, true],
  [{ message: 'Connection terminated unexpectedly' }, true],
  [{ code: '23505' }, false],
  [{ code: '42601', message: 'syntax error' }, false],
  [unavailable({ code: 'ECONNREFUSED' }), true],
  [unavailable({ code: '55P03' }), false],
  [notFound('device'), false],
])('databaseAway(%o) is %s', (error, away) => {
  expect(databaseAway(error)).toBe(away);
});
