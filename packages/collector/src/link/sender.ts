/**
 * Sends what the outbox holds, events before state before samples, within a window of unacknowledged batches. The bytes on their way
 * follow the link: doubled while acknowledgements come quickly, halved when they do not, so that a slow link still
 * carries heartbeats in time.
 */
import type { Clock } from '@rollcall/shared/clock';
import { STREAMS, type Stream } from '@rollcall/shared/observation';
import { BATCH_BYTES, BATCH_ITEMS, WINDOW } from '@rollcall/shared/protocol';
import type { Batch, Outbox } from '../outbox/outbox.ts';

export interface Wire {
  send(frame: string | Buffer): void;
  /** Bytes not yet handed to the system. */
  readonly bufferedAmount: number;
}

/** Places of the window that batches of a stream leave to those of the streams before it. */
const LEAVES: Record<Stream, number> = { event: 0, state: 2, sample: 4 };
/** In this order. */
const STREAMS_BY_RANK = ['event', 'state', 'sample'] as const;
/** Samples leave this share of the bytes on their way to the others. */
const NOT_FOR_SAMPLES = 0.5;
const LEAST_BYTES = 4 * 1024;
const FIRST_BYTES = 64 * 1024;
/** A batch acknowledged sooner than this lets the next ones be larger. */
const QUICK_MS = 1000;
/** One acknowledged later than this makes them smaller. */
const SLOW_MS = 4000;

interface OnItsWay {
  stream: Stream;
  through: number;
  bytes: number;
  sentAt: number;
}

export class Sender {
  readonly #outbox: Outbox;
  readonly #wire: Wire;
  readonly #clock: Clock;
  readonly #epoch: string;
  readonly #window: number;
  readonly #batchBytes: number;
  readonly #streams: readonly Stream[];
  readonly #sent: Record<Stream, number>;
  #onItsWay: OnItsWay[] = [];
  #budget = FIRST_BYTES;
  #draining = false;

  /** `through`: what the server has of this epoch already; `samples`: it takes that stream. */
  constructor(
    deps: { outbox: Outbox; wire: Wire; clock: Clock },
    through: Record<Stream, number>,
    limits: { window: number; batchBytes: number; samples: boolean },
  ) {
    this.#outbox = deps.outbox;
    this.#wire = deps.wire;
    this.#clock = deps.clock;
    this.#epoch = deps.outbox.epoch;
    this.#window = Math.max(1, Math.min(WINDOW, limits.window));
    this.#batchBytes = Math.max(1, Math.min(BATCH_BYTES, limits.batchBytes));
    this.#streams = STREAMS_BY_RANK.filter((stream) => stream !== 'sample' || limits.samples);
    this.#sent = { ...through };
  }

  /** Sends as much as may be on its way now. To be called whenever that may have changed. */
  pump(): void {
    while (!this.#draining) {
      const bytes = this.#onItsWay.reduce((sum, batch) => sum + batch.bytes, 0);
      const places = this.#window - this.#onItsWay.length;
      if (places <= 0 || (bytes > 0 && bytes >= this.#budget) || this.#wire.bufferedAmount > this.#budget)
        return;
      const batch = this.#next(places, bytes);
      if (!batch) return;
      this.#send(batch);
    }
  }

  /** The next batch of the first stream that has one and may use a place. */
  #next(places: number, bytes: number): Batch | null {
    for (const stream of this.#streams) {
      if (places <= Math.min(LEAVES[stream], this.#window - 1)) continue;
      const budget = stream === 'sample' ? this.#budget * NOT_FOR_SAMPLES : this.#budget;
      if (bytes > 0 && bytes >= budget) continue;
      const batch = this.#outbox.next(
        stream,
        this.#sent[stream],
        Math.min(this.#batchBytes, budget),
        BATCH_ITEMS,
      );
      if (batch) return batch;
    }
    return null;
  }

  #send({ stream, from, items }: Batch): void {
    const head = { type: 'observations', epoch: this.#epoch, stream, from };
    const parts: Uint8Array[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
    for (const [i, item] of items.entries()) parts.push(i === 0 ? item : Buffer.concat([COMMA, item]));
    const frame = Buffer.concat([...parts, END]);
    const through = from + items.length - 1;
    this.#sent[stream] = through;
    this.#onItsWay.push({ stream, through, bytes: frame.length, sentAt: this.#clock.monotonic() });
    this.#wire.send(frame);
  }

  /** Takes an acknowledgement; answers what is wrong with it, or null. Nothing is deleted for a wrong one. */
  acknowledged(epoch: string, stream: Stream, through: number): 'other-epoch' | 'never-sent' | null {
    if (epoch !== this.#epoch) return 'other-epoch';
    if (through > this.#sent[stream]) return 'never-sent';
    const now = this.#clock.monotonic();
    const [first] = this.#onItsWay.filter((batch) => batch.stream === stream && batch.through <= through);
    this.#onItsWay = this.#onItsWay.filter((batch) => batch.stream !== stream || batch.through > through);
    if (first) this.#adapt(now - first.sentAt);
    if (through >= 0) this.#outbox.ack(stream, through);
    this.pump();
    return null;
  }

  #adapt(tookMs: number): void {
    if (tookMs < QUICK_MS) this.#budget = Math.min(this.#budget * 2, this.#window * this.#batchBytes);
    else if (tookMs > SLOW_MS) this.#budget = Math.max(LEAST_BYTES, this.#budget / 2);
  }

  /** Sends nothing more; what is on its way may still be acknowledged. */
  drain(): void {
    this.#draining = true;
  }
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

/** What is wrong with the sequences of a welcome, or null: the server may not have what was never written. */
export function sequenceRegression(
  through: Record<Stream, number>,
  last: Record<Stream, number>,
): string | null {
  const stream = STREAMS.find((each) => through[each] > last[each]);
  return stream ? `the server has ${stream} ${through[stream]}, this outbox ends at ${last[stream]}` : null;
}
