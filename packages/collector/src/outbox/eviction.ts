/**
 * What goes when the outbox is full or old. First the oldest samples, then state that newer state of the same subject
 * replaced, then the oldest state, then the oldest events. Never a gap (it accounts for others), never what may already be with the server
 * (`floor`): dropping that would make the account wrong.
 */
import { STREAMS, type Stream } from '@rollcall/shared/observation';
import type { RecordRef } from './pending-commit.ts';
import { decode, jsonBytes } from './record.ts';
import type { Store } from './store.ts';

type Records = Pick<Store, 'read'>;

/** Records looked at between two turns of the event loop. */
const CHUNK = 2000;
/** Subjects remembered while looking for replaced state (about 50 bytes each). */
const SUBJECTS = 1_000_000;

export interface Eviction {
  stream: Stream;
  records: RecordRef[];
}

type Floor = Record<Stream, number>;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Names records to drop, chunk by chunk, until they amount to `need` bytes or nothing more may go. */
export async function* toFree(store: Records, need: number, floor: Floor): AsyncGenerator<Eviction> {
  let left = need;
  const passes = [
    oldest(store, 'sample', floor),
    replaced(store, floor),
    oldest(store, 'state', floor),
    oldest(store, 'event', floor),
  ];
  for (const pass of passes) {
    for await (const { stream, records } of pass) {
      const taken = records.slice(0, enough(records, left));
      yield { stream, records: taken };
      left -= taken.reduce((sum, { bytes }) => sum + bytes, 0);
      if (left <= 0) return;
    }
  }
}

/** Names records written before `age` (of the outbox, ms). */
export async function* toExpire(store: Records, age: number, floor: Floor): AsyncGenerator<Eviction> {
  for (const stream of STREAMS) yield* oldest(store, stream, floor, age);
}

function enough(records: readonly RecordRef[], need: number): number {
  let sum = 0;
  const index = records.findIndex(({ bytes }) => {
    sum += bytes;
    return sum >= need;
  });
  return index < 0 ? records.length : index + 1;
}

async function* replaced(store: Records, floor: Floor): AsyncGenerator<Eviction> {
  const seen = new Map<number, number>();
  for (let start = Number.MAX_SAFE_INTEGER; start > floor.state && seen.size < SUBJECTS; ) {
    const records: RecordRef[] = [];
    let read = 0;
    for (const { seq, record } of store.read('state', start, CHUNK, true)) {
      read += 1;
      start = seq - 1;
      const stored = decode(record, seq);
      if (!stored || stored.subject === 0) continue;
      const newer = seen.get(stored.subject);
      if (newer === undefined) seen.set(stored.subject, stored.walk);
      else if (seq > floor.state && (newer === 0 || newer !== stored.walk))
        records.push({ seq, bytes: jsonBytes(record) });
    }
    if (records.length > 0) yield { stream: 'state', records };
    if (read < CHUNK) return;
    await turn();
  }
}

async function* oldest(
  store: Records,
  stream: Stream,
  floor: Floor,
  before = Number.POSITIVE_INFINITY,
): AsyncGenerator<Eviction> {
  for (let start = floor[stream] + 1; ; ) {
    const records: RecordRef[] = [];
    let read = 0;
    for (const { seq, record } of store.read(stream, start, CHUNK)) {
      start = seq + 1;
      const stored = decode(record, seq);
      if (stored && stored.age >= before) break;
      read += 1;
      if (!isGap(stored?.json)) records.push({ seq, bytes: jsonBytes(record) });
    }
    if (records.length > 0) yield { stream, records };
    if (read < CHUNK) return;
    await turn();
  }
}

/** By its first member, so that nothing needs parsing. */
const isGap = (json: Buffer | undefined): boolean => json?.indexOf('{"kind":"gap"') === 0;
