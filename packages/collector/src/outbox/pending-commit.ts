/** One commit in the making: every change keeps the meta row's sums right, every loss leaves a gap behind it. */
import type { GapObservation, Stream } from '@rollcall/shared/observation';
import { encode, jsonBytes, seal } from './record.ts';
import type { Commit, DropReason, Meta } from './store.ts';

/** A record that is to go. */
export interface RecordRef {
  seq: number;
  bytes: number;
}

export class PendingCommit implements Commit {
  readonly put: Commit['put'] = [];
  readonly remove: Commit['remove'] = [];
  readonly meta: Meta;
  readonly #now: number;
  #changed = false;

  /** Starts from the meta of the last commit; `now` in Unix ms, `age` of the outbox in ms. */
  constructor(meta: Meta, now: number, age: number) {
    this.meta = { ...structuredClone(meta), age };
    this.#now = now;
  }

  /** Whether there is anything to commit. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Gives the record the next sequence of its stream. */
  add(stream: Stream, record: Buffer): void {
    this.#changed = true;
    const sums = this.meta.streams[stream];
    sums.last += 1;
    sums.count += 1;
    sums.bytes += jsonBytes(record);
    seal(record, sums.last);
    this.put.push({ stream, seq: sums.last, record });
  }

  /** Uses up a sequence for an observation that cannot be kept. */
  refuse(stream: Stream, reason: DropReason): void {
    const sums = this.meta.streams[stream];
    sums.last += 1;
    this.#lost(stream, sums.last, sums.last, 1, reason);
  }

  /** Removes records that the server has committed, up to and including `through`. */
  deliver(stream: Stream, through: number, records: readonly RecordRef[]): void {
    this.#changed = true;
    this.#take(stream, records);
    this.meta.streams[stream].acked = Math.max(this.meta.streams[stream].acked, through);
  }

  /** Drops records; their gap leaves in the same commit. */
  drop(stream: Stream, records: readonly RecordRef[], reason: DropReason): void {
    this.#take(stream, records);
    const [first] = records;
    if (!first) return;
    let [low, high] = [first.seq, first.seq];
    for (const { seq } of records) {
      low = Math.min(low, seq);
      high = Math.max(high, seq);
    }
    this.#lost(stream, low, high, records.length, reason);
  }

  /** Accounts for what a damaged outbox took with it; its sequences are those of its own epoch. */
  recordLoss(stream: Stream, fromSeq: number, toSeq: number, count: number): void {
    this.#lost(stream, fromSeq, toSeq, count, 'damaged');
  }

  #take(stream: Stream, records: readonly RecordRef[]): void {
    const sums = this.meta.streams[stream];
    for (const { seq, bytes } of records) {
      this.remove.push({ stream, seq });
      sums.count -= 1;
      sums.bytes -= bytes;
    }
  }

  #lost(stream: Stream, fromSeq: number, toSeq: number, count: number, reason: DropReason): void {
    this.meta.drops[reason] += count;
    const gap: GapObservation = { kind: 'gap', at: this.#now, stream, fromSeq, toSeq, count, reason };
    this.add('event', encode(gap, this.meta.age));
  }
}
