import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keys, parseSearch, splitCodes, splitWords, stringifySearch } from './search.ts';

it('keeps the known parameters that say something, and nothing else', () => {
  expect(keys('q', 'site', 'sort')({ q: 'core', site: '', sort: 3, evil: 'x' })).toEqual({ q: 'core' });
});

it('leaves out what is empty, and writes plainly what needs no escape', () => {
  expect(stringifySearch({ Status: '0,1', q: '', site: undefined, Address: '10.0.0.0/8', at: 'a:b&c' })).toBe(
    '?Status=0,1&Address=10.0.0.0/8&at=a:b%26c',
  );
  expect(stringifySearch({})).toBe('');
});

it('reads back what it wrote, whatever was typed', () => {
  const search = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: 'grapheme' }));
  fc.assert(
    fc.property(search, (written) => {
      expect(parseSearch(stringifySearch(written))).toEqual({ ...written });
    }),
  );
});

it('splits codes and words', () => {
  expect(splitCodes(undefined)).toEqual([]);
  expect(splitCodes('0,1')).toEqual(['0', '1']);
  expect(splitWords(' 10.0.0.0/8, ::1;\n10.1.0.1 ')).toEqual(['10.0.0.0/8', '::1', '10.1.0.1']);
});
