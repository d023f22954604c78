/** One bit for each of `size` indexes. */
export class Bits {
  readonly #bytes: Uint8Array;
  constructor(size: number) {
    this.#bytes = new Uint8Array((size >> 3) + 1);
  }
  has(index: number): boolean {
    return ((this.#bytes[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }
  set(index: number): void {
    this.#bytes[index >> 3] = (this.#bytes[index >> 3] ?? 0) | (1 << (index & 7));
  }
  clear(index: number): void {
    this.#bytes[index >> 3] = (this.#bytes[index >> 3] ?? 0) & ~(1 << (index & 7));
  }
}
