import { setImmediate as otherWork } from 'node:timers/promises';

/**
 * Longest piece of work, milliseconds. A window of items is worth a hundred, in which the database would wait for its next
 * statement; an answer about many devices as well, in which everybody else's would wait.
 */
const PIECE_MS = 3;

/** Does something with one item after the other, and lets all else that waits run now and then. */
export async function inPieces<Item, Result>(
  items: readonly Item[],
  work: (item: Item, i: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let begun = performance.now();
  for (const [i, item] of items.entries()) {
    results.push(work(item, i));
    if (performance.now() - begun < PIECE_MS) continue;
    await otherWork();
    begun = performance.now();
  }
  return results;
}
