import type { ReactNode } from 'react';
import classes from './table.module.css';
import { Head, Row } from './table-parts.tsx';
import { type TableProps, useItemTable } from './use-item-table.ts';

/** A short list as a table that is as tall as its rows. */
export function ShortTable<T extends object>({
  items,
  onOpen,
  empty,
  label,
  ...look
}: TableProps<T> & { items: readonly T[]; empty?: ReactNode }) {
  const { table, tracks } = useItemTable(items, look);
  const columns = table.getVisibleLeafColumns();
  if (items.length === 0) return empty;
  return (
    <div className={classes.plain} role="table" aria-label={label} tabIndex={0}>
      <Head columns={columns} tracks={tracks} />
      <div role="rowgroup">
        {table.getRowModel().rows.map((row) => (
          <Row key={row.id} row={row} columns={columns} tracks={tracks} onOpen={onOpen} />
        ))}
      </div>
    </div>
  );
}
