import { IMPORT_COLUMNS } from '@rollcall/shared/api/add-devices';
import type { CustomField } from '@rollcall/shared/api/annotations';
import { csvLine } from '@rollcall/shared/csv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCsv } from './read.ts';

const field = (name: string, type: CustomField['type'], choices: string[] = []): [string, CustomField] => [
  name,
  { id: name, appliesTo: 'device', name, type, choices, createdAt: 0 },
];
const fields = new Map([
  field('Rack', 'text'),
  field('Units', 'number'),
  field('Spare', 'boolean'),
  field('Bought', 'date'),
  field('Support', 'choice', ['gold', 'silver']),
  field('Wiki', 'url'),
]);
const read = (text: string) => readCsv(text, fields);
const rowsOf = (text: string) => {
  const csv = read(text);
  if (!csv.ok) throw new Error(csv.reason);
  return csv.rows;
};
const errorOf = (column: string, text: string) =>
  rowsOf(`address,${column}\n10.0.0.1,${text}`)[0]
    ?.errors.map(({ message }) => message)
    .join();

describe('CSV of devices', () => {
  it('is read whatever separates it, with columns in any order and case', () => {
    const draft = { site: 'Berlin', address: '10.0.0.1', name: 'a, b', tags: ['x', 'y z'], monitor: 1 };
    for (const text of [
      'Site,Address,NAME,tags,Monitored\r\nBerlin,10.0.0.1,"a, b",x; y z,yes\r\n',
      '\ufeffTags;name;address;site;monitor\n"x;y z";a, b;10.0.0.1;Berlin;1\n\n',
      'monitor\tsite\taddress\tname\ttags\nTRUE\tBerlin\t10.0.0.1\ta, b\tx;y z',
    ])
      expect(rowsOf(text)).toEqual([{ line: 2, draft, errors: [] }]);
  });

  it('has fields of their types; an empty cell says nothing', () => {
    const [one, two] = rowsOf(
      'address,field:Rack,FIELD:Units,field:Spare,field:Bought,field:Support,field:Wiki\n' +
        '2001:DB8::1,A-17,4.5,no,2024-02-29,gold,https://wiki.example.net/a\n10.0.0.2,,,,,,\n',
    );
    expect(one?.draft).toEqual({
      address: '2001:db8::1',
      fields: {
        ...{ Rack: 'A-17', Units: 4.5, Spare: false, Bought: '2024-02-29', Support: 'gold' },
        Wiki: 'https://wiki.example.net/a',
      },
    });
    expect(two?.draft).toEqual({ address: '10.0.0.2' });
    // What discovery read stands in the export by its own name, whatever a field is called.
    expect(rowsOf('address,Rack\n10.0.0.1,A-17\n')[0]?.draft).toEqual({ address: '10.0.0.1' });
  });

  it.each([
    ['class', 'swich', /did you mean switch/],
    ['monitor', 'maybe', /must be 1, yes or true/],
    ['tags', 'x'.repeat(61), /at most 60 characters/],
    ['note', 'x'.repeat(2001), /at most 2000/],
    ['field:Units', 'four', /must be a number/],
    ['field:Spare', 'perhaps', /must be a boolean/],
    ['field:Bought', '2023-02-29', /YYYY-MM-DD/],
    ['field:Support', 'bronze', /one of gold, silver/],
    ['field:Wiki', 'javascript:alert(1)', /http/],
  ])('says of %s %j why it is refused', (column, text, why) => {
    expect(errorOf(column, text)).toMatch(why);
  });

  it('says which row has no address, one that is none, or one of no device', () => {
    const rows = rowsOf('name,address\na,\nb,10.0.0\nc,224.0.0.1\nd,10.0.0.1,more');
    expect(rows.map(({ line, errors }) => [line, errors[0]?.column, errors[0]?.message])).toEqual([
      [2, 'address', 'is missing'],
      [3, 'address', 'must be an IPv4 or IPv6 address'],
      [4, 'address', '224.0.0.1 is the address of no one device'],
      [5, null, 'has 3 cells, the first line 2'],
    ]);
  });

  it('of which a quote is not closed is read up to there', () => {
    const rows = rowsOf('address,note\n10.0.0.1,"two\nlines"\n10.0.0.2,"open\n10.0.0.3,x');
    expect(rows.map(({ line, draft, errors }) => [line, draft.note ?? errors[0]?.message])).toEqual([
      [2, 'two\nlines'],
      [4, expect.stringContaining('a quote is not closed')],
    ]);
  });

  it.each([
    ['', /no line/],
    ['name\na', /column address/],
    ['address,Address\n', /stands twice/],
    ['address,field:rack\n', /field:rack.*did you mean Rack/],
    [`address\n${'10.0.0.1\n'.repeat(2001)}`, /more than 2000 rows/],
  ])('%j is refused as a whole', (text, why) => {
    const csv = read(text);
    expect(csv.ok ? '' : csv.reason).toMatch(why);
  });

  it('names the columns that it does not take', () => {
    expect(read('address,Vendor,tag,\n')).toMatchObject({ ok: true, ignored: ['Vendor', 'tag'] });
  });

  it('reads back what an export put an apostrophe in front of', () => {
    const [row] = rowsOf(csvLine(['address', 'note', 'name']) + csvLine(['10.0.0.1', '=1+1', "'quoted"]));
    expect(row?.draft).toMatchObject({ note: '=1+1', name: "'quoted" });
  });

  it('never throws, and has a result for every record', () => {
    const header = fc.constantFrom(...IMPORT_COLUMNS, 'field:Units', 'other');
    const cell = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '""', '\r', '\n', ';'),
    );
    fc.assert(
      fc.property(
        fc.array(header),
        fc.array(fc.array(cell, { maxLength: 8 }), { maxLength: 5 }),
        (names, rows) => {
          const lines = [['address', ...names], ...rows].map((cells) => cells.join(','));
          const csv = read(lines.join('\n'));
          if (!csv.ok) expect(csv.reason).not.toBe('');
          else
            for (const { errors, draft } of csv.rows) expect(errors.length > 0 || draft.address).toBeTruthy();
        },
      ),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void read(text)),
      { numRuns: 200 },
    );
  });

  it('that is written by the export, whatever people wrote, is read as it was', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .map((some) => some.trim().normalize('NFC'));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (notes) => {
        const csv =
          csvLine(['address', 'note']) + notes.map((note, i) => csvLine([`10.0.0.${i + 1}`, note])).join('');
        expect(rowsOf(csv).map(({ draft }) => draft.note ?? '')).toEqual(notes);
      }),
    );
  });
});
