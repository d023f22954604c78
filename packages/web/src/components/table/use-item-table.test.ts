import { act } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import { renderHook } from '../../testing/render-hook.ts';
import type { Column } from './column.ts';
import { keysOf, useItemTable } from './use-item-table.ts';

interface Port {
  id: string;
  name: string;
  mtu: number;
}
const COLUMNS: readonly Column<Port>[] = [
  { id: 'name', title: 'Name', width: '90px', sort: 'name', narrow: true, value: (port) => port.name },
  {
    id: 'mtu',
    title: 'MTU',
    width: '50px',
    sort: 'size',
    value: (port) => port.mtu,
    cell: (port) => `${port.mtu} B`,
  },
  { id: 'id', title: 'Id', width: '50px', value: (port) => port.id },
];
const PORTS = [
  { id: 'a', name: 'Gi1', mtu: 1_500 },
  { id: 'b', name: 'Gi2', mtu: 9_000 },
];

const table = (sort?: string, onSort?: (sort: string) => void) =>
  renderHook(
    (props: { sort?: string | undefined }) => useItemTable(PORTS, { columns: COLUMNS }, props.sort, onSort),
    { sort },
  );
const columnOf = (run: ReturnType<typeof table>, id: string) => {
  const column = run.current.table.getColumn(id);
  if (!column) throw new Error(id);
  return column;
};
afterEach(() => vi.unstubAllGlobals());

it('has a row for each item, in the order of the server, under its id', () => {
  const rows = table('-name').current.table.getRowModel().rows;
  expect(rows.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(rows.map((row) => row.getValue('name'))).toEqual(['Gi1', 'Gi2']);
});

it('a click on a title orders by it, one more turns the order', () => {
  const onSort = vi.fn();
  const run = table('name', onSort);
  expect(columnOf(run, 'name').getIsSorted()).toBe('asc');
  act(() => columnOf(run, 'name').toggleSorting());
  expect(onSort).toHaveBeenLastCalledWith('-name');
  run.render({ sort: '-name' });
  expect(columnOf(run, 'name').getIsSorted()).toBe('desc');
  act(() => columnOf(run, 'name').toggleSorting());
  expect(onSort).toHaveBeenLastCalledWith('name');
  act(() => columnOf(run, 'mtu').toggleSorting());
  expect(onSort).toHaveBeenLastCalledWith('size');
});

it('orders by nothing where the page cannot, or the operation cannot', () => {
  expect(columnOf(table('name', vi.fn()), 'id').getCanSort()).toBe(false);
  expect(columnOf(table('name'), 'name').getCanSort()).toBe(false);
});

it('leaves out columns where there is little room', () => {
  const wide = table().current;
  expect(wide.table.getVisibleLeafColumns().map(({ id }) => id)).toEqual(['name', 'mtu', 'id']);
  vi.stubGlobal('matchMedia', () => ({
    matches: true,
    addEventListener: vi.fn(),
    removeEventListener: vi.fn(),
  }));
  Object.assign(window, { matchMedia });
  const narrow = table().current;
  expect(narrow.table.getVisibleLeafColumns().map(({ id }) => id)).toEqual(['name']);
  expect(narrow.tracks.gridTemplateColumns).toBe('5.625rem');
});

it('tells apart an item that is there twice', () => {
  const keys = keysOf([...PORTS, ...PORTS], ({ id }) => id);
  expect(new Set(keys).size).toBe(4);
  expect(keys.slice(0, 2)).toEqual(['a', 'b']);
});
