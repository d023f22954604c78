import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { common, type Span, union, without } from '../../platform/time-spans.ts';
import { divide, measure, percentOf, sum } from './spans.ts';

const MOST = 60;
const span = fc
  .tuple(fc.integer({ min: -5, max: MOST }), fc.integer({ min: 0, max: 20 }))
  .map(([from, length]): Span => ({ from, until: from + length }));
const spans = fc.array(span, { maxLength: 8 });
const lies = (set: readonly Span[], second: number) =>
  set.some(({ from, until }) => from <= second && second < until);
/** Which state a second has, told by the rules alone. */
const stateOf = (
  known: { maintenance: Span[]; observed: Span[]; down: Span[] },
  second: number,
): 'maintenance' | 'notObserved' | 'down' | 'up' => {
  if (lies(known.maintenance, second)) return 'maintenance';
  if (!lies(known.observed, second)) return 'notObserved';
  return lies(known.down, second) ? 'down' : 'up';
};
const seconds = Array.from({ length: MOST + 30 }, (_, i) => i - 5);

describe('spans of availability', () => {
  it('as sets', () =>
    fc.assert(
      fc.property(spans, spans, (a, b) => {
        const [one, other] = [union(a), union(b)];
        const [both, rest] = [common(one, other), without(one, other)];
        for (const second of seconds) {
          expect(lies(one, second)).toBe(lies(a, second));
          expect(lies(both, second)).toBe(lies(a, second) && lies(b, second));
          expect(lies(rest, second)).toBe(lies(a, second) && !lies(b, second));
        }
        for (const set of [one, both, rest])
          for (const [i, { from, until }] of set.entries()) {
            expect(from).toBeLessThan(until);
            expect(set[i + 1]?.from ?? until).toBeGreaterThanOrEqual(until);
          }
      }),
    ));

  it('every second of every part has exactly one state, the one that the order of the rules gives it', () =>
    fc.assert(
      fc.property(
        fc.record({ maintenance: spans, observed: spans, down: spans }),
        fc.uniqueArray(fc.integer({ min: 0, max: MOST }), { minLength: 2, maxLength: 7 }),
        (known, borders) => {
          const sorted = [...borders].sort((a, b) => a - b);
          const parts = sorted.slice(1).map((until, i) => ({ from: sorted[i] ?? 0, until }));
          const period = { from: sorted[0] ?? 0, until: sorted.at(-1) ?? 0 };
          const measured = measure(divide(known, period), parts);
          for (const [i, { from, until }] of parts.entries()) {
            const counted = { up: 0, down: 0, maintenance: 0, notObserved: 0 };
            for (let second = from; second < until; second++) counted[stateOf(known, second)] += 1;
            expect(measured[i]).toEqual(counted);
          }
          const { up, down, maintenance, notObserved } = sum(measured);
          expect(up + down + maintenance + notObserved).toBe(period.until - period.from);
        },
      ),
    ));

  it('percent of what was observed outside of maintenance', () => {
    expect(percentOf({ up: 999, down: 1, maintenance: 500, notObserved: 7 })).toBe(99.9);
    expect(percentOf({ up: 0, down: 0, maintenance: 5, notObserved: 7 })).toBeNull();
  });
});
