import { describe, expect, it } from 'vitest';
import { staysOf } from './history.ts';

const at = (deviceId: string, since: number, until: number | null, bridges: string[] = []) => ({
  ...{ deviceId, ifIndex: 1, bridges, others: 0, since, until },
});
const stays = (...intervals: ReturnType<typeof at>[]) =>
  staysOf(intervals, ({ deviceId }) => deviceId, 100).map(({ from, to, verdict, ports }) => [
    ...[from, to, verdict],
    ports.map(({ deviceId }) => deviceId).join(' '),
  ]);

describe('where an address was over time', () => {
  it.each([
    ['it stays', [at('a', 1, null)], [[1, null, 'placed', 'a']]],
    [
      'it moves',
      [at('a', 1, 5), at('b', 5, null)],
      [
        [5, null, 'placed', 'b'],
        [1, 5, 'placed', 'a'],
      ],
    ],
    [
      'it moves before the old port forgets it',
      [at('a', 1, 7), at('b', 5, null)],
      [
        [7, null, 'placed', 'b'],
        [5, 7, 'alternatives', 'a b'],
        [1, 5, 'placed', 'a'],
      ],
    ],
    [
      'it is away',
      [at('a', 1, 3), at('a', 6, 9)],
      [
        [6, 9, 'placed', 'a'],
        [1, 3, 'placed', 'a'],
      ],
    ],
    ['another VLAN is the same port', [at('a', 1, 5), at('a', 5, null)], [[1, null, 'placed', 'a']]],
    ['an uplink learns it later', [at('a', 1, null), at('core', 3, null, ['a'])], [[1, null, 'placed', 'a']]],
    ['behind a bridge', [at('core', 1, null, ['a'])], [[1, null, 'unknown', '']]],
    ['nowhere', [], []],
  ])('%s', (_name, intervals, expected) => {
    expect(stays(...intervals)).toEqual(expected);
  });
});
