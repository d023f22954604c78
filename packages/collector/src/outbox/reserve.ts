/**
 * Room on the disk before LMDB needs it: a page that LMDB cannot write for want of space damages its memory (see
 * `overran` in store.ts), so space runs out here, where it is an error like any other.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Left over after every commit that adds: enough for deliveries, which free more than they take. */
const MARGIN = 1024 * 1024;
const STEP = 256 * 1024;
const ZEROS = Buffer.alloc(STEP);

/** Of an LMDB environment, as it is on disk. */
export interface Stats {
  lastPageNumber: number;
  pageSize: number;
}

/**
 * Extends the data file, with blocks of its own, beyond what adding these records can take: every record's pages, twice,
 * for half-full leaves and the copies that the tree makes of its pages. Throws the system's error when there is no room.
 */
export async function reserve(
  folder: string,
  stats: Stats,
  records: readonly { record: Buffer }[],
): Promise<void> {
  if (records.length === 0) return;
  const bytes = records.reduce((sum, { record }) => sum + record.length + 256, 0);
  const needed = (stats.lastPageNumber + 1) * stats.pageSize + 2 * bytes + MARGIN;
  const file = await open(join(folder, 'data.mdb'), 'r+');
  try {
    let { size } = await file.stat();
    while (size < needed) {
      const { bytesWritten } = await file.write(ZEROS, 0, STEP, size);
      size += bytesWritten;
    }
  } finally {
    await file.close();
  }
}
