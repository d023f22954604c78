/** Batches as they came on the wire, on their way into ingest: read here, and by nobody before. */
import { parseCollectorMessage, type UnreadBatch } from '@rollcall/shared/protocol';
import pLimit from 'p-limit';
import { invalid } from '../kernel/problem.ts';
import type { Ingest } from './ingest.ts';
import type { Batch } from './items.ts';

/** Batches of one stream, in order, and whose they are. */
export interface Unread extends Omit<Batch, 'from' | 'items'> {
  batches: readonly UnreadBatch[];
}

export interface Stored {
  /** Highest sequence of the stream that is committed. */
  through: number;
  /** Observations that were in the batches. */
  count: number;
  /** Jobs whose ends were among them. */
  ended: string[];
}

/** Read, batches are several times as large: so many windows of each stream are read and stored at once, no more. */
export const AT_ONCE = 3;

/**
 * Reads batches and stores them, those that follow each other in one transaction. Fails as `Ingest.accept` does, and with
 * `Problem('invalid_request')` at a batch that cannot be read: what came before it is stored.
 */
export function openReading(
  { accept }: Ingest,
  atOnce: number = AT_ONCE,
): (unread: Unread) => Promise<Stored> {
  // Apart: an event waits for no backlog of state, whosever.
  const turns = { state: pLimit(atOnce), event: pLimit(atOnce) };
  return (unread) =>
    turns[unread.stream](async () => {
      const { batches, ...whose } = unread;
      const stored: Stored = { through: -1, count: 0, ended: [] };
      for (const run of runsOf(batches)) {
        const { through } = await accept({ ...whose, ...run });
        stored.through = through;
        stored.count += run.items.length;
        stored.ended.push(...run.items.flatMap(endedJob));
      }
      return stored;
    });
}

function* runsOf(batches: readonly UnreadBatch[]): Generator<{ from: number; items: unknown[] }> {
  let run: { from: number; items: unknown[] } | undefined;
  for (const { from, frame } of batches) {
    const read = parseCollectorMessage(textOf(frame));
    const items = read.ok && read.message.type === 'observations' ? read.message.items : undefined;
    if (items && run && from === run.from + run.items.length) {
      run.items.push(...items);
      continue;
    }
    if (run) yield run;
    if (!items) throw invalid('observations', read.ok ? 'other than its head says' : read.reason);
    run = { from, items };
  }
  if (run) yield run;
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();

function endedJob(item: unknown): string[] {
  const { kind, job } = (item ?? {}) as { kind?: unknown; job?: unknown };
  return kind === 'job-end' && typeof job === 'string' ? [job] : [];
}
