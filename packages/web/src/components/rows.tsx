import { type QueryKey, useQueries } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { ProblemView } from './problem.tsx';
import classes from './rows.module.css';

export interface Column<T> {
  id: string;
  title: string;
  /** CSS grid track: `minmax(120px, 1fr)`, `90px`. */
  width: string;
  cell: (item: T) => ReactNode;
  /** Field for `sort`, when the operation can order by it. */
  sort?: string;
  numeric?: boolean;
}

interface Page<T> {
  data: T[];
  totalCount: number;
}

/** One page as a query: `(page, pageSize) => ask('devices.list', { query: { …filters, page, pageSize } })`. */
export type Pages<T> = (
  page: number,
  pageSize: number,
) => { queryKey: QueryKey; queryFn?: ((context: never) => Page<T> | Promise<Page<T>>) | undefined | symbol };

const PAGE = 100;
const ROW = 32;

/**
 * A list of any length as one scrolling table: only visible rows are in the page, and the server's pages of PAGE items
 * are fetched as they come into view. Arrows or j/k move, Enter opens.
 */
export function Rows<T>({
  load,
  columns,
  sort,
  onSort,
  onOpen,
  rowKey,
  empty,
  label,
  onCount,
}: {
  load: Pages<T>;
  columns: readonly Column<T>[];
  sort?: string | undefined;
  onSort?: (sort: string | undefined) => void;
  onOpen?: (item: T) => void;
  rowKey: (item: T) => string;
  empty: ReactNode;
  label: string;
  onCount?: (count: number) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [pages, setPages] = useState<readonly number[]>([1]);
  const [focus, setFocus] = useState(-1);

  const queries = useQueries({
    queries: pages.map((page) => ({
      ...(load(page, PAGE) as { queryKey: QueryKey; queryFn: () => Promise<Page<T>> }),
      placeholderData: (previous: Page<T> | undefined) => previous,
    })),
  });
  const first = queries[0];
  const total = queries.find((query) => query.data)?.data?.totalCount ?? 0;
  const items = useMemo(() => {
    const known = new Map<number, T>();
    queries.forEach((query, i) => {
      const start = ((pages[i] ?? 1) - 1) * PAGE;
      query.data?.data.forEach((item, n) => {
        known.set(start + n, item);
      });
    });
    return known;
  }, [queries, pages]);
  useEffect(() => onCount?.(total), [total, onCount]);

  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const visible = virtual.getVirtualItems();
  const from = Math.floor((visible[0]?.index ?? 0) / PAGE) + 1;
  const to = Math.floor((visible.at(-1)?.index ?? 0) / PAGE) + 1;
  useEffect(() => {
    setPages((old) =>
      old[0] === from && old.at(-1) === to ? old : Array.from({ length: to - from + 1 }, (_, i) => from + i),
    );
  }, [from, to]);

  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(total - 1, focus + step));
      setFocus(next);
      virtual.scrollToIndex(next);
    } else if (event.key === 'Enter') {
      const item = items.get(focus);
      if (item && onOpen) onOpen(item);
    }
  };

  const template = columns.map((column) => column.width).join(' ');
  if (first?.error && !first.data)
    return <ProblemView error={first.error} retry={() => void first.refetch()} />;
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      role="table"
      aria-label={label}
      aria-rowcount={total}
      tabIndex={0}
      onKeyDown={onKey}
      data-loading={first?.isPlaceholderData || undefined}
    >
      <div className={classes.head} role="row" style={{ gridTemplateColumns: template }}>
        {columns.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            className={column.numeric ? classes.number : undefined}
            aria-sort={
              sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : undefined
            }
          >
            {column.sort && onSort ? (
              <button
                type="button"
                className={classes.sort}
                onClick={() => onSort(sort === column.sort ? `-${column.sort}` : column.sort)}
              >
                {column.title}
                <span aria-hidden>
                  {sort === column.sort ? ' ↑' : sort === `-${column.sort}` ? ' ↓' : ''}
                </span>
              </button>
            ) : (
              column.title
            )}
          </div>
        ))}
      </div>
      {total === 0 && first?.data ? (
        <div className={classes.empty}>{empty}</div>
      ) : (
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {visible.map((row) => {
            const item = items.get(row.index);
            return (
              <div
                key={item ? rowKey(item) : `blank-${row.index}`}
                role="row"
                aria-rowindex={row.index + 2}
                className={classes.row}
                data-focus={row.index === focus || undefined}
                style={{ gridTemplateColumns: template, transform: `translateY(${row.start}px)` }}
              >
                {columns.map((column) => (
                  <div key={column.id} role="cell" className={column.numeric ? classes.number : classes.cell}>
                    {item ? column.cell(item) : <span className={classes.blank} />}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}
