import { Problem } from '../problem.ts';

/**
 * Writes rows of many senders in one statement. Where that fails each is written alone, so that one whose row is refused
 * keeps nobody else's from being written; `refused` hears of it. Fails where nothing can be written at all.
 */
export async function allOrEach<Row>(
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<void>,
  refused: (row: Row, error: Error) => void,
): Promise<void> {
  if (rows.length === 0) return;
  try {
    await write(rows);
  } catch (error) {
    if (error instanceof Problem) throw error;
    for (const row of rows) await write([row]).catch((reason: Error) => refused(row, reason));
  }
}
