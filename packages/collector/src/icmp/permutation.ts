/**
 * A keyed order of 0 … size-1, computed by index: no list in memory, and nobody without the key can predict which address
 * is asked next. A balanced Feistel network over the next even power of two, walked until the value falls inside
 * (cycle walking, Black and Rogaway 2002); four steps on average at worst. The rounds mix, they are no cipher: what
 * keeps answers honest is the check in each packet.
 */
export class Permutation {
  readonly size: number;
  readonly #half: number;
  readonly #mask: number;
  readonly #keys: Uint32Array;

  /** `key` has at least 16 bytes. */
  constructor(size: number, key: Uint8Array) {
    this.size = size;
    this.#half = Math.max(1, Math.ceil(Math.log2(Math.max(2, size)) / 2));
    this.#mask = 2 ** this.#half - 1;
    const view = new DataView(key.buffer, key.byteOffset, 16);
    this.#keys = Uint32Array.from([0, 4, 8, 12], (at) => view.getUint32(at));
  }

  /** The value at `position`. */
  at(position: number): number {
    if (!(position >= 0 && position < this.size))
      throw new RangeError(`position ${position} of ${this.size}`);
    let value = position;
    do value = this.#encrypt(value);
    while (value >= this.size);
    return value;
  }

  #encrypt(value: number): number {
    const mask = this.#mask;
    let left = Math.floor(value / (mask + 1));
    let right = value & mask;
    for (const key of this.#keys) {
      // Finalizer of MurmurHash3: every bit of key and half reaches every bit of the result.
      let mixed = right ^ key;
      mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
      mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
      mixed ^= mixed >>> 16;
      const next = (left ^ mixed) & mask;
      left = right;
      right = next;
    }
    return left * (mask + 1) + right;
  }
}
