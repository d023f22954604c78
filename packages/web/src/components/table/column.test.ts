import { expect, it } from 'vitest';
import { type Column, cellValue, sortingOf, sortOf, tracksOf } from './column.ts';

const COLUMNS: Column<never>[] = [
  { id: 'status', title: 'State', width: '90px', sort: 'operStatus', value: () => '' },
  { id: 'name', title: 'Name', width: 'minmax(160px, 1fr)', sort: 'name', value: () => '' },
  { id: 'mac', title: 'MAC', width: '1fr', value: () => '' },
];

it.each([
  ['name', [{ id: 'name', desc: false }]],
  ['-operStatus', [{ id: 'status', desc: true }]],
])('the order %s is that of a column, and back', (sort, sorting) => {
  expect(sortingOf(COLUMNS, sort)).toEqual(sorting);
  expect(sortOf(COLUMNS, sorting)).toBe(sort);
});

it.each([undefined, 'mac', 'firstSeen', '-'])('the order %s is of no column', (sort) =>
  expect(sortingOf(COLUMNS, sort)).toEqual([]),
);

it('a column that cannot be ordered by names no order', () => {
  expect(sortOf(COLUMNS, [{ id: 'mac', desc: false }])).toBeUndefined();
  expect(sortOf(COLUMNS, [])).toBeUndefined();
});

it('tracks grow with the font, and are as wide as the columns need', () => {
  const widths = COLUMNS.map(({ width }) => width);
  expect(tracksOf(widths, false)).toEqual({
    gridTemplateColumns: '5.625rem minmax(10rem, 1fr) 1fr',
    minWidth: `${(90 + 160 + 4 * 14) / 16}rem`,
  });
  expect(tracksOf(widths, true)).toEqual({
    gridTemplateColumns: '5.625rem minmax(5.25rem, 1fr) 1fr',
    minWidth: `${(90 + 84 + 4 * 14) / 16}rem`,
  });
});

it('a cell says what its column says, else the member of the same name', () => {
  const port = { mtu: 1_500, name: 'Gi1' };
  expect(cellValue({ id: 'mtu', title: 'MTU', width: '50px' }, port)).toBe(1_500);
  expect(cellValue({ id: 'mtu', title: 'MTU', width: '50px', value: (one) => `${one.mtu} B` }, port)).toBe(
    '1500 B',
  );
});
