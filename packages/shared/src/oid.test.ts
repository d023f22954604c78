import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareOid, isUnder, parseOid } from './oid.ts';

const arcs = fc.array(fc.oneof(fc.nat(20), fc.nat(0xffff)), { minLength: 1, maxLength: 8 });
const text = (list: readonly number[]) => ['1.3', ...list].join('.');

describe('parseOid', () => {
  it.each([
    ['1.3.6.1', [1, 3, 6, 1]],
    ['0.0', [0, 0]],
    ['2.999.4294967295', [2, 999, 4294967295]],
  ])('reads %s', (oid, expected) => {
    expect(parseOid(oid)).toEqual(expected);
  });
  it.each([
    '',
    '1',
    '.1.3',
    '1.3.',
    '1..3',
    '3.1',
    '1.40',
    '1.3.4294967296',
    '1.3.-1',
    '1.3.x',
    '1.3.1e3',
    ' 1.3',
  ])('refuses "%s"', (oid) => {
    expect(parseOid(oid)).toBeNull();
  });
});

describe('compareOid', () => {
  it('orders by sub-identifier, a prefix first', () => {
    const byArcs = (a: readonly number[], b: readonly number[]): number => {
      for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
      return a.length - b.length;
    };
    fc.assert(
      fc.property(arcs, arcs, (a, b) => {
        expect(Math.sign(compareOid(text(a), text(b)))).toBe(Math.sign(byArcs(a, b)));
      }),
      { numRuns: 2000 },
    );
  });
  it.each([
    ['1.3.9', '1.3.10'],
    ['1.3.1.5', '1.3.10'],
    ['1.3.6', '1.3.6.1'],
    ['1.3', '1.31'],
  ])('%s before %s', (a, b) => {
    expect(compareOid(a, b)).toBeLessThan(0);
    expect(compareOid(b, a)).toBeGreaterThan(0);
  });
});

describe('prefixes', () => {
  it('end at a sub-identifier', () => {
    expect(isUnder('1.3.6.10', '1.3.6.1')).toBe(false);
    expect(isUnder('1.3.6.1', '1.3.6.1')).toBe(true);
  });
});
