import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { watcherOf } from './share.ts';

const devices = Array.from({ length: 10_000 }, () => randomUUID());
const collectors = Array.from({ length: 4 }, () => randomUUID());
const shares = (of: readonly string[]) => {
  const counts = new Map(of.map((id) => [id, 0]));
  for (const device of devices) {
    const watcher = watcherOf(device, of) ?? '';
    counts.set(watcher, (counts.get(watcher) ?? 0) + 1);
  }
  return [...counts.values()];
};

describe('who watches what', () => {
  it('is nobody where there is nobody, and everything where there is one', () => {
    expect(watcherOf('x', [])).toBeUndefined();
    expect(shares(collectors.slice(0, 1))).toEqual([10_000]);
  });

  it('is about the same for each', () => {
    for (const share of shares(collectors)) expect(Math.abs(share - 2500)).toBeLessThan(250);
  });

  it('does not depend on the order', () => {
    for (const device of devices.slice(0, 500))
      expect(watcherOf(device, collectors)).toBe(watcherOf(device, [...collectors].reverse()));
  });

  it('moves only what belonged to the one that went', () => {
    const [gone, ...left] = collectors;
    for (const device of devices) {
      const before = watcherOf(device, collectors);
      if (before !== gone) expect(watcherOf(device, left)).toBe(before);
    }
  });
});
