export { type CellValue, type Column, cellValue } from './column.ts';
export { actionColumn, enabledColumn, menuColumn, timeColumn } from './columns.tsx';
export { ColumnsMenu, useColumns } from './columns-menu.tsx';
export { itemsSource, type ListId, type ListQuery, type PagedList, usePagedList } from './paged-list.ts';
export { SelectionBar, selectColumn, useSelection } from './selection.tsx';
export { ShortTable } from './short-table.tsx';
export { useNarrow } from './use-item-table.ts';
export { VirtualTable } from './virtual-table.tsx';
