import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Slots } from './slots.ts';

/** Slots whose work ends when it is told to; `begun` names it in the order it began. */
function stage(most: number) {
  const slots = new Slots(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (name: string) =>
    slots.take(name.charAt(0), async () => {
      begun.push(name);
      await new Promise<void>((end) => ends.set(name, end));
    });
  const settle = () => new Promise(setImmediate);
  const end = async (name: string) => {
    ends.get(name)?.();
    await settle();
  };
  return { take, begun, end, settle };
}

describe('slots', () => {
  it('go to different sites first, then to who waits longest', async () => {
    const { take, begun, end, settle } = stage(2);
    for (const name of ['a1', 'b1', 'a2', 'a3', 'c1', 'b2']) void take(name);
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('all go to one site where no other has work', async () => {
    const { take, begun, settle } = stage(2);
    for (const name of ['a1', 'a2', 'a3']) void take(name);
    await settle();
    expect(begun).toEqual(['a1', 'a2']);
  });

  it('are free again after what failed', async () => {
    const slots = new Slots(1);
    await expect(slots.take('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await slots.take('a', async () => 'done')).toBe('done');
  });

  it('are never more than there are, keep each site in order, and forget no work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 3 })), { maxLength: 30 }),
        async (most, works) => {
          const slots = new Slots(most);
          const begun: Record<string, number[]> = {};
          let [busy, done] = [0, 0];
          const all = works.map(([site, turns], i) =>
            slots.take(site, async () => {
              busy += 1;
              expect(busy).toBeLessThanOrEqual(most);
              begun[site] = [...(begun[site] ?? []), i];
              for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
              busy -= 1;
              done += 1;
            }),
          );
          await Promise.all(all);
          expect(done).toBe(works.length);
          for (const order of Object.values(begun)) expect(order).toEqual(order.toSorted((a, b) => a - b));
        },
      ),
    );
  });
});
