import type { Candidate } from '@rollcall/snmp/discover';

/** Who answered ICMP and still waits to be asked by SNMP, at most, before ICMP is held up. */
const WAITING_MOST = 10_000;

/**
 * Whom to ask by SNMP, in the order of their promise: who answered ICMP before who did not. Indexes only: of the silent
 * there may be a million. Ends at `end()`.
 */
export class Candidates implements AsyncIterable<Candidate> {
  readonly #alive = new Queue();
  readonly #silent = new Queue();
  readonly #make: (index: number) => Candidate;
  #ended = false;
  #closed = false;
  #wake: (() => void) | undefined;
  #room: Promise<void> | undefined;
  #makeRoom: (() => void) | undefined;

  constructor(make: (index: number) => Candidate) {
    this.#make = make;
  }

  alive(index: number): void {
    this.#alive.push(index);
    this.#wake?.();
  }

  silent(index: number): void {
    this.#silent.push(index);
    this.#wake?.();
  }

  /** Nobody is added any more. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** A promise while enough wait. */
  room(): Promise<void> | undefined {
    if (this.#closed || this.#alive.size < WAITING_MOST) return undefined;
    this.#room ??= new Promise((resolve) => {
      this.#makeRoom = resolve;
    });
    return this.#room;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Candidate, void, void> {
    try {
      for (;;) {
        const alive = this.#alive.shift();
        const silent = alive === undefined ? this.#silent.shift() : undefined;
        if (this.#alive.size < WAITING_MOST) this.#letGo();
        if (alive !== undefined) yield { ...this.#make(alive), alive: true };
        else if (silent !== undefined) yield this.#make(silent);
        else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      // Nobody takes any more: nobody is to wait for it.
      this.#closed = true;
      this.#letGo();
    }
  }

  #letGo(): void {
    this.#makeRoom?.();
    this.#makeRoom = undefined;
    this.#room = undefined;
  }
}

/** First in, first out, without moving what waits at every step. */
class Queue {
  #items: number[] = [];
  #next = 0;

  get size(): number {
    return this.#items.length - this.#next;
  }

  push(item: number): void {
    this.#items.push(item);
  }

  shift(): number | undefined {
    const item = this.#items[this.#next];
    if (item === undefined) return undefined;
    this.#next += 1;
    if (this.#next * 2 > this.#items.length && this.#next >= 1024) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }
}
