import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

describe('turns', () => {
  it('one at a time; of those that wait the lowest rank first, of equals whoever came first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }), async (ranks) => {
        const turns = new Turns();
        const order: number[] = [];
        let at = 0;
        await Promise.all(
          ranks.map((rank, i) =>
            turns.take(rank, async () => {
              at += 1;
              expect(at).toBe(1);
              await Promise.resolve();
              order.push(i);
              at -= 1;
            }),
          ),
        );
        const [first = 0, ...others] = ranks.map((_, i) => i);
        // Whoever found it free began; the sort keeps equals as they came.
        expect(order).toEqual([first, ...others.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0))]);
      }),
    );
  });

  it('go on when one of them fails, and are free when all are over', async () => {
    const turns = new Turns();
    const failed = turns.take(0, () => Promise.reject(new Error('refused')));
    const next = turns.take(0, async () => 'next');
    await expect(failed).rejects.toThrow('refused');
    expect(await next).toBe('next');
    expect(await turns.take(0, async () => 'free')).toBe('free');
  });

  it('nobody who asks in between gets in before one that waited', async () => {
    const turns = new Turns();
    const order: string[] = [];
    const first = turns.take(0, async () => void order.push('first'));
    const waited = turns.take(0, async () => void order.push('waited'));
    const late = first.then(() => turns.take(0, async () => void order.push('late')));
    await Promise.all([waited, late]);
    expect(order).toEqual(['first', 'waited', 'late']);
  });
});
