import { useCallback, useEffect, useRef } from 'react';

export interface KeyedRow {
  index: number;
  /** Of its item; none where that is not known yet. */
  id: string | undefined;
}

/** Rows in view with their keys, and the next key that none has had. */
export interface Keyed {
  rows: readonly (KeyedRow & { key: string })[];
  next: number;
}

export const NO_ROWS: Keyed = { rows: [], next: 0 };

/**
 * Keys of the rows in view, by which they keep their elements in the page. Where most items stay, each keeps its key
 * wherever it moves, with what is open or selected in it. Where most are others (a page further, another order or
 * filter), new words are written into the rows that are there, from the first to the last: none is built or moved.
 * `held` is the key of the row with the keyboard's focus: no other item ever comes under it.
 */
export function rowKeys(rows: readonly KeyedRow[], before: Keyed, held?: string): Keyed {
  const byId = new Map<string, string>();
  for (const { id, key } of before.rows) if (id !== undefined && !byId.has(id)) byId.set(id, key);
  const taken = new Set<string>();
  const take = (key: string | undefined) => {
    if (key === undefined || taken.has(key)) return undefined;
    taken.add(key);
    return key;
  };
  // A list that changes while its pages are fetched may name one item twice: the first has its key.
  const kept = rows.map(({ id }) => take(id === undefined ? undefined : byId.get(id)));
  const staying = kept.filter((key) => key !== undefined).length;
  const others = staying * 2 < rows.length && (held === undefined || !taken.has(held));
  if (others) taken.clear();
  const free = before.rows.filter(({ key }) => key !== held);
  const byIndex = new Map(free.map(({ index, key }) => [index, key]));
  let { next } = before;
  const keyed = rows.map((row, i) => {
    const there = others ? take(free[i]?.key) : (kept[i] ?? take(byIndex.get(row.index)));
    return { ...row, key: there ?? String(next++) };
  });
  return { rows: keyed, next };
}

/** The keys of `rows`; `hold` is told the key of the row that has the focus, and undefined when it has lost it. */
export function useRowKeys(rows: readonly KeyedRow[]): {
  keys: readonly string[];
  hold: (key: string | undefined) => void;
} {
  const before = useRef(NO_ROWS);
  const held = useRef<string>(undefined);
  const keyed = rowKeys(rows, before.current, held.current);
  useEffect(() => {
    before.current = keyed;
  });
  const hold = useCallback((key: string | undefined) => {
    held.current = key;
  }, []);
  return { keys: keyed.rows.map(({ key }) => key), hold };
}
