import type { Entity } from '@rollcall/shared/api/inventory';
import { expect, it } from 'vitest';
import { treeOf } from './entity-tree.ts';

const part = (index: number, parent: number | null, position: number | null = null) =>
  ({ index, parent, position }) as Entity;
const drawn = (parts: Entity[]) => treeOf(parts).map(({ index, depth }) => `${'  '.repeat(depth)}${index}`);

it('parts stand under what they sit in, in the order of their positions, then of their numbers', () => {
  expect(drawn([part(4, 1, 2), part(3, 1, 9), part(1, null), part(2, 4), part(5, 1, 2)])).toEqual([
    '1',
    '  4',
    '    2',
    '  5',
    '  3',
  ]);
});

it('shows each part once, whatever the agent says: rings, itself, a parent that is not there', () => {
  expect(drawn([part(1, 2), part(2, 1), part(3, 3), part(4, 99)])).toEqual(['3', '4', '1', '  2']);
});
