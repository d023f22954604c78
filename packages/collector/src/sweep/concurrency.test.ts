import { describe, expect, test } from 'vitest';
import { AdaptiveConcurrency } from './concurrency.ts';

const after = (judgements: number, width: AdaptiveConcurrency, judge: () => void): number => {
  for (let i = 0; i < judgements; i += 1) judge();
  return width.present;
};

describe('how many agents are read at once', () => {
  test('more while the network is what is waited for, up to a bound', () => {
    const width = new AdaptiveConcurrency();
    const first = width.present;
    expect(width.judge(0.3)).toBeGreaterThan(first);
    expect(after(100, width, () => width.judge(0.3))).toBe(256);
  });

  test('fewer while the process itself is, down to a bound', () => {
    const width = new AdaptiveConcurrency();
    expect(after(100, width, () => width.judge(1))).toBe(32);
    expect(width.judge(0.2)).toBe(48);
  });

  test('half when a seventh of the requests is lost, whatever else', () => {
    const width = new AdaptiveConcurrency();
    after(100, width, () => width.judge(0.1));
    width.heard(80, 20);
    expect(width.judge(0.1)).toBe(128);
    // Judged once: what was lost then says nothing of now.
    expect(width.judge(0.1)).toBe(192);
  });

  test('a handful of answers proves nothing', () => {
    const width = new AdaptiveConcurrency();
    width.heard(2, 8);
    expect(width.judge(0.1)).toBe(96);
  });
});
