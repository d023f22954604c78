import { type Address, type Family, formatAddress, parseAddress, Range } from './ip.ts';
import type { Span } from './protocol.ts';

/**
 * Numbers the addresses of disjoint ranges 0 … size-1 in the order given, both ways, by arithmetic alone: memory
 * grows with the number of ranges, not of addresses. The byte forms serve packets (network byte order).
 */
export class AddressSpace {
  readonly size: number;
  readonly #ranges: readonly Range[];
  /** Index of each range's first address, plus `size` at the end. */
  readonly #starts: Float64Array;
  /** Range numbers ordered by first address, one list per family. */
  readonly #byFirst: Record<Family, number[]>;

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
    this.#starts = new Float64Array(ranges.length + 1);
    let size = 0n;
    for (const [i, range] of ranges.entries()) {
      size += range.size;
      if (size > 0xffff_ffffn) throw new RangeError(`${size} addresses do not fit an index of 32 bits`);
      this.#starts[i + 1] = Number(size);
    }
    this.size = Number(size);
    const ordered = [...ranges.keys()].sort((a, b) => (this.#first(a) < this.#first(b) ? -1 : 1));
    const familyOf = (i: number) => ranges[i]?.family;
    this.#byFirst = {
      4: ordered.filter((i) => familyOf(i) === 4),
      6: ordered.filter((i) => familyOf(i) === 6),
    };
  }

  /** The space of a job's spans; throws on a span that is no address or runs past the last one. */
  static ofSpans(spans: readonly Span[]): AddressSpace {
    return new AddressSpace(
      spans.map(({ first, count }) => {
        const parsed = parseAddress(first);
        if (!parsed.ok) throw new RangeError(`${first}: ${parsed.reason}`);
        const { family, value } = parsed.value;
        return new Range(family, value, value + BigInt(count) - 1n);
      }),
    );
  }

  get ranges(): readonly Range[] {
    return this.#ranges;
  }

  /** Canonical text of the address at `index`; throws a RangeError outside 0 … size-1. */
  at(index: number): string {
    return formatAddress(this.addressAt(index));
  }

  addressAt(index: number): Address {
    const { range, offset } = this.#locate(index);
    return { family: range.family, value: range.first + BigInt(offset) };
  }

  /** Index of an address (any accepted text), -1 when it is not of this space. */
  indexOf(text: string): number {
    const parsed = parseAddress(text);
    return parsed.ok ? this.#indexOfValue(parsed.value.family, parsed.value.value) : -1;
  }

  familyAt(index: number): Family {
    return this.#locate(index).range.family;
  }

  /** Writes the address at `index` as 4 or 16 bytes and tells which. */
  writeBytes(index: number, into: DataView, at: number): 4 | 16 {
    const { range, offset } = this.#locate(index);
    if (range.family === 4) {
      into.setUint32(at, Number(range.first) + offset);
      return 4;
    }
    const value = range.first + BigInt(offset);
    into.setBigUint64(at, value >> 64n);
    into.setBigUint64(at + 8, value & 0xffff_ffff_ffff_ffffn);
    return 16;
  }

  /** Index of the address whose bytes stand at `at`, -1 when it is not of this space. */
  indexOfBytes(family: Family, from: DataView, at: number): number {
    if (family === 4) return this.#indexOfValue(4, BigInt(from.getUint32(at)));
    return this.#indexOfValue(6, (from.getBigUint64(at) << 64n) | from.getBigUint64(at + 8));
  }

  #first(range: number): bigint {
    return this.#ranges[range]?.first ?? 0n;
  }

  #locate(index: number): { range: Range; offset: number } {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    const range = this.#ranges[low];
    if (!range || !(index >= 0 && index < this.size))
      throw new RangeError(`no address has index ${index} of ${this.size}`);
    return { range, offset: index - (this.#starts[low] ?? 0) };
  }

  #indexOfValue(family: Family, value: bigint): number {
    const order = this.#byFirst[family];
    let low = 0;
    let high = order.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#first(order[middle] ?? 0) <= value) low = middle;
      else high = middle - 1;
    }
    const number = order[low];
    const range = number === undefined ? undefined : this.#ranges[number];
    if (number === undefined || !range || value < range.first || value > range.last) return -1;
    return (this.#starts[number] ?? 0) + Number(value - range.first);
  }
}
