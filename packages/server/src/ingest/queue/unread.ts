/** Batches as they came on the wire, on their way into ingest: read here, and by nobody before. */
import { parseCollectorMessage, type UnreadBatch } from '@rollcall/shared/protocol';
import { invalid } from '../../platform/problem.ts';
import type { Ingest } from '../ingest.ts';
import type { Batch } from '../items.ts';
import { inPieces } from './pieces.ts';

/** Whose batches of one stream are to be stored. */
export interface Unread extends Omit<Batch, 'from' | 'items'> {
  /** The batches, in order: asked when there is room for them, so that what came while they waited goes along. */
  gather(): readonly UnreadBatch[];
}

export interface Stored {
  /** Highest sequence of the stream that is committed. */
  through: number;
  /** Observations that were in the batches. */
  count: number;
  /** Jobs whose ends were among them. */
  ended: string[];
}

/**
 * Reads batches and stores them, those that follow each other in one transaction. Fails as `Ingest.accept` does, and with
 * `Problem('invalid_request')` at a batch that cannot be read: what came before it is stored.
 */
export async function storeBatches({ accept }: Ingest, { gather, ...whose }: Unread): Promise<Stored> {
  const stored: Stored = { through: -1, count: 0, ended: [] };
  for (const run of runsOf(await inPieces(gather(), readBatch))) {
    const { through } = await accept({ ...whose, ...run });
    stored.through = through;
    stored.count += run.items.length;
    stored.ended.push(...run.items.flatMap(endedJob));
  }
  return stored;
}

/** A batch as it was read, or why it cannot be. */
type Read = { from: number } & ({ items: unknown[] } | { reason: string });

function readBatch({ from, frame }: UnreadBatch): Read {
  const read = parseCollectorMessage(textOf(frame));
  if (!read.ok) return { from, reason: read.reason };
  const { message } = read;
  return message.type === 'observations'
    ? { from, items: message.items }
    : { from, reason: 'other than its head says' };
}

function* runsOf(batches: readonly Read[]): Generator<{ from: number; items: unknown[] }> {
  let run: { from: number; items: unknown[] } | undefined;
  for (const { from, ...read } of batches) {
    if ('items' in read && run && from === run.from + run.items.length) {
      run.items.push(...read.items);
      continue;
    }
    if (run) yield run;
    if ('reason' in read) throw invalid('observations', read.reason);
    run = { from, items: read.items };
  }
  if (run) yield run;
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();

function endedJob(item: unknown): string[] {
  const { kind, job } = (item ?? {}) as { kind?: unknown; job?: unknown };
  return kind === 'job-end' && typeof job === 'string' ? [job] : [];
}
