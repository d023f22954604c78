/**
 * The one writer of the outbox. Appends, deliveries and drops become one commit after the other, so a commit is the
 * group of what came in while the last one was being written. Whatever the disk does, it goes on trying: nothing that
 * waits is reported as stored before it is, nothing is lost for want of space.
 */
import type { Clock } from '@rollcall/shared/clock';
import { ofStreams, STREAMS, type Stream } from '@rollcall/shared/observation';
import type { Logger } from 'pino';
import { Disk } from './disk.ts';
import { type Eviction, toExpire, toFree } from './eviction.ts';
import { PendingCommit, type RecordRef } from './pending-commit.ts';
import { jsonBytes } from './record.ts';
import type { Commit, Meta, Store } from './store.ts';

export interface OutboxSettings {
  /** Most bytes of observations kept. */
  bytes: number;
  /** Longest an observation is kept, milliseconds of the collector's running time. */
  ageMs: number;
  /** Collecting pauses while the disk has less than this free, bytes. */
  minFreeBytes: number;
}

/** How long single appends are gathered before they are committed together. */
const GATHER_MS = 10;
/** Gathering ends early at this many waiting observations or bytes. */
const GATHER_ITEMS = 500;
const GATHER_BYTES = 256 * 1024;
/** Operations of one kind in one commit. */
const COMMIT_ITEMS = 2000;
/** Bytes that may wait in memory for the disk; further appends are refused. */
const WAITING_BYTES = 64 * 1024 * 1024;
/** A full outbox is emptied to this share of its bound: dropping is rare, and in large pieces. */
const LOW_WATER = 0.9;
/** A disk that refused to write is tried again after this. */
const RETRY_MS = 1000;
/** How often observations that are too old are looked for. */
const EXPIRE_EVERY_MS = 60_000;

/** The observation is not on disk, because the outbox was closed or too many wait for the disk already. */
export class NotStored extends Error {
  override name = 'NotStored';
}

export interface Waiting {
  stream: Stream;
  /** Null when the observation is larger than one may be. */
  record: Buffer | null;
  /** Called once, after the commit or with the reason why there will be none. */
  done: ((error?: Error) => void) | undefined;
}

export interface WriterDeps {
  store: Store;
  meta: Meta;
  folder: string;
  settings: OutboxSettings;
  clock: Clock;
  log: Logger;
  /** Called after every commit: more may be sent. */
  onWritten: () => void;
  /** Highest sequence of each stream that may be with the server already; never dropped. */
  floor: () => Record<Stream, number>;
}

export class Writer {
  readonly #deps: WriterDeps;
  readonly #closing = new AbortController();
  /** Ends a pause: it closes, or there is something to forget, which needs no room. */
  #pause = new AbortController();
  readonly #openedAt: number;
  readonly #ageAtOpening: number;
  readonly #stopExpiry: () => void;
  #meta: Meta;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #delivered: Record<Stream, number>;
  #damaged: (RecordRef & { stream: Stream })[] = [];
  #expiryDue = true;
  #failure: string | null = null;
  #noRoom: string | null = null;
  #dropping = false;
  readonly #disk: Disk;
  #running: Promise<void> | null = null;
  #committingAt: number | null = null;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
    this.#meta = deps.meta;
    this.#disk = new Disk(deps.folder, deps.settings.minFreeBytes, deps.clock);
    this.#openedAt = deps.clock.monotonic();
    this.#ageAtOpening = deps.meta.age;
    this.#delivered = ofStreams((stream) => deps.meta.streams[stream].acked);
    this.#stopExpiry = deps.clock.every(EXPIRE_EVERY_MS, () => {
      this.#expiryDue = true;
      this.#wake();
    });
    this.#wake();
  }

  /** As of the last commit. */
  get meta(): Meta {
    return this.#meta;
  }

  /** Why nothing can be written right now; null when all is well. */
  get paused(): string | null {
    return this.#failure ?? this.#noRoom;
  }

  /** How long the commit under way has been with the disk, milliseconds; 0 when there is none. */
  get stalledMs(): number {
    return this.#committingAt === null ? 0 : this.#deps.clock.monotonic() - this.#committingAt;
  }

  /** While records are being dropped none may be sent: one that left would be counted as lost. */
  get dropping(): boolean {
    return this.#dropping;
  }

  /** Age of the outbox, milliseconds of running time: a clock that nobody can set. */
  get age(): number {
    return this.#ageAtOpening + this.#deps.clock.monotonic() - this.#openedAt;
  }

  append(entries: readonly Waiting[]): void {
    const bytes = entries.reduce((sum, { record }) => sum + (record?.length ?? 0), 0);
    const refusal = this.#closing.signal.aborted
      ? new NotStored('the outbox is closed')
      : this.#waitingBytes + bytes > WAITING_BYTES
        ? new NotStored(`${WAITING_BYTES} bytes wait for the disk already`)
        : null;
    if (refusal) {
      for (const { done } of entries) done?.(refusal);
      return;
    }
    this.#waiting.push(...entries);
    this.#waitingBytes += bytes;
    this.#wake();
  }

  /** The server has committed everything up to and including `through`. */
  deliver(stream: Stream, through: number): void {
    this.#delivered[stream] = Math.max(this.#delivered[stream], through);
    this.#pause.abort();
    this.#wake();
  }

  /** A record turned out damaged: it goes, and is accounted for. */
  discard(stream: Stream, record: RecordRef): void {
    this.#damaged.push({ stream, ...record });
    this.#wake();
  }

  /** Writes what waits, unless the disk does not let it, and ends. */
  async stop(): Promise<void> {
    this.#stopExpiry();
    this.#closing.abort();
    this.#pause.abort();
    await this.#running;
    const error = this.#notStored();
    for (const { done } of this.#waiting.splice(0)) done?.(error);
  }

  #wake(): void {
    if (this.#hasWork()) this.#running ??= this.#run();
  }

  #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#damaged.length > 0 || this.#expiryDue || this.#isDelivered();
  }

  #isDelivered(): boolean {
    return STREAMS.some((stream) => this.#delivered[stream] > this.#meta.streams[stream].acked);
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      await this.#gather();
      if (this.#expiryDue) await this.#expire();
      const accepted = this.#waiting.length > 0 ? await this.#accept() : [];
      const pending = this.#begin();
      for (const { stream, record } of accepted) {
        if (record) pending.add(stream, record);
        else pending.refuse(stream, 'bytes');
      }
      this.#addDeliveries(pending);
      const written = !pending.changed || (await this.#commit(pending));
      const error = written ? undefined : this.#notStored();
      for (const { done } of accepted) done?.(error);
      if (pending.changed && written) this.#deps.onWritten();
      if (this.paused && this.#closing.signal.aborted) break;
      if (this.paused && !this.#isDelivered()) {
        this.#pause = new AbortController();
        await this.#sleep(RETRY_MS, this.#pause.signal);
      }
    }
    this.#running = null;
  }

  /** Waits a moment for company, so that single observations share a sync. */
  async #gather(): Promise<void> {
    if (this.#waiting.length >= GATHER_ITEMS || this.#waitingBytes >= GATHER_BYTES) return;
    await this.#sleep(GATHER_MS);
  }

  /** Takes from what waits as much as there is room for; pauses when there is none. */
  async #accept(): Promise<Waiting[]> {
    this.#say('noRoom', await this.#makeRoom());
    if (this.#noRoom) return [];
    let bytes = 0;
    const room = this.#deps.settings.bytes - this.#bytes();
    const end = this.#waiting.findIndex(({ record }, index) => {
      bytes += record?.length ?? 0;
      return index > 0 && (index >= COMMIT_ITEMS || bytes > room);
    });
    const accepted = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
    const taken = accepted.reduce((sum, { record }) => sum + (record?.length ?? 0), 0);
    this.#waitingBytes -= taken;
    this.#disk.written(taken);
    return accepted;
  }

  #begin(): PendingCommit {
    return new PendingCommit(this.#meta, this.#deps.clock.now(), this.age);
  }

  /** Adds deliveries and damage to the pending commit. */
  #addDeliveries(pending: PendingCommit): void {
    for (const stream of STREAMS) {
      const through = this.#delivered[stream];
      if (through <= pending.meta.streams[stream].acked) continue;
      const records: RecordRef[] = [];
      for (const { seq, record } of this.#deps.store.read(stream, 0, COMMIT_ITEMS)) {
        if (seq > through) break;
        records.push({ seq, bytes: jsonBytes(record) });
      }
      const last = records.length === COMMIT_ITEMS ? (records.at(-1)?.seq ?? through) : through;
      pending.deliver(stream, last, records);
    }
    for (const { stream, ...record } of this.#damaged.splice(0)) {
      // It may have gone by its age or for room meanwhile.
      const [there] = this.#deps.store.read(stream, record.seq, 1);
      if (there?.seq === record.seq && record.seq > pending.meta.streams[stream].acked)
        pending.drop(stream, [record], 'damaged');
    }
  }

  /** Commits until it succeeds; false when the outbox is closed before that. */
  async #commit(change: Commit): Promise<boolean> {
    for (;;) {
      try {
        this.#committingAt = this.#deps.clock.monotonic();
        await this.#deps.store.commit(change).finally(() => {
          this.#committingAt = null;
        });
        this.#meta = change.meta;
        this.#say('failure', null);
        return true;
      } catch (error) {
        this.#say('failure', `the outbox cannot be written: ${(error as Error).message}`);
        if (this.#closing.signal.aborted) return false;
        await this.#sleep(RETRY_MS);
      }
    }
  }

  /** Drops what the bounds demand; answers why nothing may be written now, or null. */
  async #makeRoom(): Promise<string | null> {
    const { bytes: limit, minFreeBytes } = this.#deps.settings;
    if (await this.#disk.isShort(this.#bytes()))
      return `less than ${minFreeBytes} bytes are free on the disk of the outbox`;
    const wanted = this.#bytes() + Math.min(this.#waitingBytes, limit * (1 - LOW_WATER));
    if (wanted > limit)
      await this.#drop(toFree(this.#deps.store, wanted - limit * LOW_WATER, this.#deps.floor()), 'bytes');
    return this.#bytes() < limit ? null : 'the outbox is full of what may be with the server already';
  }

  #bytes(): number {
    return STREAMS.reduce((sum, stream) => sum + this.#meta.streams[stream].bytes, 0);
  }

  async #expire(): Promise<void> {
    this.#expiryDue = false;
    const before = this.age - this.#deps.settings.ageMs;
    if (before > 0) await this.#drop(toExpire(this.#deps.store, before, this.#deps.floor()), 'age');
  }

  async #drop(evictions: AsyncGenerator<Eviction>, reason: 'bytes' | 'age'): Promise<void> {
    let dropped = 0;
    this.#dropping = true;
    for await (const { stream, records } of evictions) {
      const pending = this.#begin();
      pending.drop(stream, records, reason);
      if (!(await this.#commit(pending))) break;
      dropped += records.length;
    }
    this.#dropping = false;
    if (dropped === 0) return;
    this.#deps.log.warn({ dropped, reason }, 'observations were dropped from the outbox');
    this.#deps.onWritten();
  }

  #say(what: 'failure' | 'noRoom', reason: string | null): void {
    const before = this.paused;
    if (what === 'failure') this.#failure = reason;
    else this.#noRoom = reason;
    const { paused } = this;
    if (paused === before) return;
    if (paused) this.#deps.log.error({ reason: paused }, 'collecting is paused');
    else this.#deps.log.info('collecting continues');
  }

  #notStored(): NotStored {
    return new NotStored(this.paused ?? 'the outbox was closed');
  }

  #sleep(ms: number, signal = this.#closing.signal): Promise<void> {
    return this.#deps.clock.sleep(ms, signal).catch(() => undefined);
  }
}
