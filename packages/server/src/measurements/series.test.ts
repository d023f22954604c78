import { METRIC_NAMES } from '@rollcall/shared/api/measurements';
import { expect, it } from 'vitest';
import { columnsOf, lastOf, ofSample } from './series.ts';

/** A sample of everything. */
const sample: Record<string, number> = {
  ...{ sent: 4, lost: 1, minMs: 1, avgMs: 2, maxMs: 3, speedBps: 1_000_000, sensor: 40 },
  ...{ inOctets: 10, outOctets: 20, inUnicast: 3, outUnicast: 4, inNonUnicast: 5, outNonUnicast: 6 },
  ...{ inErrors: 7, outErrors: 8, inDiscards: 9, outDiscards: 10 },
};

it.each(METRIC_NAMES)('%s follows from the columns that it names, and from no other', (metric) => {
  const columns = columnsOf(metric);
  const whole = lastOf(
    {
      end: [1],
      over: [60_000],
      columns: Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, [value]])),
    },
    metric,
  );
  expect(whole).not.toBeNull();
  const named = (column: string) => (columns.includes(column) ? (sample[column] ?? null) : null);
  expect(ofSample(metric, named, 60_000)).toBe(whole);
  for (const left of columns) {
    const value = ofSample(metric, (column) => (column === left ? null : named(column)), 60_000);
    expect(value).not.toBe(whole);
  }
});
