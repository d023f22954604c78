import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../kernel/db.ts';
import { anywhere, Parameters, type Scope } from '../kernel/list.ts';
import { foldTallies } from '../kernel/tally.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite } from '../testing/rows.ts';
import { countByWording, foldWordings, isWorded } from './wordings.ts';

afterAll(closeDatabases);

it.each([
  ['cisco', true],
  ['cisco ios software, version', true],
  ['c9300', false],
  ['ju', false],
  ['a-b c', false],
  ['köln', false],
  ['zürich', true],
  ['100% sure_', false],
  ['with \u0001', false],
])('whether %j is counted by wording: %j', (search, worded) => {
  expect(isWorded(search)).toBe(worded);
});

describe.each(databases())('wordings on %s', (name, open) => {
  let db: Database;
  let sites: string[];
  let devices: string[];

  beforeAll(async () => {
    db = await open();
    sites = [await addSite(db, 'one'), await addSite(db, 'two')];
    devices = await addDevices(
      db,
      Array.from({ length: 24 }, (_, n) => ({ site_id: sites[n % 2] ?? '', name: `d${n}` })),
    );
  });

  const counts = async (search: string, scope: Scope) => {
    const p = new Parameters();
    const rows = await db.query<{ site_id: string; n: number }>(
      `SELECT * FROM (${countByWording(p, search, scope, 'true')}) AS x WHERE n <> 0 ORDER BY 1`,
      p.values,
    );
    return rows.map(({ site_id, n }) => [site_id, n]);
  };
  const truth = async (search: string, scope: Scope) => {
    const rows = await db.query<{ site_id: string; n: number }>(
      `SELECT site_id, count(*) AS n FROM devices WHERE search_text LIKE $1 AND ($2::uuid[] IS NULL OR site_id = ANY($2))
       GROUP BY 1 ORDER BY 1`,
      [anywhere(search), scope],
    );
    return rows.map(({ site_id, n }) => [site_id, n]);
  };

  /** Few letters, so that searches are found, in several lines too; numbers, and what means something to LIKE. */
  const letters = fc.oneof(
    fc.constantFrom('abc', 'ab', '\n'),
    fc.constantFrom('a', 'b', ' ', '1', '23', '.', '%', '_', '\\', 'ß', '漢', '\u0001'),
  );
  const text = fc.array(letters, { maxLength: 14 }).map((parts) => parts.join(''));
  const search = fc
    .array(
      letters.filter((each) => !/[\d\n]/.test(each)),
      { minLength: 1, maxLength: 5 },
    )
    .map((parts) => parts.join(''))
    .filter(isWorded);

  it('count what looking at each device counts, whatever is written, folded, changed and deleted', async () => {
    const change = fc.record({ text, at: fc.nat(23), many: fc.boolean(), fold: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.array(search, { minLength: 3, maxLength: 3 }),
        async (changes, searches) => {
          for (const { text: to, at, many, fold } of changes) {
            const which = many ? devices.slice(0, at + 1) : [devices[at]];
            await db.query('UPDATE devices SET search_text = $2 WHERE id = ANY($1::uuid[])', [which, to]);
            if (fold) await foldWordings(db);
          }
          for (const each of searches) {
            expect(await counts(each, null)).toEqual(await truth(each, null));
            expect(await counts(each, sites.slice(0, 1))).toEqual(await truth(each, sites.slice(0, 1)));
          }
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  it.runIf(name === 'postgresql')(
    'are folded beside writers that have not ended, however they do',
    async () => {
      const exact = async () => expect(await counts('core', null)).toEqual(await truth('core', null));
      for (const end of ['commit', 'rollback']) {
        const writing = db.transaction(async (sql) => {
          await sql.query(`UPDATE devices SET search_text = 'core ' || $1`, [end]);
          await foldWordings(db);
          await exact();
          if (end === 'rollback') throw new Error('rolled back');
        });
        if (end === 'commit') await writing;
        else await expect(writing).rejects.toThrow('rolled back');
        await exact();
        await foldWordings(db);
        await exact();
      }
      expect(await counts('core commit', null)).toEqual(sites.map((site) => [site, 12]).sort());
    },
  );

  it.runIf(name === 'postgresql')('are folded while tallies are', async () => {
    await db.query(`UPDATE devices SET search_text = 'beside ' || id`);
    await db.query(`UPDATE devices SET monitor = NOT monitor`);
    const folding = foldTallies({
      ...db,
      transaction: (work) =>
        db.transaction(async (sql) => {
          const done = await work(sql);
          await foldWordings(db);
          return done;
        }),
    });
    expect(await folding).toBeGreaterThan(0);
    expect(await db.query('SELECT 1 FROM wording_changes')).toEqual([]);
  });

  it('keep nothing of texts that nobody has any more, and nothing of devices that are gone', async () => {
    await db.query(`UPDATE devices SET search_text = 'the same everywhere ' || id`);
    await foldWordings(db);
    expect(await foldWordings(db)).toBe(0);
    await db.query(`UPDATE devices SET search_text = 'core switch ' || right(id::text, 2) || E'\\nabcdef'`);
    expect(await counts('switch', null)).toEqual(await truth('switch', null));
    await foldWordings(db);
    const tables = async () => [
      (await db.query(`SELECT wording FROM wordings WHERE wording LIKE 'the same%'`)).length,
      (await db.query(`SELECT 1 FROM wording_counts WHERE n = 0`)).length,
      (await db.query(`SELECT 1 FROM wording_changes`)).length,
    ];
    expect(await tables()).toEqual([0, 0, 0]);
    expect(await counts('cde', null)).toEqual(await truth('cde', null));
    await db.query('DELETE FROM devices');
    expect(await counts('switch', null)).toEqual([]);
    await foldWordings(db);
    expect(await db.query('SELECT 1 FROM wordings UNION ALL SELECT 1 FROM wording_counts')).toEqual([]);
  });
});
