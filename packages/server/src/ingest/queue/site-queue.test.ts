import { STREAMS } from '@rollcall/shared/observation';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSiteQueue, SiteQueue, WINDOWS } from './site-queue.ts';

/** A queue whose work ends when it is told to; `begun` names it in the order it began. */
function stage(most: number) {
  const queue = new SiteQueue(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (name: string) =>
    queue.take(name.charAt(0), async () => {
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

describe('the queue of ingest', () => {
  it('serves different sites first, then who waits longest', async () => {
    const { take, begun, end, settle } = stage(2);
    for (const name of ['a1', 'b1', 'a2', 'a3', 'c1', 'b2']) void take(name);
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('gives one site two places at most, so that another finds one at once', async () => {
    const { take, begun, end, settle } = stage(4);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) void take(name);
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a2');
    expect(begun.at(-1)).toBe('a3');
  });

  it.each(STREAMS)('leaves a place for %s of another site, however much one site sends', async (stream) => {
    const take = openSiteQueue(WINDOWS);
    for (let i = 0; i < 10; i++) void take({ stream, siteId: 'a' }, () => new Promise(() => undefined));
    expect(await take({ stream, siteId: 'b' }, async () => 'stored')).toBe('stored');
  });

  it('goes on after what failed', async () => {
    const queue = new SiteQueue(1);
    await expect(queue.take('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await queue.take('a', async () => 'done')).toBe('done');
  });

  it('never does more at once than it may, keeps each site in order, and forgets no work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 3 })), { maxLength: 30 }),
        async (most, works) => {
          const queue = new SiteQueue(most);
          const begun: Record<string, number[]> = {};
          let [busy, done] = [0, 0];
          const all = works.map(([site, turns], i) =>
            queue.take(site, async () => {
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
