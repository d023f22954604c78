import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { closeDatabases, createPostgres, databases } from '../../testing/database.ts';
import { backup, restore, withoutServers } from './backup.ts';
import { type Database, openDatabase } from './db.ts';
import { readMigrations } from './migrate.ts';

afterAll(closeDatabases);

const NOW = Date.UTC(2026, 10, 22);
const written = async (db: Database): Promise<Buffer> => {
  const out = new PassThrough();
  const [bytes] = await Promise.all([buffer(out), backup(db, out, NOW)]);
  return bytes;
};
const text = (bytes: Buffer) => gunzipSync(bytes).toString();
const of = (lines: string) => Readable.from([gzipSync(lines)]);

/** One of everything that is hard to carry: bytes, inet, arrays, JSON, large numbers, text of every kind, numbers that count. */
async function fill(db: Database): Promise<void> {
  await db.query(`INSERT INTO sites (id, name, settings) VALUES
    ('019aa3c4-5b00-7000-8000-000000000001', E'Zürich\\n"\\\\\\t\\u2028@{', '{"a": [1, null, {"b": 1.5e300}]}')`);
  await db.query(`INSERT INTO credentials (id, name, version, facts, sealed, key_id, site_ids, all_sites) VALUES
    ('019aa3c4-5b00-7000-8000-000000000002', 'c', 'v2c', '{}', '\\x00ff0a0d5c22', 'k1',
     ARRAY['019aa3c4-5b00-7000-8000-000000000001']::uuid[], false)`);
  await db.query(`INSERT INTO collectors (id, site_id, name, public_key) VALUES
    ('019aa3c4-5b00-7000-8000-000000000003', '019aa3c4-5b00-7000-8000-000000000001', 'k', '\\x01')`);
  await db.query(`INSERT INTO collector_streams (collector_id, epoch, stream, through) VALUES
    ('019aa3c4-5b00-7000-8000-000000000003', '019aa3c4-5b00-7000-8000-000000000004', 'state', 9007199254740993)`);
  await db.query(`INSERT INTO devices (id, site_id, name, address, status, first_seen)
    SELECT gen_random_uuid(), '019aa3c4-5b00-7000-8000-000000000001', 'device ' || n, ('10.0.' || n / 256 || '.' || n % 256)::inet, 'up', now()
    FROM generate_series(1, 5000) n`);
}
const tally = async (db: Database) =>
  (await db.query<{ n: number }>('SELECT sum(n)::int8 AS n FROM device_tally'))[0]?.n;

describe.each(databases())('a backup of %s', (kind, open) => {
  it.each(databases())(
    'is the same data again in %s, and goes on from there',
    async (_name, other) => {
      const [from, to] = [await open(), await other()];
      await fill(from);
      const bytes = await written(from);
      const told = await restore(to, Readable.from([bytes]));
      expect(told.rows).toBeGreaterThan(5000);
      const again = await written(to);
      const rows = (lines: string) =>
        lines
          .split('\n')
          .filter((line) => !line.startsWith('@{"rows"'))
          .sort();
      expect(rows(text(again))).toEqual(rows(text(bytes)));
      expect(await tally(to)).toBe(5000);
      // Triggers count again, keys hold again, numbers go on.
      await to.query(`DELETE FROM devices WHERE name = 'device 7'`);
      expect(await tally(to)).toBe(4999);
      await expect(to.query(`DELETE FROM sites`)).rejects.toThrow(/foreign key/);
      await to.query(`INSERT INTO device_tally (site_id, class, monitor, status, n)
      VALUES ('019aa3c4-5b00-7000-8000-000000000001', 'x', false, 'up', 0)`);
    },
    120_000,
  );

  // The embedded database belongs to one process by the lock of its folder.
  it.runIf(kind === 'postgresql')(
    'replaces nothing that a server works with, on whatever host that runs',
    async () => {
      const [from, to] = [await open(), await open()];
      await fill(from);
      const bytes = await written(from);
      // Every server listens, from its start to its end.
      await to.listen('rollcall_test', () => undefined);
      await expect(restore(to, Readable.from([bytes]), { replace: true, leaveMs: 100 })).rejects.toThrow(
        /a server runs on this database, here or on another host/,
      );
      expect(await to.query('SELECT 1 FROM sites')).toHaveLength(0);
    },
  );

  it('is refused where there is data, unless that is to go', async () => {
    const [from, to] = [await open(), await open()];
    await fill(from);
    const bytes = await written(from);
    await to.query(`INSERT INTO sites (id, name) VALUES (gen_random_uuid(), 'there before')`);
    await expect(restore(to, Readable.from([bytes]))).rejects.toThrow(/holds data: add --replace/);
    await restore(to, Readable.from([bytes]), { replace: true });
    expect(await to.query('SELECT 1 FROM sites')).toHaveLength(1);
  }, 120_000);

  it('is taken whole or not at all: damaged, cut off, of another kind, of a newer version', async () => {
    const [from, to] = [await open(), await open()];
    await fill(from);
    const bytes = await written(from);
    const lines = text(bytes);
    const bad: [Readable, RegExp][] = [
      [of(lines.replace('device 99"', 'device 98"')), /check sum does not fit/],
      [of(lines.slice(0, lines.length / 2)), /no end|not a|invalid/i],
      [of(lines.replace(/\n@\{"rows".*/, '\n')), /cut off: it has no end/],
      [Readable.from([bytes.subarray(0, bytes.length / 2)]), /damaged|no end|cut off/],
      [Readable.from(['PGDMP, some other file']), /no backup of a Rollcall server/],
      [of('hello\n'), /no backup of a Rollcall server/],
      [of(lines.replace('"migrations":[', '"migrations":["29991231000000_later",')), /newer than this one/],
    ];
    for (const [input, message] of bad) await expect(restore(to, input)).rejects.toThrow(message);
    expect(await to.query('SELECT 1 FROM sites')).toEqual([]);
    expect((await restore(to, Readable.from([bytes]))).version).toMatch(/^\d/);
  }, 120_000);

  it('of an older version is brought up to date after it was loaded', async () => {
    const [from, to] = [await open(), await open()];
    await fill(from);
    const bytes = await written(from);
    const later = [
      ...readMigrations(),
      {
        name: '29991231000000_later',
        sql: `ALTER TABLE sites ADD COLUMN later text; UPDATE sites SET later = 'filled from ' || name`,
        checksum: 'x'.repeat(64),
      },
    ];
    await restore(to, Readable.from([bytes]), { migrations: later });
    expect(await to.query('SELECT later FROM sites')).toEqual([
      { later: expect.stringMatching(/^filled from Zürich/) },
    ]);
  }, 120_000);
});

const server = process.env.TEST_DATABASE_URL;
describe.skipIf(!server)('work without servers on PostgreSQL', () => {
  it('attack: a server that starts during a restore or a change of the key waits for its end', async () => {
    const { db, url } = await createPostgres(server as string);
    const other = await openDatabase({ url }, pino({ enabled: false }));
    const order: string[] = [];
    const waits = async () =>
      (await db.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).length;
    const { listening } = await withoutServers(db, async () => {
      const listening = other.listen('rollcall_test', () => undefined).then(() => order.push('server'));
      await expect.poll(waits).toBeGreaterThan(0);
      // The lock is not that of a transaction, which work may end.
      await db.transaction((sql) => sql.query('SELECT 1'));
      order.push('work');
      return { listening };
    });
    await listening;
    expect(order).toEqual(['work', 'server']);
    await expect(withoutServers(db, async () => order.push('too late'), 100)).rejects.toThrow(
      /a server runs on this database/,
    );
    await other.close();
    expect(order).toHaveLength(2);
  });
});
