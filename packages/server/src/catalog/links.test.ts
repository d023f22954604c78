import { describe, expect, it } from 'vitest';
import { linksOf, type NeighbourReport } from './links.ts';

const report = (
  from: string,
  ifIndex: number | null,
  to: string,
  far: number | null,
  more: Partial<NeighbourReport> = {},
): NeighbourReport => ({
  deviceId: from,
  interfaceId: null,
  ifIndex,
  port: ifIndex === null ? null : `port ${ifIndex}`,
  operStatus: 1,
  speedBps: null,
  protocol: 'lldp',
  remoteId: to,
  remoteInterfaceId: null,
  remoteIfIndex: far,
  remotePort: null,
  lastSeen: 100,
  ...more,
});
const drawn = (reports: NeighbourReport[]) =>
  linksOf(reports)
    .map(({ a, b }) => `${a.deviceId}${a.ifIndex ?? '?'}-${b.deviceId}${b.ifIndex ?? '?'}`)
    .sort();

describe('links', () => {
  it.each<[string, NeighbourReport[], string[]]>([
    ['both ends agree', [report('A', 1, 'B', 5), report('B', 5, 'A', 1)], ['A1-B5']],
    [
      'two protocols on one cable',
      [report('A', 1, 'B', 5), report('A', 1, 'B', 5, { protocol: 'cdp' })],
      ['A1-B5'],
    ],
    ['one end does not know the other port', [report('A', 1, 'B', null), report('B', 5, 'A', 1)], ['A1-B5']],
    ['neither knows the other port', [report('A', 1, 'B', null), report('B', 5, 'A', null)], ['A1-B5']],
    [
      'two parallel cables',
      [report('A', 1, 'B', 5), report('A', 2, 'B', 6), report('B', 5, 'A', 1)],
      ['A1-B5', 'A2-B6'],
    ],
    [
      'two parallel cables, far ports unknown',
      [report('A', 1, 'B', null), report('A', 2, 'B', null), report('B', 5, 'A', 1), report('B', 6, 'A', 2)],
      ['A1-B5', 'A2-B6'],
    ],
    ['a cable from a box to itself', [report('A', 1, 'A', 2)], []],
    ['only one end speaks', [report('B', 5, 'A', null)], ['A?-B5']],
    [
      'ports known by name only',
      [report('A', null, 'B', null, { port: 'x' }), report('A', null, 'B', null, { port: 'y' })],
      ['A?-B?', 'A?-B?'],
    ],
  ])('%s', (_name, reports, expected) => {
    expect(drawn(reports)).toEqual(expected);
    expect(drawn(reports.toReversed())).toEqual(expected);
  });

  it('is up when every known end is, down when one is', () => {
    const state = (a: number | null, b: number | null) =>
      linksOf([report('A', 1, 'B', 5, { operStatus: a }), report('B', 5, 'A', 1, { operStatus: b })])[0]
        ?.status;
    expect([state(1, 1), state(1, 2), state(7, 1), state(null, 1), state(null, null), state(4, 1)]).toEqual([
      'up',
      'down',
      'down',
      'up',
      'unknown',
      'unknown',
    ]);
  });

  it('is as fast as its slower end, and was seen when it was seen last', () => {
    const [link] = linksOf([
      report('A', 1, 'B', 5, { speedBps: 1e9, lastSeen: 5 }),
      report('B', 5, 'A', 1, { speedBps: 1e8, lastSeen: 9 }),
    ]);
    expect(link).toMatchObject({ speedBps: 1e8, lastSeen: 9 });
  });
});
