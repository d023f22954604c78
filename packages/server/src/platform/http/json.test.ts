import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_DEPTH, readJson } from './json.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('readJson', () => {
  it.each([
    ['{"a":1,"a":2}', 'the key "a" stands twice'],
    ['[{"a":1},{"b":{"c":1,"c":1}}]', 'the key "c" stands twice'],
    ['{"a":1,"\\u0061":2}', 'the key "a" stands twice'],
    ['{"__proto__":{"admin":true}}', 'the key __proto__ is not allowed'],
    ['{"a":{"constructor":{"prototype":{}}}}', 'the key constructor is not allowed'],
    ['{"\\u005f_proto__":1}', 'the key __proto__ is not allowed'],
    [nested(JSON_DEPTH + 1), `the body is nested deeper than ${JSON_DEPTH} levels`],
    [nested(100_000), `the body is nested deeper than ${JSON_DEPTH} levels`],
    ['"a\\u0000b"', 'text must not contain NUL'],
    ['{"\\u0000":1}', 'text must not contain NUL'],
    ['"\\ud800"', 'text must be valid Unicode (a surrogate stands alone)'],
    ['{"a":', 'the body is not valid JSON'],
    ['', 'the body is not valid JSON'],
  ])('refuses %.60s', (text, reason) => {
    expect(readJson(text)).toEqual({ ok: false, reason });
  });

  it.each([
    ['{"a":{"x":1},"b":{"x":2}}'],
    ['["a","a",{"a":"a"}]'],
    ['{"a":["x,{\\"a\\":1}"],"b":"\\\\"}'],
    [nested(JSON_DEPTH)],
    ['"\\ud83d\\ude00"'],
    ['"__proto__"'],
  ])('accepts %s', (text) => {
    expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('never throws, and accepts every value that JSON.stringify wrote within the rules', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void readJson(text)));
    const value = fc.jsonValue({ maxDepth: 8, stringUnit: 'grapheme' });
    fc.assert(
      fc.property(value, (v) => {
        const text = JSON.stringify(v);
        fc.pre(!/constructor|prototype|__proto__|\\u0000/.test(text));
        expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });
});
