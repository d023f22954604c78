import { AGGREGATES } from '@rollcall/shared/api/measurements';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentile95, steps, summarise } from './aggregate.ts';
import { packChunk, unpackChunk } from './chunk.ts';
import { joined, type Series, type Span, spansOf } from './series.ts';

/** Intervals without overlap, in whole seconds. */
const spans = fc
  .array(fc.record({ gap: fc.nat(200), over: fc.integer({ min: 1, max: 400 }), mean: fc.nat(1e9) }), {
    maxLength: 60,
  })
  .map((drawn) => {
    let at = 0;
    return drawn.map(({ gap, over, mean }): Span => {
      const begins = at + gap * 1000;
      at = begins + over * 1000;
      return { begins, ends: at, mean, most: mean };
    });
  });

describe('steps', () => {
  it.each<[Span[], (number | null)[]]>([
    [[], [null, null]],
    [[{ begins: 0, ends: 60, mean: 4, most: 9 }], [4, null]],
    [[{ begins: 30, ends: 90, mean: 4, most: 9 }], [4, 4]],
    [
      [
        { begins: 0, ends: 30, mean: 0, most: 0 },
        { begins: 30, ends: 120, mean: 8, most: 8 },
      ],
      [4, 8],
    ],
    [[{ begins: -60, ends: 0, mean: 4, most: 4 }], [null, null]],
    [[{ begins: 120, ends: 180, mean: 4, most: 4 }], [null, null]],
  ])('of %j', (given, expected) =>
    expect(steps(given, { from: 0, to: 120, step: 60, aggregate: 'avg' })).toEqual(expected),
  );

  it('hold every octet: mean times covered time is the sum of what was measured', () =>
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 900 }), (given, seconds) => {
        const to = Math.max(1000, ...given.map(({ ends }) => ends));
        const step = seconds * 1000;
        const values = steps(given, { from: 0, to, step, aggregate: 'avg' });
        const covered = (i: number) =>
          given.reduce((sum, { begins, ends }) => {
            const length = Math.min(ends, (i + 1) * step) - Math.max(begins, i * step);
            return sum + Math.max(0, length);
          }, 0);
        const told = values.reduce<number>((sum, value, i) => sum + (value ?? 0) * covered(i), 0);
        const measured = given.reduce((sum, { begins, ends, mean }) => sum + mean * (ends - begins), 0);
        expect(Math.abs(told - measured)).toBeLessThanOrEqual(1e-9 * measured + 1e-6);
        for (const [i, value] of values.entries()) expect(value === null).toBe(covered(i) === 0);
      }),
    ));

  it('never exceed the largest value, nor fall below the smallest', () =>
    fc.assert(
      fc.property(
        spans,
        fc.constantFrom('avg' as const, 'min' as const, 'max' as const, 'p95' as const),
        (given, aggregate) => {
          const means = given.map(({ mean }) => mean);
          const values = steps(given, { from: 0, to: 1e7, step: 60_000, aggregate });
          for (const value of values) {
            if (value === null) continue;
            expect(value).toBeLessThanOrEqual(Math.max(...means) * (1 + 1e-12));
            expect(value).toBeGreaterThanOrEqual(Math.min(...means) * (1 - 1e-12));
          }
        },
      ),
    ));
});

it.each([
  [[], null],
  [[7], 7],
  [[...Array(100).keys()].map((n) => n + 1), 95],
  [[...Array(20).keys()].map((n) => n + 1), 19],
])('the 95th percentile leaves the highest 5 %% out', (values, expected) =>
  expect(percentile95(values)).toBe(expected),
);

describe('samples of a device', () => {
  const sample: Series = {
    end: [60_000, 120_000, 180_000],
    over: [60_000, 60_000, 60_000],
    columns: { inOctets: [7500, null, 15_000], sent: [4, 0, 4], lost: [4, 0, 1], avgMs: [null, null, 2] },
  };
  it('become metrics', () => {
    expect(spansOf(sample, 'in', false).map(({ mean }) => mean)).toEqual([1000, 2000]);
    expect(spansOf(sample, 'loss', false).map(({ mean }) => mean)).toEqual([100, 25]);
    expect(spansOf(sample, 'rtt', false)).toEqual([
      { begins: 120_000, ends: 180_000, mean: 2, most: 2, least: 2, p95: 2 },
    ]);
    expect(spansOf(sample, 'out', false)).toEqual([]);
  });

  it('are summarised with gaps, minima, maxima and 95th percentiles; what equals the mean or the maximum is left out', () =>
    expect(summarise(sample, { from: 0, to: 600_000, step: 300_000, summarised: false })).toEqual({
      end: [300_000, 600_000],
      over: [300_000, 300_000],
      columns: {
        in: [1500, null],
        'in:max': [2000, null],
        'in:min': [1000, null],
        loss: [62.5, null],
        'loss:max': [100, null],
        'loss:min': [25, null],
        rtt: [2, null],
      },
    }));

  it('are summarised with the gaps that an answer of that step tells, those that all but touch as one', () => {
    const reason = 'ambiguous' as const;
    const minutes = [0, 1, 2, 7].map((n) => ({ begins: n * 60_000 + 400, ends: (n + 1) * 60_000, reason }));
    const summary = summarise(
      joined([
        { ...sample, gaps: minutes.slice(0, 2) },
        { end: [], over: [], columns: {}, gaps: minutes.slice(2) },
      ]),
      { from: 0, to: 600_000, step: 300_000, summarised: false },
    );
    expect(summary.gaps).toEqual([{ begins: 400, ends: 180_000, reason }]);
  });

  it('give the same values at a step as their summaries of that step', () =>
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.nat(1e6)), { minLength: 1, maxLength: 120 }),
        fc.constantFrom(...AGGREGATES),
        (octets, aggregate) => {
          const series: Series = {
            end: octets.map((_, i) => (i + 1) * 60_000),
            over: octets.map(() => 60_000),
            columns: { inOctets: octets },
          };
          const asked = { from: 0, to: 7_200_000, step: 3_600_000 };
          const summary = summarise(series, { ...asked, summarised: false });
          const values = (of: Series, summarised: boolean) =>
            steps(spansOf(of, 'in', summarised), { ...asked, aggregate });
          // Summaries are of six digits.
          const rounded = (value: number | null | undefined) => value && Number(value.toPrecision(6));
          expect(values(summary, true).map(rounded)).toEqual(values(series, false).map(rounded));
        },
      ),
    ));

  it('are joined in order, one of each end', () => {
    const other: Series = { end: [90_000, 120_000], over: [30_000, 60_000], columns: { inOctets: [1, 2] } };
    expect(joined([sample, other])).toMatchObject({
      end: [60_000, 90_000, 120_000, 180_000],
      columns: { inOctets: [7500, 1, null, 15_000], sent: [4, null, 0, 4] },
    });
  });

  it('come out of a chunk as they went in, all or some', () =>
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.uuid(), { maxLength: 8 }),
        fc.array(fc.option(fc.nat()), { minLength: 1, maxLength: 30 }),
        (ids, values) => {
          const series: Series = {
            end: values.map((_, i) => i),
            over: values.map(() => 1),
            columns: { a: values },
          };
          const chunk = packChunk(new Map(['', ...ids].map((id) => [id, series])));
          expect([...unpackChunk(chunk)]).toEqual(['', ...ids].map((id) => [id, series]));
          expect([...unpackChunk(chunk, new Set(['']))]).toEqual([['', series]]);
        },
      ),
    ));
});
