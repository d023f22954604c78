/** Errno names that one sweep keeps apart. */
const MOST_CODES = 255;

/** Why the last request to an address could not be sent: an octet an address, from the first such on. */
export class Unsent {
  readonly #size: number;
  readonly #codes: string[] = [];
  #byIndex: Uint8Array | null = null;

  constructor(size: number) {
    this.#size = size;
  }

  set(index: number, code: string): void {
    let known = this.#codes.indexOf(code) + 1;
    if (known === 0) known = this.#codes.length < MOST_CODES ? this.#codes.push(code) : MOST_CODES;
    this.#byIndex ??= new Uint8Array(this.#size);
    this.#byIndex[index] = known;
  }

  clear(indexes: Iterable<number>): void {
    if (this.#byIndex) for (const index of indexes) this.#byIndex[index] = 0;
  }

  /** Errno name, null where it was sent. */
  of(index: number): string | null {
    return this.#codes[(this.#byIndex?.[index] ?? 0) - 1] ?? null;
  }
}
