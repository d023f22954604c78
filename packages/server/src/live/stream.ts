/** One client's server-sent events (WHATWG HTML, section 9.2): written as fast as it reads, and no faster. */
import type { LiveChange } from '@rollcall/shared/api/service';
import type { Entry } from './ring.ts';

/** What a stream writes to: an HTTP response. */
export interface Sink {
  /** False: the client is behind, wait for `drain`. */
  write(text: string): boolean;
  end(): void;
  destroy(): void;
}

/** Characters that are written at once, and one change more: then it is looked whether the client keeps up. */
const PIECE_LENGTH = 8_192;
/** Changes kept for a client that is behind; more, and it has to read everything again. */
const WAITING_MOST = 200;
/** A client that is behind for this long is cut. */
export const BEHIND_MS = 30_000;

export class Stream {
  readonly #sink: Sink;
  readonly #wants: (change: LiveChange) => boolean;
  readonly #now: () => number;
  #waiting: Entry[] = [];
  #overflowed = false;
  #ended = false;
  /** Monotonic time since when the client is behind; null: it keeps up. */
  #behindSince: number | null = null;

  constructor(sink: Sink, wants: (change: LiveChange) => boolean, now: () => number) {
    this.#sink = sink;
    this.#wants = wants;
    this.#now = now;
  }

  /** Starts where the client left off, or tells it to read everything again, or (new clients) just begins. */
  begin(lastId: string, resumed: readonly Entry[] | null | undefined): void {
    // How long the browser waits before it comes again.
    this.#write('retry: 1000\n\n');
    if (resumed === undefined) this.#write(`id: ${lastId}\n\n`);
    else if (resumed === null) this.resync(lastId);
    else this.send(resumed);
  }

  /** Those of the changes that the client may see, many in one piece. */
  send(entries: readonly Entry[]): void {
    let piece = '';
    for (const entry of entries) {
      if (!this.#wants(entry.change)) continue;
      if (this.#behindSince !== null) {
        this.#wait(entry);
        continue;
      }
      piece += entry.text;
      if (piece.length < PIECE_LENGTH) continue;
      this.#write(piece);
      piece = '';
    }
    if (piece !== '') this.#write(piece);
  }

  /** Some changes may have been missed. */
  resync(lastId: string): void {
    this.#waiting = [];
    this.#overflowed = this.#behindSince !== null;
    if (!this.#overflowed) this.#write(`id: ${lastId}\nevent: resync\ndata: {}\n\n`);
  }

  /** The client has read what was written. */
  drained(lastId: string): void {
    this.#behindSince = null;
    if (this.#overflowed) {
      this.resync(lastId);
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    this.send(waiting);
  }

  /** Keeps the way open through proxies, and cuts a client that stopped reading. */
  beat(): void {
    if (this.#behindSince === null) this.#write(':\n\n');
    else if (this.#now() - this.#behindSince > BEHIND_MS) this.#sink.destroy();
  }

  /** Nothing is written from now on: to write after the end is an error that would end the process. */
  end(): void {
    this.#ended = true;
    this.#sink.end();
  }

  #wait(entry: Entry): void {
    if (this.#waiting.length < WAITING_MOST) this.#waiting.push(entry);
    else this.#overflowed = true;
  }

  #write(text: string): void {
    if (this.#ended) return;
    if (!this.#sink.write(text)) this.#behindSince = this.#now();
  }
}
