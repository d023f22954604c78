import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvCell, csvLine } from './csv.ts';

describe('a CSV cell', () => {
  it.each([
    ['plain', 'plain'],
    ['=1+1', "'=1+1"],
    ['+49 30 1', "'+49 30 1"],
    ['-2', "'-2"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['＝1', "'＝1"],
    ['say "hi", all', '"say ""hi"", all"'],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    [-2, '-2'],
    [null, ''],
    [undefined, ''],
  ])('%j becomes %j', (value, expected) => {
    expect(csvCell(value)).toBe(expected);
  });

  it('never starts a formula, whatever a device says, and reads back as what was written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const cell = csvCell(text);
        const read = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        expect(read).not.toMatch(/^[=+\-@\t\r]/);
        expect(read === text || read === `'${text}`).toBe(true);
      }),
    );
  });

  it('lines end as RFC 4180 says', () => {
    expect(csvLine(['a', 1, null])).toBe('a,1,\r\n');
  });
});
