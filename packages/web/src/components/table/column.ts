import {
  type ColumnDef,
  columnVisibilityFeature,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
} from '@tanstack/react-table';
import type { ReactNode } from 'react';

export type CellValue = string | number | null | undefined;

/** How a column looks. */
export interface Look {
  /** CSS grid track: `minmax(120px, 1fr)`, `90px`. */
  width: string;
  /** Field for `sort`, when the operation can order by it. */
  sort?: string;
  numeric?: boolean;
  /** Addresses, part numbers, what machines write. */
  mono?: boolean;
  /** The cells explain themselves: the title is for screen readers only. */
  untitled?: boolean;
  /** Shown on a narrow screen, too. */
  narrow?: boolean;
  /** Shown only when somebody chooses it. */
  extra?: boolean;
  /** In a short table, as many lines as its words need. */
  wrap?: boolean;
}

/** Members of an item that are shown as they are. */
type Shown<T> = { [Name in keyof T]-?: T[Name] extends CellValue ? Name : never }[keyof T] & string;

/** `value` is the cell as text, in the exported file, and in the table unless `cell` draws it: else the member `id`. */
export type Column<T> = Look & {
  title: string;
  /** Name of the column in a CSV file, where it is not its title. */
  exportTitle?: string;
  cell?: (item: T) => ReactNode;
} & ({ id: string; value: (item: T) => CellValue } | { id: Shown<T>; value?: undefined });

export const cellValue = <T>({ id, value }: Column<T>, item: T): CellValue =>
  value ? value(item) : (item[id as keyof T] as CellValue);

export const features = tableFeatures({ columnVisibilityFeature, rowSortingFeature, columnMeta: {} as Look });
export type Features = typeof features;

/** A column for TanStack Table. */
export const columnDefOf = <T extends object>(column: Column<T>): ColumnDef<Features, T> => ({
  id: column.id,
  header: column.title,
  accessorFn: (item) => cellValue(column, item),
  cell: ({ row, getValue }) => (column.cell ? column.cell(row.original) : getValue()),
  enableSorting: column.sort !== undefined,
  meta: column,
});

type Sortable = Pick<Column<never>, 'id' | 'sort'>;

/** The parameter `sort` (`name`, `-name`) as TanStack Table has it, by column. */
export const sortingOf = (columns: readonly Sortable[], sort: string | undefined): SortingState => {
  const desc = sort?.startsWith('-') ?? false;
  const column = sort && columns.find((one) => one.sort === (desc ? sort.slice(1) : sort));
  return column ? [{ id: column.id, desc }] : [];
};

export function sortOf(columns: readonly Sortable[], [first]: SortingState): string | undefined {
  const field = columns.find(({ id }) => id === first?.id)?.sort;
  return field && (first?.desc ? `-${field}` : field);
}

/** Space between columns, in pixels. */
const GAP = 14;
/** On a narrow screen a column that can grow begins at this width at most: few columns, none out of sight. */
const NARROW_LEAST = 84;

/** The columns as CSS grid tracks. With less room than their least widths the table scrolls sideways, all rows alike. */
export function tracksOf(
  widths: readonly string[],
  narrow: boolean,
): { gridTemplateColumns: string; minWidth: string } {
  const fitted = widths.map((width) =>
    narrow
      ? width.replace(/^minmax\((\d+)px/, (_, least) => `minmax(${Math.min(Number(least), NARROW_LEAST)}px`)
      : width,
  );
  const least = fitted.reduce((sum, width) => sum + Number(/(\d+)px/.exec(width)?.[1] ?? 0) + GAP, GAP);
  // Widths are meant for the usual font size; in kiosk mode both are larger.
  const rem = (text: string) => text.replace(/(\d+)px/g, (_, pixels) => `${Number(pixels) / 16}rem`);
  return { gridTemplateColumns: rem(fitted.join(' ')), minWidth: rem(`${least}px`) };
}
