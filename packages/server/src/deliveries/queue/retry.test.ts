import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GIVE_UP_MS, isReported, nextAttempt } from './retry.ts';

describe('the next attempt', () => {
  const tried = { attempts: 1, begunAt: 0, now: 0, retryAfterMs: null, random: 0 };
  it.each([
    ['after the first', tried, 5_000],
    ['after the third', { ...tried, attempts: 3 }, 120_000],
    ['after many', { ...tried, attempts: 20 }, 4 * 3600_000],
    ['as the target asks', { ...tried, retryAfterMs: 60_000 }, 60_000],
    ['not in a week because it asks so', { ...tried, retryAfterMs: 7 * 86_400_000 }, 3600_000],
    ['not earlier because it asks so', { ...tried, retryAfterMs: 1 }, 5_000],
    ['not after its day', { ...tried, attempts: 20, now: 21 * 3600_000 }, null],
  ])('%s', (_what, given, expected) => {
    expect(nextAttempt(given)).toBe(expected);
  });

  it('comes at least ten times within a day, and none after it', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (random) => {
        let [now, attempts]: [number | null, number] = [0, 0];
        while (now !== null) {
          expect(now).toBeLessThanOrEqual(GIVE_UP_MS);
          attempts += 1;
          now = nextAttempt({ attempts, begunAt: 0, now, retryAfterMs: null, random });
        }
        expect(attempts).toBeGreaterThanOrEqual(10);
        expect(attempts).toBeLessThan(20);
      }),
    );
  });
});

describe('a failing target', () => {
  const missed = { again: false, begunAt: 0, next: 5_000, ms: 100 };
  it.each([
    ['is no news after one failure', missed, false],
    ['after the second', { ...missed, again: true }, true],
    ['after one that takes as long as a mail may', { ...missed, next: 50_000, ms: 45_000 }, true],
    ['after one, where it wants to be left alone for a minute', { ...missed, next: 60_000 }, true],
    ['after one, where there is no other', { ...missed, next: null }, true],
  ])('is told: %s', (_what, given, expected) => {
    expect(isReported(given)).toBe(expected);
  });
});
