/** Numbers that follow from a seed: a schedule that failed is run again by naming it. (sfc32, by Chris Doty-Humphrey.) */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string | number) {
    let hash = 0x811c9dc5;
    const word = (salt: number) => {
      for (const byte of Buffer.from(`${salt} ${seed}`)) hash = Math.imul(hash ^ byte, 0x01000193);
      return hash >>> 0;
    };
    this.#a = word(1);
    this.#b = word(2);
    this.#c = word(3);
    for (let i = 0; i < 16; i++) this.next();
  }

  /** In [0, 1). */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    const one = from[this.whole(0, from.length - 1)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }

  shuffled<T>(from: readonly T[]): T[] {
    const list = [...from];
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.whole(0, i);
      [list[i], list[j]] = [list[j] as T, list[i] as T];
    }
    return list;
  }
}
