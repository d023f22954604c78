import { describe, expect, it } from 'vitest';
import { spanAt, spansOf, timeOf } from './spans.ts';

const counts = {
  ...{ from: 1_000, to: 1_950, step: 300 },
  counts: [
    { at: 900, kind: 'device.new', count: 2 },
    { at: 900, kind: 'address.moved', count: 1 },
    { at: 1_800, kind: 'endpoint.moved', count: 5 },
    { at: 1_800, kind: 'interface.added', count: 1 },
  ],
};

describe('time line of changes', () => {
  const spans = spansOf(counts);

  it('has every span of the time, cut at its ends, those without changes too', () => {
    expect(spans.map(({ from, to, total }) => [from, to, total])).toEqual([
      [1_000, 1_199, 3],
      [1_200, 1_499, 0],
      [1_500, 1_799, 0],
      [1_800, 1_950, 6],
    ]);
    expect(spans[0]?.counts).toEqual({ device: 2, interface: 0, other: 1, endpoint: 0 });
    expect(spans[3]?.counts).toEqual({ device: 0, interface: 1, other: 0, endpoint: 5 });
  });

  it('narrows to what is drawn over, in either direction', () => {
    expect(timeOf(spans, 2, 1)).toEqual({ from: '1200', to: '1799' });
    expect(timeOf(spans, 3, 3)).toEqual({ from: '1800', to: '1950' });
    expect([spanAt(0, 4), spanAt(0.5, 4), spanAt(1, 4), spanAt(-1, 4)]).toEqual([0, 2, 3, 0]);
  });
});
