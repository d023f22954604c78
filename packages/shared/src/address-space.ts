import { type Address, type Family, formatAddress, formatIpv4, parseAddress, Range } from './ip.ts';
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
  /** First address of each IPv4 range as a plain number: bigints would cost a sweep more than its arithmetic. */
  readonly #firstV4: Float64Array;
  /** Range numbers ordered by first address, one list per family. */
  readonly #byFirst: Record<Family, number[]>;

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
    this.#starts = new Float64Array(ranges.length + 1);
    this.#firstV4 = Float64Array.from(ranges, (range) =>
      range.family === 4 ? Number(range.first) : Number.NaN,
    );
    let size = 0n;
    for (const [i, range] of ranges.entries()) {
      size += range.size;
      if (size > 0xffff_ffffn) throw new RangeError(`${size} addresses do not fit an index of 32 bits`);
      this.#starts[i + 1] = Number(size);
    }
    this.size = Number(size);
    const first = (i: number) => ranges[i]?.first ?? 0n;
    const ordered = [...ranges.keys()].sort((a, b) => (first(a) < first(b) ? -1 : 1));
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
    const number = this.#rangeOf(index);
    const first = this.#firstV4[number] ?? Number.NaN;
    if (first >= 0) return formatIpv4(first + this.#offset(index, number));
    return formatAddress(this.#valueAt(index, number));
  }

  addressAt(index: number): Address {
    return this.#valueAt(index, this.#rangeOf(index));
  }

  /** Index of an address (any accepted text), -1 when it is not of this space. */
  indexOf(text: string): number {
    const parsed = parseAddress(text);
    if (!parsed.ok) return -1;
    const { family, value } = parsed.value;
    return family === 4 ? this.#indexOfV4(Number(value)) : this.#indexOfV6(value);
  }

  familyAt(index: number): Family {
    return (this.#firstV4[this.#rangeOf(index)] ?? Number.NaN) >= 0 ? 4 : 6;
  }

  /** Writes the address at `index` as 4 or 16 bytes and tells which. */
  writeBytes(index: number, into: DataView, at: number): 4 | 16 {
    const number = this.#rangeOf(index);
    const first = this.#firstV4[number] ?? Number.NaN;
    if (first >= 0) {
      into.setUint32(at, first + this.#offset(index, number));
      return 4;
    }
    const { value } = this.#valueAt(index, number);
    into.setBigUint64(at, value >> 64n);
    into.setBigUint64(at + 8, value & 0xffff_ffff_ffff_ffffn);
    return 16;
  }

  /** Index of the address whose bytes stand at `at`, -1 when it is not of this space. */
  indexOfBytes(family: Family, from: DataView, at: number): number {
    if (family === 4) return this.#indexOfV4(from.getUint32(at));
    return this.#indexOfV6((from.getBigUint64(at) << 64n) | from.getBigUint64(at + 8));
  }

  #offset(index: number, range: number): number {
    return index - (this.#starts[range] ?? 0);
  }

  #valueAt(index: number, number: number): Address {
    const range = this.#ranges[number];
    if (!range) throw new RangeError(`no range ${number}`);
    return { family: range.family, value: range.first + BigInt(this.#offset(index, number)) };
  }

  /** Number of the range that holds an index. */
  #rangeOf(index: number): number {
    if (!(index >= 0 && index < this.size))
      throw new RangeError(`no address has index ${index} of ${this.size}`);
    return lastWhere(this.#ranges.length, (number) => (this.#starts[number] ?? 0) <= index);
  }

  #indexOfV4(value: number): number {
    const order = this.#byFirst[4];
    const number = order[lastWhere(order.length, (i) => (this.#firstV4[order[i] ?? 0] ?? 0) <= value)];
    if (number === undefined) return -1;
    const offset = value - (this.#firstV4[number] ?? 0);
    const start = this.#starts[number] ?? 0;
    return offset >= 0 && start + offset < (this.#starts[number + 1] ?? 0) ? start + offset : -1;
  }

  #indexOfV6(value: bigint): number {
    const order = this.#byFirst[6];
    const first = (i: number) => this.#ranges[order[i] ?? 0]?.first ?? 0n;
    const number = order[lastWhere(order.length, (i) => first(i) <= value)];
    const range = number === undefined ? undefined : this.#ranges[number];
    if (number === undefined || !range || value < range.first || value > range.last) return -1;
    return (this.#starts[number] ?? 0) + Number(value - range.first);
  }
}

/** The last of 0 … count-1 for which `holds`, given that it holds up to some point and not beyond; 0 when for none. */
const lastWhere = (count: number, holds: (i: number) => boolean): number => {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
};
