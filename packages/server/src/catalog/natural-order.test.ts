import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';

afterAll(closeDatabases);

describe.each(databases())('the order of names, on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  const ordered = async (names: string[]) =>
    (
      await db.query<{ name: string }>(
        'SELECT name FROM unnest($1::text[]) AS name ORDER BY natural_order(name) COLLATE "C", name COLLATE "C"',
        [names],
      )
    ).map(({ name }) => name);

  it.each([
    [
      ['access-10', 'access-2', 'Access-1'],
      ['Access-1', 'access-2', 'access-10'],
    ],
    [
      ['Gi1/0/10', 'Gi1/0/9', 'Gi2/0/1'],
      ['Gi1/0/9', 'Gi1/0/10', 'Gi2/0/1'],
    ],
    [
      ['10.0.0.100', '10.0.0.20', 'core'],
      ['10.0.0.20', '10.0.0.100', 'core'],
    ],
    [
      ['a007', 'a8', 'a'],
      ['a', 'a007', 'a8'],
    ],
    [
      ['', '0', '00'],
      ['', '0', '00'],
    ],
  ])('of %j is as people count', async (names, expected) => expect(await ordered(names)).toEqual(expected));

  it('puts numbers of any length by their value', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n })), async (numbers) => {
        const sorted = [...numbers].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        expect(await ordered(numbers.map((n) => `p${n}`))).toEqual(sorted.map((n) => `p${n}`));
      }),
      { numRuns: 25 },
    ));
});
