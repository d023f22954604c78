import { describe, expect, it } from 'vitest';
import { inPieces } from './pieces.ts';

describe('work in pieces', () => {
  it('lets all else have its turn, and keeps the order', async () => {
    let [turns, over] = [0, false];
    const turn = () => {
      turns += 1;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    const items = Array.from({ length: 60 }, (_, i) => i);
    const results = await inPieces(items, (item, i) => {
      for (const begun = performance.now(); performance.now() - begun < 1; );
      return `${item}/${i}`;
    });
    over = true;
    expect(results).toEqual(items.map((i) => `${i}/${i}`));
    // 60 ms of work in pieces of some 3; however slow the machine, there are several.
    expect(turns).toBeGreaterThan(5);
  });

  it('fails as its work does', async () => {
    await expect(
      inPieces([1], () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
  });
});
