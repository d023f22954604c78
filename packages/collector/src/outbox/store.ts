/**
 * The LMDB environment under the outbox: a table per stream of records by sequence and one row of meta. One commit at a time;
 * a commit that resolved is on disk (data synced, then the root page written through). After any failed commit the
 * environment is opened anew, because LMDB refuses, or hangs, once the update of a root page failed.
 */
import { writeSync } from 'node:fs';
import { ofStreams, type Stream } from '@rollcall/shared/observation';
import { type Database, open, type RootDatabase } from 'lmdb';
import { z } from 'zod';
import { reserve, type Stats } from './reserve.ts';

/** Version of what the outbox folder holds; a newer one is never touched. 2: has a stream of samples. */
export const FORMAT = 2;

const count = z.int().min(0);
const streamMeta = z.object({
  /** Highest sequence ever given, -1 when none. */
  last: z.int().min(-1),
  /** Highest sequence that the server has committed. */
  acked: z.int().min(-1),
  /** Records present, and the bytes of their JSON. */
  count,
  bytes: count,
});
const freshStream = () => ({ last: -1, acked: -1, count: 0, bytes: 0 });
const meta = z.object({
  format: z.literal([1, FORMAT]).transform((): typeof FORMAT => FORMAT),
  epoch: z.uuid(),
  /** Milliseconds this outbox has been open, over all runs: a clock that nobody can set. */
  age: z.number().min(0),
  streams: z.object({
    state: streamMeta,
    event: streamMeta,
    /** Absent in format 1. */
    sample: streamMeta.default(freshStream),
  }),
  /** Observations dropped on purpose, ever, by reason. */
  drops: z.object({ bytes: count, age: count, disk: count, damaged: count }),
});
export type Meta = z.infer<typeof meta>;
export type DropReason = keyof Meta['drops'];

export const freshMeta = (epoch: string): Meta => ({
  format: FORMAT,
  epoch,
  age: 0,
  streams: ofStreams(freshStream),
  drops: { bytes: 0, age: 0, disk: 0, damaged: 0 },
});

/** Reads the meta row; null when it is no such thing. */
export function parseMeta(text: string | undefined | null): Meta | null {
  try {
    return meta.parse(JSON.parse(text ?? ''));
  } catch {
    return null;
  }
}

/** What one commit changes, all or nothing. Repeating it changes nothing more. */
export interface Commit {
  put: { stream: Stream; seq: number; record: Buffer }[];
  remove: { stream: Stream; seq: number }[];
  meta: Meta;
}

/** Why a commit failed, in the words of the system. The change is not on disk and may be tried again. */
class CommitError extends Error {
  override name = 'CommitError';
}

interface Tables {
  env: RootDatabase<Buffer, number>;
  streams: Record<Stream, Database<Buffer, number>>;
  meta: Database<string, string>;
}

const ignore = () => undefined;

function openTables(folder: string): Tables {
  // Not overlapping: a commit resolves after its fdatasync, and a failed one is reported (an overlapped flush that
  // fails is only printed, its promise never settles).
  const env = open<Buffer, number>({
    path: folder,
    encoding: 'binary',
    maxDbs: 5,
    overlappingSync: false,
    noSubdir: false,
  });
  return {
    env,
    streams: ofStreams((stream) => env.openDB<Buffer, number>(stream, { encoding: 'binary' })),
    meta: env.openDB<string, string>('meta', { encoding: 'string' }),
  };
}

export class Store {
  readonly #folder: string;
  #tables: Tables | null;

  constructor(folder: string) {
    this.#folder = folder;
    this.#tables = openTables(folder);
  }

  meta(): Meta | null {
    return parseMeta(this.#tables?.meta.get('meta'));
  }

  /** Records of a stream from `start` on, at most `limit`; none while the store is being opened anew. */
  *read(
    stream: Stream,
    start: number,
    limit: number,
    reverse = false,
  ): Iterable<{ seq: number; record: Buffer }> {
    const table = this.#tables?.streams[stream];
    if (!table) return;
    for (const { key, value } of table.getRange({ start, limit, reverse })) yield { seq: key, record: value };
  }

  /** Makes a change durable, or throws a CommitError and has changed nothing. Never called while one is under way. */
  async commit(change: Commit): Promise<void> {
    try {
      this.#tables ??= openTables(this.#folder);
      await reserve(this.#folder, this.#tables.env.getStats() as Stats, change.put);
      await this.#write(this.#tables, change);
    } catch (error) {
      const reason = await reasonOf(error);
      if (overran(reason)) dieAtOnce();
      await this.#reopen();
      throw new CommitError(reason);
    }
  }

  #write(tables: Tables, change: Commit): Promise<unknown> {
    return tables.env.batch(() => {
      // Each operation hands out a promise of the same commit; unheard, its rejection would end the process.
      for (const { stream, seq, record } of change.put) tables.streams[stream].put(seq, record).catch(ignore);
      for (const { stream, seq } of change.remove) tables.streams[stream].remove(seq).catch(ignore);
      tables.meta.put('meta', JSON.stringify(change.meta)).catch(ignore);
    });
  }

  async #reopen(): Promise<void> {
    const old = this.#tables;
    this.#tables = null;
    await old?.env.close().catch(ignore);
    try {
      this.#tables = openTables(this.#folder);
    } catch {
      // The next commit tries again.
    }
  }

  async close(): Promise<void> {
    const old = this.#tables;
    this.#tables = null;
    await old?.env.close();
  }
}

/**
 * Whether LMDB's words about a page that it could not write are longer than the 100 bytes it keeps for them
 * (liblmdb/mdb.c of lmdb 3.5.6, mdb_page_flush; malloc rounds up to 104): then the heap behind them is damaged.
 */
export function overran(reason: string): boolean {
  const words = /Attempting to write page at .*/.exec(reason)?.[0];
  return words !== undefined && words.length >= 104;
}

/** Nothing of this process can be trusted; what was reported as stored is on disk, and the next start goes on from it. */
function dieAtOnce(): void {
  writeSync(2, 'the disk of the outbox failed in a way that LMDB does not survive: ending at once\n');
  process.kill(process.pid, 'SIGKILL');
}

/** lmdb rejects with "see commitError": a promise of the error itself, which settles at once or never. */
async function reasonOf(error: unknown): Promise<string> {
  const words = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));
  const nested = (error as { commitError?: Promise<never> } | null)?.commitError;
  if (!nested) return words(error);
  const soon = new Promise<string>((resolve) => setImmediate(resolve, 'the commit failed'));
  return Promise.race([nested.catch(words), soon]);
}
