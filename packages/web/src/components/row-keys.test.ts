import { describe, expect, it } from 'vitest';
import { type Keyed, NO_ROWS, rowKeys } from './row-keys.ts';

const rowsOf = (ids: (string | undefined)[], from = 0) => ids.map((id, i) => ({ index: from + i, id }));
const keysOf = ({ rows }: Keyed) => rows.map(({ key }) => key);
const numbered = (from: number, count: number) =>
  rowsOf(
    Array.from({ length: count }, (_, i) => `item ${from + i}`),
    from,
  );

describe('keys of rows', () => {
  it('another list takes over the rows that are there', () => {
    const first = rowKeys(rowsOf(['a', 'b', 'c']), NO_ROWS);
    const other = rowKeys(rowsOf(['x', 'y', 'z']), first);
    expect(keysOf(other)).toEqual(keysOf(first));
  });

  it('rows that were blank are filled, all of them or some', () => {
    const blank = rowKeys(rowsOf(['a', 'b', 'c', undefined, undefined], 40), NO_ROWS);
    expect(keysOf(rowKeys(rowsOf(['a', 'b', 'c', 'd', 'e'], 40), blank))).toEqual(keysOf(blank));
    const none = rowKeys(rowsOf([undefined, undefined], 40), NO_ROWS);
    expect(keysOf(rowKeys(rowsOf(['a', 'b'], 40), none))).toEqual(keysOf(none));
  });

  it('one that moves keeps its key; one that comes in between has a key of its own', () => {
    const before = rowKeys(rowsOf(['a', 'b', 'c']), NO_ROWS);
    const [a, b, c] = keysOf(before);
    const moved = rowKeys(rowsOf(['a', 'new', 'b', 'c']), before);
    const keys = keysOf(moved);
    expect([keys[0], keys[2], keys[3]]).toEqual([a, b, c]);
    expect(new Set(keys).size).toBe(4);
    expect(keysOf(rowKeys(rowsOf(['new', 'c', 'b']), moved))).toEqual([keys[1], c, b]);
  });

  it('a row further, those that stay keep theirs; a page further, the rows are there and none is built or moved', () => {
    const before = rowKeys(numbered(10, 12), NO_ROWS);
    const next = rowKeys(numbered(11, 12), before);
    expect(keysOf(next).slice(0, 11)).toEqual(keysOf(before).slice(1));
    const further = rowKeys(numbered(21, 12), next);
    expect(keysOf(further)).toEqual(keysOf(next));
    expect(keysOf(rowKeys(numbered(7, 14), further)).slice(0, 12)).toEqual(keysOf(next));
  });

  it('the row with the focus keeps its item, and comes to no other', () => {
    const before = rowKeys(numbered(10, 12), NO_ROWS);
    const [lost, , , , , , , , , , , kept] = keysOf(before);
    const onward = rowKeys(numbered(20, 12), before, kept);
    expect(onward.rows.find(({ key }) => key === kept)?.id).toBe('item 21');
    const away = keysOf(rowKeys(numbered(20, 12), before, lost));
    expect(away).not.toContain(lost);
    expect(away.slice(0, 11)).toEqual(keysOf(before).slice(1));
  });

  it('an item that is named twice has two rows', () => {
    const before = rowKeys(rowsOf(['a', 'b']), NO_ROWS);
    expect(new Set(keysOf(rowKeys(rowsOf(['a', 'a', 'b']), before))).size).toBe(3);
  });

  it('no two rows share a key, whatever comes, goes and moves; an item that stays among most keeps its own', () => {
    let state = 7;
    const below = (most: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % most;
    };
    let before = NO_ROWS;
    for (let round = 0; round < 500; round++) {
      const ids = [...new Set(Array.from({ length: 12 }, () => `id ${below(20)}`))];
      const rows = rowsOf(
        ids.map((id) => (below(5) === 0 ? undefined : id)),
        below(6),
      );
      const held = before.rows[below(30)]?.key;
      const next = rowKeys(rows, before, held);
      expect(new Set(keysOf(next)).size).toBe(rows.length);
      const had = new Map(before.rows.map(({ id, key }) => [id, key]));
      const stay = next.rows.filter(({ id }) => id !== undefined && had.has(id));
      const heldId = before.rows.find(({ key }) => key === held)?.id;
      if (stay.length * 2 >= rows.length || stay.some(({ id }) => id === heldId))
        for (const { id, key } of stay) expect(key).toBe(had.get(id));
      for (const { id, key } of next.rows) if (key === held) expect(id).toBe(heldId);
      before = next;
    }
  });
});
