import { afterAll, describe, expect, it, vi } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import type { Database } from './db.ts';
import { refreshStatistics } from './statistics.ts';

afterAll(closeDatabases);

describe.each(databases())('what the planner knows on %s', (name, open) => {
  const fill = `INSERT INTO audit (id, actor, action) SELECT gen_random_uuid(), 'a', 'b' FROM generate_series(1, 3000)`;
  /** What changed is counted when a session comes to rest, once a second at most unless it is told to. */
  const renewed = (db: Database) =>
    vi.waitFor(
      async () => {
        await db.query('SELECT pg_stat_force_next_flush()');
        expect(await refreshStatistics(db)).toContain('audit');
      },
      { timeout: 10_000 },
    );
  const read = async (db: Database, what: string) =>
    (await db.query<{ n: number }>(`SELECT ${what} AS n FROM pg_class WHERE oid = 'audit'::regclass`))[0]?.n;

  it('is renewed when a table grew, and then left', async () => {
    const db = await open();
    // PostgreSQL looks once a minute itself, which would be just now for some run of this test.
    if (name !== 'pglite') await db.query('ALTER TABLE audit SET (autovacuum_enabled = false)');
    const growth = name === 'pglite' ? 2 : 4;
    for (const rows of [3000, 3000 * growth]) {
      while ((await read(db, '(SELECT count(*) FROM audit)')) !== rows) await db.query(fill);
      await renewed(db);
      expect(await read(db, 'reltuples')).toBe(rows);
    }
    expect(await refreshStatistics(db)).toEqual([]);
  });

  it.runIf(name === 'pglite')('and the room of what is gone is given back', async () => {
    const db = await open();
    await db.query(fill);
    await renewed(db);
    const full = await read(db, 'pg_relation_size(oid)');
    for (let round = 0; round < 5; round++) {
      await db.query('UPDATE audit SET actor = $1', [`round ${round}`]);
      await renewed(db);
    }
    expect(await read(db, 'pg_relation_size(oid)')).toBeLessThan((full ?? 0) * 3);
  });
});
