import { useMediaQuery } from '@mantine/hooks';
import { functionalUpdate, useTable } from '@tanstack/react-table';
import { useMemo } from 'react';
import { type Column, columnDefOf, features, sortingOf, sortOf, tracksOf } from './column.ts';

const NARROW = '(width < 720px)';
export const useNarrow = (): boolean => useMediaQuery(NARROW, globalThis.matchMedia?.(NARROW).matches);

/** What both kinds of table take. */
export interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  /** What tells items apart, where they have no `id`. */
  rowKey?: (item: T) => string;
  onOpen?: ((item: T) => void) | undefined;
}

const idOf = (item: unknown): string => (item as { id: string }).id;

/** Keys of items in order. A list that changes while its pages are fetched may name one item twice. */
export function keysOf<T>(items: readonly T[], rowKey: (item: T) => string): string[] {
  const seen = new Set<string>();
  return items.map((item, index) => {
    const key = rowKey(item);
    if (seen.has(key)) return `${key} ${index}`;
    seen.add(key);
    return key;
  });
}

/** TanStack Table of some items, sorted by the server, with the columns that fit the screen. */
export function useItemTable<T extends object>(
  items: readonly T[],
  { columns, rowKey = idOf }: Pick<TableProps<T>, 'columns' | 'rowKey'>,
  sort?: string,
  onSort?: (sort: string) => void,
) {
  const narrow = useNarrow();
  const defs = useMemo(() => columns.map(columnDefOf), [columns]);
  const sorting = useMemo(() => sortingOf(columns, sort), [columns, sort]);
  const columnVisibility = useMemo(
    () => Object.fromEntries(columns.map((column) => [column.id, !narrow || column.narrow === true])),
    [columns, narrow],
  );
  const keys = keysOf(items, rowKey);
  const table = useTable({
    features,
    columns: defs,
    data: items,
    getRowId: (_, index) => keys[index] ?? '',
    state: { sorting, columnVisibility },
    manualSorting: true,
    enableSorting: onSort !== undefined,
    enableSortingRemoval: false,
    enableMultiSort: false,
    sortDescFirst: false,
    onSortingChange: (change) => {
      const next = sortOf(columns, functionalUpdate(change, sorting));
      if (next) onSort?.(next);
    },
  });
  const tracks = useMemo(
    () =>
      tracksOf(
        columns.filter(({ id }) => columnVisibility[id]).map(({ width }) => width),
        narrow,
      ),
    [columns, columnVisibility, narrow],
  );
  return { table, tracks };
}
