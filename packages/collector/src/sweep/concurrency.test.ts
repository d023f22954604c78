import { describe, expect, test } from 'vitest';
import { AdaptiveConcurrency } from './concurrency.ts';

const after = (judgements: number, concurrency: AdaptiveConcurrency, judge: () => void): number => {
  for (let i = 0; i < judgements; i += 1) judge();
  return concurrency.present;
};

describe('how many agents are read at once', () => {
  test('more while the network is what is waited for, up to a bound', () => {
    const concurrency = new AdaptiveConcurrency();
    const first = concurrency.present;
    expect(concurrency.judge(0.3)).toBeGreaterThan(first);
    expect(after(100, concurrency, () => concurrency.judge(0.3))).toBe(256);
  });

  test('fewer while the process itself is, down to a bound', () => {
    const concurrency = new AdaptiveConcurrency();
    expect(after(100, concurrency, () => concurrency.judge(1))).toBe(32);
    expect(concurrency.judge(0.2)).toBe(48);
  });

  test('half when a seventh of the requests is lost, whatever else', () => {
    const concurrency = new AdaptiveConcurrency();
    after(100, concurrency, () => concurrency.judge(0.1));
    concurrency.report(80, 20);
    expect(concurrency.judge(0.1)).toBe(128);
    // Judged once: what was lost then says nothing of now.
    expect(concurrency.judge(0.1)).toBe(192);
  });

  test('a handful of answers proves nothing', () => {
    const concurrency = new AdaptiveConcurrency();
    concurrency.report(2, 8);
    expect(concurrency.judge(0.1)).toBe(96);
  });
});
