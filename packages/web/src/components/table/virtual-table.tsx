import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useId, useRef } from 'react';
import { ProblemView } from '../feedback/index.ts';
import { useGridKeys } from './grid-keys.ts';
import type { PagedList } from './paged-list.ts';
import { useScrollPlace } from './scroll-place.ts';
import classes from './table.module.css';
import { Head, Row } from './table-parts.tsx';
import { type TableProps, useItemTable, useNarrow } from './use-item-table.ts';

const ROW = { wide: 32, narrow: 40 };
/** Rows kept ready on either side of those in view. */
const SPARE = 6;
/** Rows asked for beyond those: anyone who scrolls fast is there before an answer to what is in view would be. */
const AHEAD = 30;

/**
 * A list of any length as one scrolling table: only visible rows are in the page. Arrows or j/k move, Enter opens, x selects.
 */
export function VirtualTable<T extends object>({
  source,
  sort,
  onSort,
  onOpen,
  onSelect,
  empty,
  label,
  ...look
}: TableProps<T> & {
  source: PagedList<T>;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  /** Where rows can be selected. */
  onSelect?: ((item: T) => void) | undefined;
  empty: ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const { start: begin, focus, setFocus } = useScrollPlace(label, scroller);
  const narrow = useNarrow();
  const rowHeight = narrow ? ROW.narrow : ROW.wide;
  const { key, show, total: count = 0 } = source;

  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    initialOffset: begin.offset,
    overscan: SPARE,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when rows are of another height
  useEffect(() => virtual.measure(), [rowHeight]);
  const visible = virtual.getVirtualItems();
  const first = visible[0]?.index ?? 0;
  const last = visible.at(-1)?.index ?? 0;
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
  }, [key, virtual, setFocus]);

  const latestOpen = useRef(onOpen);
  latestOpen.current = onOpen;
  const open = useCallback((item: T) => latestOpen.current?.(item), []);
  const onKey = useGridKeys({
    scroller,
    count,
    rowHeight,
    focus,
    onFocus: setFocus,
    onEnter: () => {
      const item = source.at(focus);
      if (item) onOpen?.(item);
    },
    onSelect:
      onSelect &&
      (() => {
        const item = source.at(focus);
        if (item) onSelect(item);
      }),
  });

  const known = visible.filter(({ index }) => source.at(index) !== undefined);
  const { table, tracks } = useItemTable(
    known.map(({ index }) => source.at(index) as T),
    look,
    sort,
    onSort,
  );
  const rows = new Map(table.getRowModel().rows.map((row, i) => [known[i]?.index, row]));
  const columns = table.getVisibleLeafColumns();
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
      <Head columns={columns} tracks={tracks} />
      {count === 0 && source.total !== undefined ? (
        // A grid may hold nothing but rows.
        <div role="rowgroup">
          <div role="row">
            <div role="gridcell">{empty}</div>
          </div>
        </div>
      ) : (
        <div
          role="rowgroup"
          className={source.stale ? classes.stale : undefined}
          style={{ height: virtual.getTotalSize(), position: 'relative' }}
        >
          {visible.map(({ index, start }) => (
            <Row
              key={rows.get(index)?.id ?? index}
              row={rows.get(index)}
              columns={columns}
              tracks={tracks}
              onOpen={onOpen && open}
              id={`${id}-${index}`}
              index={index}
              start={start}
              focused={index === focus}
              onFocus={setFocus}
            />
          ))}
        </div>
      )}
    </div>
  );
}
