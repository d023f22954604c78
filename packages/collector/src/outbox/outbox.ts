/**
 * Everything a collector reports passes through here, online or not: numbered, on disk before it counts as collected,
 * kept until the server has committed it. Bounded; every observation dropped on purpose is counted in a `gap`.
 */
import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';
import {
  OBSERVATION_BYTES,
  type Observation,
  ofStreams,
  STREAMS,
  type Stream,
  streamOf,
} from '@rollcall/shared/observation';
import { IN_FLIGHT_BYTES } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { openStore, replaceStore } from './folder.ts';
import { decode, encode, jsonBytes } from './record.ts';
import type { DropReason, Meta, Store } from './store.ts';
import { NotStored, type OutboxSettings, Writer } from './writer.ts';

export { OutboxRefused } from './folder.ts';
export { NotStored, type OutboxSettings };

/** Consecutive observations, ready to travel: item i has sequence `from + i`. */
export interface Batch {
  stream: Stream;
  from: number;
  /** UTF-8 JSON of one observation each. */
  items: Buffer[];
}

export interface OutboxStatus {
  depth: number;
  bytes: number;
  /** When the oldest observation was written, Unix ms; null when there is none. */
  oldest: number | null;
  /** Observations dropped on purpose, ever. */
  drops: Record<DropReason, number>;
  /** Why nothing can be written right now, in words; null when all is well. */
  paused: string | null;
}

export interface OutboxOptions {
  /** Folder of its own; made when missing. Its parent is locked by the caller. */
  folder: string;
  settings: OutboxSettings;
  clock: Clock;
  log: Logger;
}

/** Damaged records kept as files for people to look at. */
const DAMAGED_KEPT = 100;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #listeners = new Set<() => void>();
  #store: Store;
  #writer: Writer;
  /** Highest sequence that may be with the server: sent by this run, or in flight when the last one ended. */
  #sent = ofStreams(() => -1);
  /** Of that what is still on the disk, in the pieces in which it was handed out. */
  #unacknowledged = ofStreams((): { through: number; bytes: number }[] => []);
  readonly #damaged = new Set<string>();

  private constructor(options: OutboxOptions, opened: { store: Store; meta: Meta }) {
    this.#options = options;
    this.#store = opened.store;
    this.#writer = this.#startWriter(opened.meta);
  }

  /**
   * Opens the outbox of a folder. A damaged one is moved aside, a new epoch begun and the loss reported.
   * Throws OutboxRefused for one that a newer version wrote, and the system's error where the folder is of no use.
   */
  static async open(options: OutboxOptions): Promise<Outbox> {
    const { store, meta, damage } = await openStore(options.folder, options.clock.now());
    if (damage) options.log.error(damage, 'the outbox was damaged: moved aside, a new one begun');
    return new Outbox(options, { store, meta });
  }

  #startWriter(meta: Meta): Writer {
    for (const stream of STREAMS) {
      const sent = this.#sentAtMost(stream);
      this.#sent[stream] = sent.through;
      this.#unacknowledged[stream] = [sent];
    }
    this.#damaged.clear();
    return new Writer({
      ...this.#options,
      store: this.#store,
      meta,
      floor: () => ({ ...this.#sent }),
      onWritten: () => {
        for (const listener of this.#listeners) listener();
      },
    });
  }

  /** What an earlier run may have sent of what is on the disk: `next` let it send no more, and nothing damaged. */
  #sentAtMost(stream: Stream): { through: number; bytes: number } {
    const sent = { through: -1, bytes: 0 };
    for (const { seq, record } of this.#store.read(stream, 0, IN_FLIGHT_BYTES)) {
      const bytes = decode(record, seq)?.json.length ?? 0;
      if (sent.bytes + bytes > IN_FLIGHT_BYTES) break;
      sent.through = seq;
      sent.bytes += bytes;
    }
    return sent;
  }

  /** Random id of this numbering; a new one begins with every new or lost outbox. */
  get epoch(): string {
    return this.#writer.meta.epoch;
  }

  /** Highest sequence ever given in each stream, -1 when none. */
  get last(): Record<Stream, number> {
    const { streams } = this.#writer.meta;
    return ofStreams((stream) => streams[stream].last);
  }

  /**
   * Resolves when the observations are on disk, in this order; waits as long as the disk makes it wait. Rejects with
   * NotStored when the outbox is closed first. Callers wait for it: that is how a slow disk slows a sweep.
   */
  append(observations: readonly Observation[]): Promise<void> {
    if (observations.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const last = observations.length - 1;
      const done = (error?: Error) => (error ? reject(error) : resolve());
      this.#writer.append(
        observations.map((observation, i) => ({
          stream: streamOf(observation),
          record: this.#encode(observation),
          done: i === last ? done : undefined,
        })),
      );
    });
  }

  #encode(observation: Observation): Buffer | null {
    const record = encode(observation, this.#writer.age);
    if (jsonBytes(record) <= OBSERVATION_BYTES) return record;
    const { kind } = observation;
    this.#options.log.error(
      { kind, bytes: jsonBytes(record) },
      'an observation is larger than one may be: dropped',
    );
    return null;
  }

  /** Calls `listener` whenever there may be something to send; the answer ends that. */
  onWritten(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * The observations behind `after`, as many as fit one batch, at least one; null when there are none, or when so much was
   * handed out and is still on the disk that the next run could not know what of it was sent.
   */
  next(stream: Stream, after: number, maxBytes: number, maxItems: number): Batch | null {
    if (this.#writer.dropping) return null;
    const items: Buffer[] = [];
    let from = after + 1;
    let bytes = 0;
    const room = this.#room(stream);
    let fresh = 0;
    for (const { seq, record } of this.#store.read(stream, after + 1, maxItems)) {
      const json = decode(record, seq)?.json;
      if (!json) this.#setAside(stream, seq, record);
      if (items.length > 0 && (!json || seq !== from + items.length || bytes + json.length > maxBytes)) break;
      if (!json) continue;
      // What was handed out before may be again, whatever the room: without it nothing would ever be forgotten.
      const isFresh = seq > this.#sent[stream];
      if (isFresh && fresh + json.length + 1 > room) break;
      if (items.length === 0) from = seq;
      items.push(json);
      bytes += json.length + 1;
      if (isFresh) fresh += json.length + 1;
    }
    if (items.length === 0) return null;
    const through = from + items.length - 1;
    if (through > this.#sent[stream]) {
      this.#unacknowledged[stream].push({ through, bytes: fresh });
      this.#sent[stream] = through;
    }
    return { stream, from, items };
  }

  /** Bytes that may be handed out of a stream beyond what was. */
  #room(stream: Stream): number {
    const { acked } = this.#writer.meta.streams[stream];
    // A piece may end in a record that was damaged: nobody acknowledges that one.
    const [first] = this.#store.read(stream, 0, 1);
    const forgotten = Math.max(acked, first ? first.seq - 1 : -1);
    this.#unacknowledged[stream] = this.#unacknowledged[stream].filter((piece) => piece.through > forgotten);
    return IN_FLIGHT_BYTES - this.#unacknowledged[stream].reduce((sum, piece) => sum + piece.bytes, 0);
  }

  #setAside(stream: Stream, seq: number, record: Buffer): void {
    const name = `${stream}-${seq}`;
    if (this.#damaged.has(name)) return;
    this.#damaged.add(name);
    const { folder, log } = this.#options;
    const file = join(dirname(folder), `${basename(folder)}.record-${name}`);
    log.error({ stream, seq, file }, 'a record of the outbox is damaged: left out and reported');
    try {
      if (this.#damaged.size <= DAMAGED_KEPT) writeFileSync(file, record, { mode: 0o600 });
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'the damaged record could not be kept');
    }
    this.#writer.discard(stream, { seq, bytes: jsonBytes(record) });
  }

  /** The server has committed everything up to and including `through`: it is deleted, soon. */
  ack(stream: Stream, through: number): void {
    if (through > this.last[stream]) throw new RangeError(`${stream} ${through} was never written`);
    this.#writer.deliver(stream, through);
  }

  /** How long the commit under way has been with the disk, milliseconds; 0 when there is none. */
  get stalledMs(): number {
    return this.#writer.stalledMs;
  }

  status(): OutboxStatus {
    const { streams, drops } = this.#writer.meta;
    const sum = (what: 'count' | 'bytes') => STREAMS.reduce((all, stream) => all + streams[stream][what], 0);
    return {
      depth: sum('count'),
      bytes: sum('bytes'),
      oldest: this.#oldest(),
      drops,
      paused: this.#writer.paused,
    };
  }

  #oldest(): number | null {
    const ages = STREAMS.flatMap((stream) =>
      [...this.#store.read(stream, 0, 1)].map(
        ({ seq, record }) => decode(record, seq)?.age ?? this.#writer.age,
      ),
    );
    return ages.length > 0
      ? Math.round(this.#options.clock.now() - (this.#writer.age - Math.min(...ages)))
      : null;
  }

  /**
   * The server knows sequences that this outbox never gave: the disk went back in time. What is here may be with the
   * server already, so it is moved aside, reported, and a new epoch begun.
   */
  async startAnew(reason: string): Promise<void> {
    const { folder, clock, log } = this.#options;
    await this.#writer.stop();
    await this.#store.close();
    const opened = await replaceStore(folder, clock.now(), this.#writer.meta, reason);
    log.error(opened.damage, 'the outbox was moved aside, a new one begun');
    this.#store = opened.store;
    this.#writer = this.#startWriter(opened.meta);
  }

  /** Writes what waits, unless the disk does not let it, and closes. */
  async close(): Promise<void> {
    await this.#writer.stop();
    await this.#store.close();
  }
}
