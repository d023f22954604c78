import { describe, expect, it } from 'vitest';
import { isUuid, uuidv7 } from './uuid.ts';

describe('uuidv7', () => {
  it('has the time in front, version and variant in their places, and all else by chance', () => {
    const now = Date.parse('2026-11-24T06:00:00.123Z');
    const made = Array.from({ length: 5_000 }, () => uuidv7(now));
    expect(new Set(made).size).toBe(made.length);
    for (const id of made) {
      expect(isUuid(id)).toBe(true);
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(now);
      expect(id).toMatch(/^.{14}7.{4}[89ab]/);
    }
    // RFC 9562, 5.7: bits 48 to 51 and 64 to 65 are fixed, of the others each digit takes every value.
    for (const place of [15, 16, 17, 20, 21, 22, ...Array.from({ length: 12 }, (_, i) => 24 + i)])
      expect(new Set(made.map((id) => id[place])).size, `digit ${place}`).toBe(16);
    expect(new Set(made.map((id) => id[19]))).toEqual(new Set('89ab'));
  });

  it('comes in the order of time', () => {
    const times = [0, 1, 0xffff, 0x10000, 1_700_000_000_000, 1_700_000_000_001, 2 ** 47];
    const ids = times.map((time) => uuidv7(time));
    expect([...ids].sort()).toEqual(ids);
  });
});
