/**
 * Batches as they came on the wire: read here, and by nobody before. Each item is read alone: one that cannot be read spoils no
 * other.
 */
import { createHash } from 'node:crypto';
import { canonicalAddress } from '@rollcall/shared/ip';
import type { Observation, Stream } from '@rollcall/shared/observation';
import { parseCollectorMessage, parseObservation, type UnreadBatch } from '@rollcall/shared/protocol';
import { pruned } from '@rollcall/shared/storable';
import type { Sql } from '../platform/db/sql.ts';
import { inPieces } from '../platform/pieces.ts';
import { invalid } from '../platform/problem.ts';
import type { Stored, WaitingBatches } from '../ports.ts';

/** Consecutive observations of one stream of one collector, as they came; item i has sequence `from + i`. */
export interface Batch {
  collectorId: string;
  siteId: string;
  epoch: string;
  stream: Stream;
  from: number;
  items: readonly unknown[];
  /** Server clock minus collector clock, milliseconds. */
  clockOffsetMs: number;
}

export type Item =
  | {
      seq: number;
      observation: Observation;
      at: number;
      digest: string | undefined;
      /** What of it this version does not know. */
      unknown: readonly string[];
      dead?: never;
    }
  | { seq: number; dead: DeadLetter; observation?: never };

/** An item as it came, with its place in the stream. */
export interface UnreadItem {
  seq: number;
  body: unknown;
  /** Of what it says, where that can be recognised when it comes again. */
  digest?: string | undefined;
  /** It could not be stored. */
  dead?: DeadLetter;
}

/** An item that cannot be stored, kept with the reason. */
export interface DeadLetter {
  reason: string;
  body: string;
  hash: string;
}

/**
 * Reads batches and stores them, those that follow each other in one transaction. Fails as `accept` does, and with
 * `Problem('invalid_request')` at a batch that cannot be read: what came before it is stored.
 */
export async function storeBatches(
  accept: (batch: Batch) => Promise<{ through: number }>,
  { gather, ...whose }: WaitingBatches,
): Promise<Stored> {
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
  const read = parseCollectorMessage(utf8Of(frame));
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

const utf8Of = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();

function endedJob(item: unknown): string[] {
  const { kind, job } = (item ?? {}) as { kind?: unknown; job?: unknown };
  return kind === 'job-end' && typeof job === 'string' ? [job] : [];
}

/** Longest body of a dead letter, characters. */
const BODY_CHARACTERS = 64 * 1024;
const EARLIEST = Date.UTC(2020, 0);

export function readItem(
  { seq, body: item, digest, dead }: UnreadItem,
  batch: Pick<Batch, 'clockOffsetMs'>,
  now: number,
): Item {
  if (dead) return { seq, dead };
  const parsed = parseObservation(item);
  if (!parsed.ok) return { seq, dead: toDeadLetter(item, parsed.reason) };
  const { message, unknown } = parsed;
  const observation = canonical(message);
  if (observation === null) return { seq, dead: toDeadLetter(item, 'address: not a literal address') };
  const at = timeOf(observation, batch.clockOffsetMs, now);
  // What was not read as it came is read again when it comes again: by then by a version that knows more, perhaps.
  return { seq, observation, at, digest: unknown.length > 0 ? undefined : digest, unknown };
}

/** Samples keep a time that cannot be: a measurement at the wrong time is worse than none. `notAhead` mends a slight error. */
const timeOf = ({ kind, at }: Observation, offsetMs: number, now: number): number =>
  kind === 'samples' ? at + offsetMs : correctedTime(at, offsetMs, now);
/** What is estimated of a collector's clock is wrong by less. */
const SLIGHT_MS = 30_000;

/**
 * What arrives was measured before. Where samples seem to be slightly ahead, the estimate of the collector's clock is wrong
 * by so much, as after a heartbeat that waited for a busy machine. All of the batch are put back together: each at `now`,
 * two of one device would have one time, and the second would be lost.
 */
export function notAhead(items: readonly Item[], now: number): void {
  const slightly = items.flatMap((item) => (!item.dead && item.at - now <= SLIGHT_MS ? [item] : []));
  const aheadMs = Math.max(0, ...slightly.map(({ at }) => at - now));
  for (const item of slightly) item.at -= aheadMs;
}

/** The collector's time on the server's clock; never in the future, never from before there was a Rollcall. */
export const correctedTime = (at: number, offsetMs: number, now: number): number => {
  const corrected = at + offsetMs;
  return corrected > now || corrected < EARLIEST ? now : corrected;
};

/**
 * Times of one stream never go back. What is estimated of a collector's clock does, by as much as the machines are busy, and
 * a report that seems older than the one before would not count. @returns the last time.
 */
export function inOrder(items: readonly Item[], latest: number): number {
  let last = latest;
  for (const item of items) if (!item.dead) last = item.at = Math.max(last, item.at);
  return last;
}

/** Addresses in the one form in which they compare; null when the observation's own is none. */
function canonical(o: Observation): Observation | null {
  if (o.kind !== 'host' && o.kind !== 'device' && o.kind !== 'rows' && o.kind !== 'trap') return o;
  const address = canonicalAddress(o.address);
  if (address === null) return null;
  if (o.kind !== 'device') return { ...o, address };
  return { ...o, address, addresses: o.addresses.flatMap((each) => canonicalAddress(each) ?? []) };
}

export function toDeadLetter(item: unknown, reason: string): DeadLetter {
  const body = JSON.stringify(pruned(item)) ?? 'undefined';
  return {
    reason: textOf(reason, 500),
    body: textOf(body, BODY_CHARACTERS),
    hash: createHash('sha256').update(body).digest('hex'),
  };
}

/** The front of a text, as the database takes it: what names a fault may quote it. */
const textOf = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replaceAll('\0', '␀')
    .replace(/\p{Surrogate}/gu, '\ufffd');

/** Keeps what could not be stored. One that comes twice is one. */
export async function storeDeadLetters(sql: Sql, batch: Batch, items: readonly Item[]): Promise<void> {
  const letters = items.flatMap(({ seq, dead }) => (dead ? [{ seq, ...dead }] : []));
  if (letters.length === 0) return;
  await sql.query(
    `INSERT INTO dead_letters (site_id, collector_id, epoch, stream, seq, reason, body, hash)
     SELECT $1::uuid, $2::uuid, $3::uuid, $4, r.seq, r.reason, r.body, r.hash
     FROM jsonb_to_recordset($5::jsonb) AS r(seq bigint, reason text, body text, hash text)
     ON CONFLICT DO NOTHING`,
    [batch.siteId, batch.collectorId, batch.epoch, batch.stream, JSON.stringify(letters)],
  );
}
