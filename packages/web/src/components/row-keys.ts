import { useEffect, useRef } from 'react';

export interface KeyedRow {
  index: number;
  /** Of its item; none where that is not known yet. */
  id: string | undefined;
}

/**
 * Keys of the rows in view, by which they keep their place in the page: an item that stays keeps its key wherever it
 * moves, with what is open or selected in it; one that comes takes that of its index, and with it the elements of a row
 * that went. So another order or filter writes new words into the rows that are there, and builds none.
 */
export function rowKeys(
  rows: readonly KeyedRow[],
  before: ReadonlyMap<string, string>,
): { keys: string[]; known: Map<string, string> } {
  const keptBy = (id: string | undefined) => (id === undefined ? undefined : before.get(id));
  const taken = new Set(rows.map(({ id }) => keptBy(id)));
  const known = new Map<string, string>();
  const keys = rows.map(({ index, id }) => {
    // A list that changes while its pages are fetched may name one item twice.
    const kept = id !== undefined && known.has(id) ? undefined : keptBy(id);
    const key = kept ?? (taken.has(String(index)) ? `${index} ${id ?? ''}` : String(index));
    if (kept === undefined) taken.add(key);
    if (id !== undefined && !known.has(id)) known.set(id, key);
    return key;
  });
  return { keys, known };
}

export function useRowKeys(rows: readonly KeyedRow[]): readonly string[] {
  const before = useRef<ReadonlyMap<string, string>>(new Map());
  const { keys, known } = rowKeys(rows, before.current);
  useEffect(() => {
    before.current = known;
  });
  return keys;
}
