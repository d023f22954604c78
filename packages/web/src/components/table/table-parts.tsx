import type { Column as TableColumn, Row as TableRow } from '@tanstack/react-table';
import { type CSSProperties, memo } from 'react';
import type { Features } from './column.ts';
import classes from './table.module.css';

type Columns<T extends object> = readonly TableColumn<Features, T, unknown>[];

const look = <T extends object>(column: Columns<T>[number]) => column.columnDef.meta;
const classOf = <T extends object>(column: Columns<T>[number]) =>
  look(column)?.numeric ? `${classes.cell} ${classes.number}` : classes.cell;

const ORDERS = {
  asc: { ariaSort: 'ascending', arrow: '↑' },
  desc: { ariaSort: 'descending', arrow: '↓' },
} as const;

export function Head<T extends object>({ columns, tracks }: { columns: Columns<T>; tracks: CSSProperties }) {
  return (
    <div role="rowgroup" style={{ display: 'contents' }}>
      <div className={classes.head} role="row" style={tracks}>
        {columns.map((column) => {
          const sorted = column.getIsSorted();
          const title = column.columnDef.header as string;
          return (
            <div
              key={column.id}
              role="columnheader"
              className={classOf(column)}
              aria-sort={sorted ? ORDERS[sorted].ariaSort : undefined}
            >
              {column.getCanSort() ? (
                <button type="button" className={classes.sort} onClick={() => column.toggleSorting()}>
                  {title}
                  <span aria-hidden>{sorted && ORDERS[sorted].arrow}</span>
                </button>
              ) : (
                <span className={look(column)?.untitled ? 'hidden' : undefined}>{title}</span>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps<T extends object> {
  /** Undefined while its page is fetched. */
  row: TableRow<Features, T> | undefined;
  columns: Columns<T>;
  tracks: CSSProperties;
  onOpen: ((item: T) => void) | undefined;
  /** In a grid: where the row stands, and what a click does besides. */
  id?: string;
  index?: number;
  start?: number;
  focused?: boolean;
  onFocus?: (index: number) => void;
}

/** Drawn anew only when its item or its place changed: TanStack Table makes new rows whenever the table scrolls. */
export const Row = memo(RowView, ({ row: before, ...a }, { row: after, ...b }) => {
  const names = Object.keys(a) as (keyof typeof a)[];
  return before?.original === after?.original && names.every((name) => a[name] === b[name]);
}) as typeof RowView;

function RowView<T extends object>({
  row,
  columns,
  tracks,
  onOpen,
  id,
  index,
  start,
  focused,
  onFocus,
}: RowProps<T>) {
  const grid = index !== undefined;
  const open = (target: EventTarget) => {
    if (grid) onFocus?.(index);
    if (row && !isOwnClick(target)) onOpen?.(row.original);
  };
  const cells = row?.getVisibleCells();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys; in a short table it is a shortcut of a link
    <div
      id={id}
      role="row"
      aria-rowindex={grid ? index + 2 : undefined}
      aria-selected={focused}
      className={classes.row}
      data-focus={focused || undefined}
      data-open={onOpen ? true : undefined}
      style={start === undefined ? tracks : { ...tracks, transform: `translateY(${start}px)` }}
      onClick={(event) => open(event.target)}
    >
      {columns.map((column, i) => {
        const cell = cells?.[i];
        const draw = column.columnDef.cell;
        return (
          <div
            key={column.id}
            role={grid ? 'gridcell' : 'cell'}
            className={look(column)?.mono ? `${classOf(column)} mono` : classOf(column)}
            data-wrap={look(column)?.wrap || undefined}
          >
            {/* Called, not made a component of: columns that a page makes anew keep the state of what is in their cells. */}
            {cell && typeof draw === 'function' ? (
              draw(cell.getContext())
            ) : (
              <span className={classes.blank} />
            )}
          </div>
        );
      })}
    </div>
  );
}

/** Clicks on controls inside a row are theirs, and who selects text wants to copy it. */
const isOwnClick = (target: EventTarget): boolean =>
  (target instanceof Element && target.closest('a,button,input,label') !== null) ||
  getSelection()?.isCollapsed === false;
