import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { arrayOf, type ElementType } from './arrays.ts';
import type { Database } from './db.ts';

afterAll(closeDatabases);

/** What PostgreSQL keeps of a text: no NUL. */
const text = fc.string({ unit: 'binary', maxLength: 200 }).map((each) => each.replaceAll('\0', ''));
const VALUES: Record<ElementType, fc.Arbitrary<unknown>> = {
  uuid: fc.uuid(),
  text,
  int: fc.integer(),
  bigint: fc.maxSafeInteger(),
  float8: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bool: fc.boolean(),
  jsonb: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null))),
  // Years 1 to 9999, to the millisecond, as columns hold them.
  timestamptz: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
};
const types = Object.keys(VALUES) as ElementType[];

describe.each(databases())('arrays as parameters on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  it('of lists arrive as texts with commas', async () => {
    const param = arrayOf(
      'text',
      [{ value: ['10.0.0.1', '10.0.0.2'] }, { value: [] }, { value: null }],
      'value',
    );
    expect(
      await db.query('SELECT u.value FROM unnest($1::text[]) WITH ORDINALITY AS u(value, i) ORDER BY i', [
        param,
      ]),
    ).toEqual([{ value: '10.0.0.1,10.0.0.2' }, { value: '' }, { value: null }]);
  });

  it.each(types)('of %s arrive as they were', async (type) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(VALUES[type]), { maxLength: 20 }), async (values) => {
        const param = arrayOf(
          type,
          values.map((value) => ({ value })),
          'value',
        );
        // One by one, for an array comes back in as many ways as there are drivers; float8 says -0, JSON does not.
        const rows = await db.query<{ value: unknown }>(
          `SELECT to_jsonb(u.value) AS value, count(*) OVER ()::int AS n
           FROM unnest($1::${type}[]${type === 'timestamptz' ? '::timestamptz(3)[]' : ''}) WITH ORDINALITY AS u(value, i) ORDER BY i`,
          [param],
        );
        const arrived = rows.map(({ value }) =>
          type === 'timestamptz' && value !== null ? Date.parse(String(value)) : value,
        );
        const sent = values.map((value) => (typeof value === 'number' ? value + 0 : value));
        expect(arrived).toEqual(sent);
      }),
      { numRuns: 60 },
    );
  });

  it('a missing member is NULL, and a long text is whole', async () => {
    const long = 'ü€😀a'.repeat(5_000);
    const rows: { a?: string }[] = [{ a: long }, {}, { a: '' }];
    expect(
      await db.query(`SELECT a FROM unnest($1::text[]) WITH ORDINALITY AS u(a, i) ORDER BY i`, [
        arrayOf('text', rows, 'a'),
      ]),
    ).toEqual([{ a: long }, { a: null }, { a: '' }]);
  });

  it.each<[ElementType, unknown]>([
    ['int', 2 ** 31],
    ['int', 1.5],
    ['timestamptz', Number.NaN],
    ['uuid', '0199a5c3-0000-7000-8000-00000000000g'],
  ])('of %s have no way to say %s', async (type, value) => {
    // Class 22, data exception: what reads observations makes dead letters of them.
    await expect(
      db.query(`SELECT $1::${type}[] AS a`, [arrayOf(type, [{ value }], 'value')]),
    ).rejects.toMatchObject({ code: expect.stringMatching(/^22/) });
  });
});
