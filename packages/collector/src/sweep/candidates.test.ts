import { describe, expect, test } from 'vitest';
import { Candidates } from './candidates.ts';

const make = () => new Candidates((index) => ({ address: `a${index}` }));
const take = async (candidates: Candidates, count: number): Promise<string[]> => {
  const taken: string[] = [];
  const iterator = candidates[Symbol.asyncIterator]();
  while (taken.length < count) {
    const next = await iterator.next();
    if (next.done) break;
    taken.push(`${next.value.address}${next.value.alive ? '!' : ''}`);
  }
  return taken;
};

describe('candidates', () => {
  test('who answered comes before who did not, also when it comes later', async () => {
    const candidates = make();
    candidates.silent(1);
    candidates.silent(2);
    candidates.alive(3);
    const iterator = candidates[Symbol.asyncIterator]();
    const next = async () => (await iterator.next()).value?.address;
    expect(await next()).toBe('a3');
    expect(await next()).toBe('a1');
    candidates.alive(4);
    expect(await next()).toBe('a4');
    expect(await next()).toBe('a2');
  });

  test('waits for more, and ends at end()', async () => {
    const candidates = make();
    const taking = take(candidates, 10);
    candidates.alive(1);
    await new Promise((resolve) => setImmediate(resolve));
    candidates.silent(2);
    candidates.end();
    expect(await taking).toEqual(['a1!', 'a2']);
  });

  test('hands out each of many once, in order', async () => {
    const candidates = make();
    for (let i = 0; i < 50_000; i++) candidates.silent(i);
    candidates.end();
    expect(await take(candidates, 60_000)).toEqual(Array.from({ length: 50_000 }, (_, i) => `a${i}`));
  });

  test('holds up who adds too many, until some were taken, or nobody takes any more', async () => {
    const candidates = make();
    for (let i = 0; i < 9_999; i++) candidates.alive(i);
    expect(candidates.room()).toBeUndefined();
    candidates.alive(9_999);
    const room = candidates.room();
    expect(room).toBeInstanceOf(Promise);
    const iterator = candidates[Symbol.asyncIterator]();
    await iterator.next();
    await room;
    expect(candidates.room()).toBeUndefined();
    candidates.alive(0);
    const again = candidates.room();
    await iterator.return();
    await again;
  });
});
