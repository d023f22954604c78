import { expect, it } from 'vitest';
import { Problem } from '../problem.ts';
import { allOrEach } from './all-or-each.ts';

it('writes all at once, and each alone where one is refused', async () => {
  const calls: number[][] = [];
  const refused: number[] = [];
  const write = async (rows: readonly number[]) => {
    calls.push([...rows]);
    if (rows.includes(3)) throw new Error('refused');
  };
  const run = (rows: number[]) => allOrEach(rows, write, (row) => refused.push(row));
  await run([]);
  await run([1, 2]);
  expect(calls.splice(0)).toEqual([[1, 2]]);
  await run([1, 3, 2]);
  expect(calls).toEqual([[1, 3, 2], [1], [3], [2]]);
  expect(refused).toEqual([3]);
});

it('fails where the database is away, and asks it once', async () => {
  let asked = 0;
  const away = async () => {
    asked += 1;
    throw new Problem('unavailable', 'the database is away');
  };
  await expect(allOrEach([1, 2], away, () => undefined)).rejects.toMatchObject({ code: 'unavailable' });
  expect(asked).toBe(1);
});
