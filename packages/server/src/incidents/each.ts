import { Problem } from '../platform/problem.ts';

/**
 * Does work for one after the other, with the sum of what each answers. What fails at one keeps no other waiting; the
 * first failure is thrown at the end.
 */
export async function forEach<T>(of: readonly T[], work: (each: T) => Promise<number>): Promise<number> {
  let sum = 0;
  const failures: unknown[] = [];
  for (const each of of) {
    try {
      sum += await work(each);
    } catch (error) {
      // The database is away: it is for all.
      if (error instanceof Problem) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return sum;
}
