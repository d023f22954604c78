import { describe, expect, it } from 'vitest';
import { upBetween } from './merge-interfaces.ts';

const HOUR = 3_600_000;
const [UP, DOWN] = [1, 2];

describe('a port that two readings found down', () => {
  it.each([
    [
      'was up between them: its state changed since',
      { operStatus: DOWN, lastChange: HOUR },
      DOWN,
      50 * HOUR,
      0,
      50 * HOUR,
    ],
    [
      'was not: it changed when the device started',
      { operStatus: DOWN, lastChange: HOUR },
      DOWN,
      50 * HOUR + 60_000,
      50 * HOUR,
      null,
    ],
    ['was not: its state is of before', { operStatus: DOWN, lastChange: HOUR }, DOWN, HOUR, 0, null],
    [
      'was up at the first: that is told otherwise',
      { operStatus: UP, lastChange: HOUR },
      DOWN,
      50 * HOUR,
      0,
      null,
    ],
    ['is up now', { operStatus: DOWN, lastChange: HOUR }, UP, 50 * HOUR, 0, null],
    ['says nothing', { operStatus: DOWN, lastChange: null }, DOWN, 50 * HOUR, 0, null],
    ['starts at an unknown time', { operStatus: DOWN, lastChange: HOUR }, DOWN, 50 * HOUR, null, null],
  ])('%s', (_what, before, operStatus, lastChange, bootedAt, expected) => {
    expect(upBetween(before, { operStatus, lastChange }, bootedAt)).toBe(expected);
  });

  it('is not known before', () =>
    expect(upBetween(undefined, { operStatus: DOWN, lastChange: HOUR }, 0)).toBeNull());
});
