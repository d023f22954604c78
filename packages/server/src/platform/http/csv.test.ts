import { operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import { csvText } from '@rollcall/shared/csv';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { columnsOf, csvOf, rowOf } from './csv.ts';

const item = z.strictObject({
  id: z.string(),
  up: z.boolean().nullable(),
  reachable: z.strictObject({ icmp: z.boolean().nullable(), snmp: z.boolean() }).nullable(),
  tags: z.array(z.string()),
  parts: z.array(z.strictObject({ name: z.string() })).optional(),
  fields: z.record(z.string(), z.unknown()).default({}),
  rate: z.number(),
});
const whole = {
  ...{ id: 'a', up: true, reachable: { icmp: null, snmp: false }, tags: ['x', 'y'] },
  ...{ parts: [{ name: 'fan' }], fields: { rack: 'A"1' }, rate: -1.5 },
};

describe('columns of a list as CSV', () => {
  it('are the members of its items in their order, those of a member that is an object by a dot', () => {
    expect(columnsOf(item)).toEqual([
      'id',
      'up',
      'reachable.icmp',
      'reachable.snmp',
      'tags',
      'parts',
      'fields',
      'rate',
    ]);
  });

  it('are those of every form where items have several, and `value` where they are no objects', () => {
    const forms = z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('mail'), to: z.string() }),
      z.strictObject({ kind: z.literal('hook'), url: z.string() }),
    ]);
    expect(columnsOf(forms)).toEqual(['kind', 'to', 'url']);
    expect(columnsOf(z.string())).toEqual(['value']);
  });

  const lists = (Object.entries(operations) as [string, Operation][]).filter(
    ([, { method, envelope }]) => method === 'GET' && envelope === 'list',
  );
  it.each(lists)('of %s are told apart', (_id, operation) => {
    const columns = columnsOf(rowOf(operation));
    expect(columns.length).toBeGreaterThan(1);
    expect(new Set(columns).size).toBe(columns.length);
  });
});

describe('a list as CSV', () => {
  it.each([
    ['what there is', whole, 'a,true,,false,x; y,"[{""name"":""fan""}]","{""rack"":""A\\""1""}",-1.5'],
    [
      'nothing where there is nothing',
      { ...whole, up: null, reachable: null, tags: [], parts: undefined, fields: {} },
      'a,,,,,,{},-1.5',
    ],
    [
      'what a spreadsheet would take for a formula with an apostrophe',
      { ...whole, id: '=cmd()', tags: ['-1', '2'], parts: [], fields: {} },
      "'=cmd(),true,,false,'-1; 2,,{},-1.5",
    ],
  ])('has %s', (_what, row, line) => {
    expect(csvOf(item, [row]).split('\r\n')).toEqual([columnsOf(item).join(','), line, '']);
  });

  it('of plain values has one column', () => {
    expect(csvOf(z.string(), ['a', 'b'])).toBe('value\r\na\r\nb\r\n');
  });

  it('has its first line where it is empty', () => {
    expect(csvOf(z.strictObject({ id: z.string() }), [])).toBe('id\r\n');
  });

  it('is read by others as it was, whatever texts are in it', () => {
    const texts = z.strictObject({ a: z.string(), b: z.string() });
    fc.assert(
      fc.property(
        fc.array(fc.record({ a: fc.string({ unit: 'binary' }), b: fc.string({ unit: 'binary' }) })),
        (rows) => {
          const read = parse(csvOf(texts, rows), { columns: true, record_delimiter: '\r\n' }) as {
            a: string;
            b: string;
          }[];
          expect(read.map(({ a, b }) => ({ a: csvText(a), b: csvText(b) }))).toEqual(rows);
          for (const cell of read.flatMap(({ a, b }) => [a, b])) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
        },
      ),
    );
  });
});
