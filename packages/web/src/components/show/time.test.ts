import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { absolute, ago, duration, fromWallClock, toWallClock } from './time.tsx';

const NOW = 1_763_773_200;

it.each([
  [NOW, 'now'],
  [NOW - 29, 'now'],
  [NOW - 30, '30 s ago'],
  [NOW - 187, '3 min ago'],
  [NOW - 7_199, '1 h ago'],
  [NOW - 3 * 86_400, '3 d ago'],
  [NOW + 7_200, 'in 2 h'],
])('%d is %s', (at, text) => expect(ago(at, NOW * 1000)).toBe(text));

it.each([
  [0, '0 s'],
  [-5, '0 s'],
  [59, '59 s'],
  [3_600, '1 h'],
  [3_661, '1 h 1 min'],
  [4 * 86_400 + 3 * 3_600 + 59, '4 d 3 h'],
  [86_400 + 59, '1 d'],
])('%d seconds last %s', (seconds, text) => expect(duration(seconds)).toBe(text));

describe('a time on the clock of a zone', () => {
  it('is written with Z in UTC only', () => {
    expect(absolute(NOW, 'UTC')).toBe('2025-11-22 01:00:00Z');
    expect(absolute(NOW, 'Europe/Berlin')).toBe('2025-11-22 02:00:00');
  });

  it('reads back as the same minute, around changes of the clock, too', () => {
    const minute = fc.integer({ min: 28_333_334, max: 30_000_000 }).map((one) => one * 60);
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu');
    fc.assert(
      fc.property(minute, zone, (at, zone) => {
        const read = fromWallClock(toWallClock(at, zone), zone);
        // The hour that is there twice: one of the two.
        expect([0, 3_600]).toContain(Math.abs(read - at));
        expect(toWallClock(read, zone)).toBe(toWallClock(at, zone));
      }),
    );
  });

  it.each([
    ['2026-03-29T01:59', '2026-03-29T00:59:00Z'],
    ['2026-03-29T03:00', '2026-03-29T01:00:00Z'],
    ['2026-10-25T04:00', '2026-10-25T03:00:00Z'],
  ])('%s in Berlin is %s', (typed, utc) =>
    expect(fromWallClock(typed, 'Europe/Berlin') * 1000).toBe(Date.parse(utc)),
  );
});
