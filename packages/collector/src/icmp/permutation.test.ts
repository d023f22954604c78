import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Permutation } from './permutation.ts';

const key = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('Permutation', () => {
  it('visits every index once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), key, (size, bytes) => {
        const order = new Permutation(size, bytes);
        const seen = new Set(Array.from({ length: size }, (_, position) => order.at(position)));
        expect(seen.size).toBe(size);
        expect([...seen].every((index) => index >= 0 && index < size)).toBe(true);
      }),
    );
  });

  it('visits a /12 once', () => {
    const size = 2 ** 20 - 2;
    const order = new Permutation(size, new Uint8Array(16).fill(7));
    const seen = new Uint8Array(size);
    for (let position = 0; position < size; position += 1) seen[order.at(position)] = 1;
    expect(seen.indexOf(0)).toBe(-1);
  });

  it('spreads: neighbours in time are not neighbours in address, and another key gives another order', () => {
    const [a, b] = [1, 2].map((n) => new Permutation(65_536, new Uint8Array(16).fill(n)));
    const first = (order: Permutation | undefined) =>
      Array.from({ length: 256 }, (_, i) => order?.at(i) ?? -1);
    expect(first(a)).not.toEqual(first(b));
    const nets = new Set(first(a).map((index) => index >> 8));
    expect(nets.size).toBeGreaterThan(100);
  });

  it('knows no position outside', () => {
    const order = new Permutation(10, new Uint8Array(16));
    for (const position of [-1, 10, Number.NaN]) expect(() => order.at(position)).toThrow(RangeError);
  });
});
