import { useMediaQuery } from '@mantine/hooks';
import { useLocation } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useLasting } from '../lasting.ts';
import { useKeysOfThePage } from './page-keys.ts';
import { ProblemView } from './problem.tsx';
import { useRowKeys } from './row-keys.ts';
import classes from './rows.module.css';
import type { Source } from './source.ts';

export type Cell = string | number | null | undefined;

export interface Column<T> {
  id: string;
  title: string;
  /** CSS grid track: `minmax(120px, 1fr)`, `90px`. */
  width: string;
  /** What it says as text: in the exported file, and in the table unless `cell` draws it. */
  value: (item: T) => Cell;
  cell?: (item: T) => ReactNode;
  /** Field for `sort`, when the operation can order by it. */
  sort?: string;
  numeric?: boolean;
  /** Addresses, numbers of parts, what machines write. */
  mono?: boolean;
  /** What stands in it speaks for itself: the title is for those who hear the table. */
  untitled?: boolean;
  /** Shown where there is little room, too. */
  narrow?: boolean;
  /** Shown only when somebody asks for it. */
  extra?: boolean;
  /** In a short list, as many lines as its words need. */
  wrap?: boolean;
}

interface Look<T> {
  columns: readonly Column<T>[];
  /** What tells items apart, where they have no `id`. */
  rowKey?: (item: T) => string;
  onOpen?: ((item: T) => void) | undefined;
  label: string;
}

const ROW = { wide: 32, narrow: 40 };
/** Height of the row of titles, which covers the top of what scrolls. */
const HEAD = 32;
/** Rows kept ready on either side of those in view. */
const SPARE = 6;
/** Rows asked for beyond those: whoever scrolls fast is there before an answer to what is in view would be. */
const AHEAD = 30;
/** Rows of the last list are faded when those of the next take longer than this: what comes at once does not flicker. */
const FADE_MS = 150;
const NARROW = '(width < 720px)';

export const useNarrow = (): boolean => useMediaQuery(NARROW, globalThis.matchMedia?.(NARROW).matches);

/** Between columns, and on a phone the most that a column which can grow begins at: few columns, none out of sight. */
const GAP = 14;
const NARROW_LEAST = 84;
/** Tracks of the grid; less room than their least widths need makes the table scroll sideways, all rows alike. */
const tracksOf = (columns: readonly Column<never>[], narrow: boolean): CSSProperties => {
  const widths = columns.map(({ width }) =>
    narrow
      ? width.replace(/^minmax\((\d+)px/, (_, least) => `minmax(${Math.min(Number(least), NARROW_LEAST)}px`)
      : width,
  );
  const least = widths.reduce((sum, width) => sum + Number(/(\d+)px/.exec(width)?.[1] ?? 0) + GAP, GAP);
  // Widths are meant for letters of the usual size: on a wall both are larger.
  const rem = (text: string) => text.replace(/(\d+)px/g, (_, pixels) => `${Number(pixels) / 16}rem`);
  return { gridTemplateColumns: rem(widths.join(' ')), minWidth: rem(`${least}px`) };
};
const idOf = (item: unknown): string => (item as { id: string }).id;
const classOf = (column: Column<never>) =>
  column.numeric ? `${classes.cell} ${classes.number}` : classes.cell;
const cellClassOf = (column: Column<never>) => (column.mono ? `${classOf(column)} mono` : classOf(column));
const textOf = <T,>(column: Column<T>, item: T): ReactNode =>
  column.cell ? column.cell(item) : column.value(item);

/** Where the reader was in a list, by history entry: going back leads there. */
const places = new Map<string, { offset: number; focus: number }>();

/**
 * A list of any length as one scrolling table: only visible rows are in the page. Arrows or j/k move, Enter opens.
 */
export function Rows<T>({
  source,
  columns: all,
  sort,
  onSort,
  onOpen,
  rowKey = idOf,
  empty,
  label,
}: Look<T> & {
  source: Source<T>;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  empty: ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const narrow = useNarrow();
  const columns = useMemo(() => (narrow ? all.filter((column) => column.narrow) : all), [all, narrow]);
  const here = `${useLocation({ select: (location) => location.state.__TSR_key })} ${label}`;
  const path = useLocation({ select: (location) => location.pathname });
  const home = useRef(path);
  const entry = useRef(here);
  // On the way to another page the address changes before this list goes.
  useEffect(() => {
    if (path === home.current) entry.current = here;
  }, [here, path]);
  const [focus, setFocus] = useState(() => places.get(entry.current)?.focus ?? -1);
  const count = source.total ?? 0;
  const height = narrow ? ROW.narrow : ROW.wide;

  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    initialOffset: () => places.get(entry.current)?.offset ?? 0,
    overscan: SPARE,
  });
  // Rows are of another height when the window turns narrow, or wide again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew then, and only then
  useEffect(() => virtual.measure(), [narrow]);
  const visible = virtual.getVirtualItems();
  const first = visible[0]?.index ?? 0;
  const last = visible.at(-1)?.index ?? 0;
  const { key, show } = source;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `show` is new each time and says the same
  useEffect(
    () => show(Math.max(0, first - AHEAD), Math.max(0, Math.min(last + AHEAD, count - 1))),
    [first, last, count, key],
  );
  const shownKey = useRef(key);
  useEffect(() => {
    if (shownKey.current === key) return;
    shownKey.current = key;
    // Asked of what is known: asking the page itself would lay it out at once, and once more when the rows are there.
    if (virtual.scrollOffset) scroller.current?.scrollTo({ top: 0 });
    setFocus(-1);
  }, [key, virtual]);
  const left = useRef(focus);
  left.current = focus;
  useEffect(() => {
    const element = scroller.current;
    return () => {
      if (element) places.set(entry.current, { offset: element.scrollTop, focus: left.current });
    };
  }, []);

  /** Scrolls as little as shows a whole row, which begins at `top` below the titles. */
  const reveal = (top: number, height: number, view: number) => {
    const element = scroller.current;
    if (!element) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + view) element.scrollTop = top + height - view;
  };
  const onKey = (event: KeyboardEvent | globalThis.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const view = (scroller.current?.clientHeight ?? 0) - HEAD;
    // One row stays in sight, for the reader to go on from.
    const page = Math.max(1, Math.floor(view / height) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -count,
      End: count,
    };
    const step = steps[event.key];
    if (step !== undefined && count > 0) {
      event.preventDefault();
      const next = Math.max(0, Math.min(count - 1, focus < 0 && step > 0 ? step - 1 : focus + step));
      setFocus(next);
      reveal(next * height, height, view);
    } else if (event.key === 'Enter') {
      const item = source.at(focus);
      if (item && event.target === scroller.current) onOpen?.(item);
    }
  };
  useKeysOfThePage(scroller, onKey);

  const tracks = useMemo(() => tracksOf(columns, narrow), [columns, narrow]);
  const faded = useLasting(source.stale, FADE_MS);
  const rows = visible.map(({ index, start }) => {
    const item = source.at(index);
    return { index, start, item, id: item === undefined ? undefined : rowKey(item) };
  });
  const { keys, hold } = useRowKeys(rows);
  if (source.error && source.total === undefined)
    return <ProblemView error={source.error} retry={source.retry} />;
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-busy={source.stale || source.total === undefined}
      aria-activedescendant={focus >= first && focus <= last && count > 0 ? `${id}-${focus}` : undefined}
      tabIndex={0}
      onKeyDown={onKey}
    >
      <Head columns={columns} tracks={tracks} sort={sort} onSort={onSort} />
      {count === 0 && source.total !== undefined ? (
        empty
      ) : (
        <div
          role="rowgroup"
          className={faded ? classes.stale : undefined}
          style={{ height: virtual.getTotalSize(), position: 'relative' }}
        >
          {rows.map(({ index, start, item }, i) => (
            <Row
              key={keys[i]}
              place={keys[i]}
              id={`${id}-${index}`}
              index={index}
              start={start}
              item={item}
              columns={columns}
              tracks={tracks}
              focused={index === focus}
              onOpen={onOpen}
              onFocus={setFocus}
              onHold={hold}
            />
          ))}
        </div>
      )}
    </div>
  );
}

function Head<T>({
  columns,
  tracks,
  sort,
  onSort,
}: {
  columns: readonly Column<T>[];
  tracks: CSSProperties;
  sort?: string | undefined;
  onSort?: ((sort: string) => void) | undefined;
}) {
  return (
    <div role="rowgroup" style={{ display: 'contents' }}>
      <div className={classes.head} role="row" style={tracks}>
        {columns.map((column) => {
          const order =
            column.sort && sort === column.sort
              ? 'ascending'
              : column.sort && sort === `-${column.sort}`
                ? 'descending'
                : undefined;
          return (
            <div key={column.id} role="columnheader" className={classOf(column)} aria-sort={order}>
              {column.sort && onSort ? (
                <button
                  type="button"
                  className={classes.sort}
                  onClick={() => onSort(order === 'ascending' ? `-${column.sort}` : String(column.sort))}
                >
                  {column.title}
                  <span aria-hidden>{order === 'ascending' ? '↑' : order === 'descending' ? '↓' : ''}</span>
                </button>
              ) : (
                <span className={column.untitled ? 'hidden' : undefined}>{column.title}</span>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps<T> {
  /** Its key, which it has for as long as it is there. */
  place: string | undefined;
  id: string;
  index: number;
  start: number;
  item: T | undefined;
  columns: readonly Column<T>[];
  tracks: CSSProperties;
  focused: boolean;
  onOpen?: ((item: T) => void) | undefined;
  onFocus: (index: number) => void;
  onHold: (place: string | undefined) => void;
}

const Row = memo(RowView, (a, b) =>
  (['id', 'start', 'item', 'columns', 'tracks', 'focused'] as const).every((name) => a[name] === b[name]),
) as typeof RowView;

function RowView<T>({
  place,
  id,
  index,
  start,
  item,
  columns,
  tracks,
  focused,
  onOpen,
  onFocus,
  onHold,
}: RowProps<T>) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={focused}
      className={classes.row}
      data-focus={focused || undefined}
      data-open={onOpen ? true : undefined}
      style={{ ...tracks, transform: `translateY(${start}px)` }}
      onClick={(event) => {
        onFocus(index);
        if (item && !isOwnClick(event.target)) onOpen?.(item);
      }}
      onFocus={() => onHold(place)}
      onBlur={() => onHold(undefined)}
    >
      {columns.map((column) => (
        <div key={column.id} role="gridcell" className={cellClassOf(column)}>
          {item ? textOf(column, item) : <span className={classes.blank} />}
        </div>
      ))}
    </div>
  );
}

/** Clicks on controls inside a row are theirs, and who selects text wants to copy it. */
const isOwnClick = (target: EventTarget): boolean =>
  (target instanceof Element && target.closest('a,button,input,label') !== null) ||
  getSelection()?.isCollapsed === false;

/** A short list as a table that is as tall as its rows. */
export function List<T>({
  items,
  columns: all,
  onOpen,
  rowKey = idOf,
  empty,
  label,
}: Look<T> & { items: readonly T[]; empty?: ReactNode }) {
  const narrow = useNarrow();
  const columns = useMemo(() => (narrow ? all.filter((column) => column.narrow) : all), [all, narrow]);
  const tracks = useMemo(() => tracksOf(columns, narrow), [columns, narrow]);
  if (items.length === 0) return empty;
  return (
    <div className={classes.plain} role="table" aria-label={label} tabIndex={0}>
      <Head columns={columns} tracks={tracks} />
      <div role="rowgroup">
        {items.map((item) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: a shortcut of the link inside
          <div
            key={rowKey(item)}
            role="row"
            className={classes.row}
            data-open={onOpen ? true : undefined}
            style={tracks}
            onClick={(event) => !isOwnClick(event.target) && onOpen?.(item)}
          >
            {columns.map((column) => (
              <div
                key={column.id}
                role="cell"
                className={cellClassOf(column)}
                data-wrap={column.wrap || undefined}
              >
                {textOf(column, item)}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}
