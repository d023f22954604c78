import { describe, expect, it } from 'vitest';
import { rowKeys } from './row-keys.ts';

const rowsOf = (ids: (string | undefined)[], from = 0) => ids.map((id, i) => ({ index: from + i, id }));
const none = new Map<string, string>();

describe('keys of rows', () => {
  it('another list takes over the rows that are there', () => {
    const first = rowKeys(rowsOf(['a', 'b', 'c']), none);
    const other = rowKeys(rowsOf(['x', 'y', 'z']), first.known);
    expect(other.keys).toEqual(first.keys);
  });

  it('rows that were blank are filled', () => {
    const blank = rowKeys(rowsOf([undefined, undefined], 40), none);
    expect(rowKeys(rowsOf(['a', 'b'], 40), blank.known).keys).toEqual(blank.keys);
  });

  it('one that moves keeps its key; one that comes in between has a key of its own', () => {
    const { keys, known } = rowKeys(rowsOf(['a', 'b', 'c']), none);
    const [a, b, c] = keys;
    const moved = rowKeys(rowsOf(['a', 'new', 'b', 'c']), known);
    expect([moved.keys[0], moved.keys[2], moved.keys[3]]).toEqual([a, b, c]);
    expect(new Set(moved.keys).size).toBe(4);
    const gone = rowKeys(rowsOf(['new', 'c', 'b']), moved.known);
    expect(gone.keys).toEqual([moved.keys[1], c, b]);
  });

  it('an item that is named twice has two rows', () => {
    const { known } = rowKeys(rowsOf(['a', 'b']), none);
    expect(new Set(rowKeys(rowsOf(['a', 'a', 'b']), known).keys).size).toBe(3);
  });

  it('no two rows share a key, whatever comes, goes and moves; only those in view are remembered', () => {
    let state = 7;
    const below = (most: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % most;
    };
    let known: ReadonlyMap<string, string> = none;
    for (let round = 0; round < 500; round++) {
      const ids = [...new Set(Array.from({ length: 12 }, () => `id ${below(20)}`))];
      const rows = rowsOf(
        ids.map((id) => (below(5) === 0 ? undefined : id)),
        below(6),
      );
      const next = rowKeys(rows, known);
      expect(new Set(next.keys).size).toBe(rows.length);
      for (const [i, { id }] of rows.entries())
        if (id !== undefined && known.has(id)) expect(next.keys[i]).toBe(known.get(id));
      known = next.known;
      expect(known.size).toBeLessThanOrEqual(rows.length);
    }
  });
});
