import { Button } from '@mantine/core';
import { hashKey } from '@tanstack/react-query';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { form, plural } from '../../format.ts';
import { useEscape } from '../../use-escape.ts';
import type { Column } from './column.ts';
import classes from './table.module.css';

/** Rows at most that are chosen one by one: each is named in what is asked of the server. */
const SELECTED_MOST = 200;

export interface Selection<T> {
  items: readonly T[];
  has: (item: T) => boolean;
  toggle: (item: T) => void;
  replace: (items: readonly T[]) => void;
  clear: () => void;
}

/** Rows of a list that were chosen, in sight or not; `list` says which list it is: those of another are not kept. */
export function useSelection<T extends { id: string }>(list: unknown): Selection<T> {
  const key = hashKey([list]);
  const [chosen, setChosen] = useState({ key, items: new Map<string, T>() });
  const items = useMemo(() => (chosen.key === key ? chosen.items : new Map<string, T>()), [chosen, key]);
  const replace = useCallback(
    (next: readonly T[]) =>
      setChosen({ key, items: new Map(next.slice(0, SELECTED_MOST).map((item) => [item.id, item])) }),
    [key],
  );
  const clear = useCallback(() => replace([]), [replace]);
  useEscape(clear, items.size > 0);
  return useMemo(() => {
    const all = [...items.values()];
    const toggle = (item: T) =>
      replace(items.has(item.id) ? all.filter(({ id }) => id !== item.id) : [...all, item]);
    return { items: all, has: (item) => items.has(item.id), toggle, replace, clear };
  }, [items, replace, clear]);
}

/** The check box at the beginning of each row. */
export const selectColumn = <T extends { id: string }>(
  selection: Selection<T>,
  nameOf: (item: T) => string,
): Column<T> => ({
  id: 'select',
  title: 'Select',
  untitled: true,
  width: '18px',
  narrow: true,
  value: () => '',
  cell: (item) => (
    <label className={classes.select}>
      <input
        type="checkbox"
        aria-label={`Select ${nameOf(item)}`}
        checked={selection.has(item)}
        onChange={() => selection.toggle(item)}
      />
    </label>
  ),
});

/** What can be done with the chosen rows; in the place of the views, so that the list stays where it is. */
export function SelectionBar<T>({
  selection: { items, clear },
  noun,
  total = 0,
  onAll,
  children,
}: {
  selection: Selection<T>;
  noun: string;
  /** Rows of the whole list; all of them can be chosen where they are few enough. */
  total?: number | undefined;
  onAll: () => void;
  children: ReactNode;
}) {
  return (
    <div className={classes.selected} role="toolbar" aria-label={`With the selected ${form(2, noun)}`}>
      <output>{plural(items.length, noun)} selected</output>
      {items.length < total && total <= SELECTED_MOST && (
        <Button variant="subtle" size="compact-sm" onClick={onAll}>
          Select all {total}
        </Button>
      )}
      {children}
      <Button variant="subtle" size="compact-sm" color="gray" onClick={clear}>
        Clear selection
      </Button>
    </div>
  );
}
