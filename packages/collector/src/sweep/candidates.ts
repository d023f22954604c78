import type { Candidate } from '../snmp/discover.ts';

/** Whom to ask by SNMP, in the order of their promise: who answered ICMP before who did not. Ends when told so. */
export class Candidates implements AsyncIterable<Candidate> {
  readonly #alive: Candidate[] = [];
  /** Index → candidate, made when its turn comes: of the silent there may be a million. */
  readonly #silent: number[] = [];
  readonly #make: (index: number) => Candidate;
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(make: (index: number) => Candidate) {
    this.#make = make;
  }

  alive(index: number): void {
    this.#alive.push({ ...this.#make(index), alive: true });
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

  async *[Symbol.asyncIterator](): AsyncGenerator<Candidate, void, void> {
    // Positions instead of shift(), which moves the whole array.
    for (let alive = 0, silent = 0; ; ) {
      const candidate = this.#alive[alive];
      const index = this.#silent[silent];
      if (candidate) {
        alive += 1;
        yield candidate;
      } else if (index !== undefined) {
        silent += 1;
        yield this.#make(index);
      } else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
      }
    }
  }
}
