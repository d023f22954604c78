import { describe, expect, it } from 'vitest';
import { boundsOf, levelOf, months, percentText } from './month.ts';

describe('months of a report', () => {
  it('begin with the one that it is in the zone', () => {
    const now = Date.parse('2026-10-31T23:30:00Z');
    expect(months(now, 'UTC')[0]).toEqual({ value: '2026-10', label: 'October 2026' });
    expect(months(now, 'Europe/Berlin').slice(0, 2)).toEqual([
      { value: '2026-11', label: 'November 2026' },
      { value: '2026-10', label: 'October 2026' },
    ]);
    expect(months(now, 'UTC').at(-1)?.value).toBe('2024-11');
  });

  it('have bounds where local days begin, in summer and in winter', () => {
    const { from, to, days } = boundsOf('2026-10', 'Europe/Berlin');
    expect([from, to].map((at) => new Date(at * 1000).toISOString())).toEqual([
      '2026-09-30T22:00:00.000Z',
      '2026-10-31T23:00:00.000Z',
    ]);
    expect(days).toBe(31);
    expect(boundsOf('2028-02', 'UTC').days).toBe(29);
  });

  it('percentages are never rounded up', () => {
    expect([100, 99.999, 99.9, 0, null].map((one) => percentText(one))).toEqual([
      '100',
      '99.99',
      '99.9',
      '0',
      '–',
    ]);
    expect(percentText(99.99, 1)).toBe('99.9');
    expect([100, 99.999, 99.5, 98, null].map(levelOf)).toEqual(['full', 'high', 'fair', 'low', 'none']);
  });
});
