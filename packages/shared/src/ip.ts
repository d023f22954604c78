/**
 * Addresses, CIDR blocks and ranges: text in, canonical text out. Runs in the browser.
 *
 * Canonical address text is what PostgreSQL prints for `inet` without a mask (RFC 5952, except that every
 * IPv4-compatible or -mapped address ends in a dotted quad), so text compares equal across wire, table and page.
 */
import IPCIDR from 'ip-cidr';
import ipaddr from 'ipaddr.js';

export type Family = 4 | 6;

/** An address as a number; `value` is below 2³² or 2¹²⁸. */
export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** What could be read, or why it could not be. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; reason: string };

const refuse = (reason: string): { ok: false; reason: string } => ({ ok: false, reason });

/** Number of bits of an address. */
export const bitsOf = (family: Family): number => (family === 4 ? 32 : 128);

/** Highest value of the family. */
const lastOf = (family: Family): bigint => (1n << BigInt(bitsOf(family))) - 1n;

const quadValue = (text: string): bigint =>
  text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);

/** Text of an IPv4 address given as a number. */
export const formatIpv4 = (value: number): string =>
  `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;

/** Reads a strict IPv4 address: four decimal parts, no leading zeros (`010.1.1.1` means three things). */
const parseV4 = (text: string): Parsed<Address> => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text))
    return { ok: true, value: { family: 4, value: quadValue(text) } };
  const parts = text.split('.');
  if (parts.some((part) => /^0[xX]/.test(part))) return refuse('hexadecimal parts are not allowed');
  if (parts.some((part) => /^0\d/.test(part))) {
    return refuse('a part starts with 0 (octal or decimal? write it without)');
  }
  if (parts.length !== 4) return refuse(`an IPv4 address has four parts, this has ${parts.length}`);
  if (parts.some((part) => part === '')) return refuse('a part is empty');
  return refuse('a part is above 255');
};

const parseV6 = (text: string): Parsed<Address> => {
  if (text.includes('%')) return refuse('a zone (%…) is not allowed');
  // ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4 and takes octal parts, so the quad is turned to hex here.
  const cut = text.lastIndexOf(':') + 1;
  const tail = text.slice(cut);
  let hex = text;
  if (tail.includes('.')) {
    const quad = parseV4(tail);
    if (!quad.ok) return refuse(`its IPv4 part: ${quad.reason}`);
    const value = Number(quad.value.value);
    hex = `${text.slice(0, cut)}${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
  }
  if (!ipaddr.IPv6.isValid(hex)) return refuse('not an IPv6 address');
  const value = ipaddr.IPv6.parse(hex).parts.reduce((sum, part) => sum * 65536n + BigInt(part), 0n);
  return { ok: true, value: { family: 6, value } };
};

/** Reads one literal address, strictly: no octal, hex or short IPv4 forms, no zone, no mask, ASCII only. */
export const parseAddress = (text: string): Parsed<Address> => {
  if (text === '') return refuse('empty');
  if (text.includes('/')) return refuse('a single address has no mask');
  if (/[^0-9a-fA-F:.%xX]/.test(text) && !text.includes('%')) {
    const odd = /[^0-9a-fA-F:.]/u.exec(text)?.[0] ?? '';
    return refuse(
      odd.charCodeAt(0) > 126
        ? 'characters outside ASCII are not allowed'
        : 'not an address (names are not resolved here)',
    );
  }
  if (text.includes(':')) return parseV6(text);
  if (/^[0-9.xXa-fA-F]+$/.test(text) && /^[0-9]/.test(text)) return parseV4(text);
  return refuse('not an address (names are not resolved here)');
};

/** Canonical text of an address: the form PostgreSQL prints. */
export const formatAddress = ({ family, value }: Address): string => {
  if (family === 4) return formatIpv4(Number(value));
  const high = value >> 32n;
  // PostgreSQL's inet_net_ntop: six leading zero groups (and no seventh), or five and ffff, end in a quad.
  if (high === 0xffffn) return `::ffff:${formatIpv4(Number(value & 0xffff_ffffn))}`;
  if (high === 0n && value > 0xffffn) return `::${formatIpv4(Number(value))}`;
  const bytes = Array.from({ length: 16 }, (_, i) => Number((value >> BigInt(120 - 8 * i)) & 0xffn));
  return new ipaddr.IPv6(bytes).toRFC5952String();
};

const PART = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** As most addresses are: four decimal parts without leading zeros are written in one way only. */
const CANONICAL_V4 = new RegExp(`^(?:${PART}\\.){3}${PART}$`);

/** Canonical text of `text`, or null when it is not one strict literal address. */
export const canonicalAddress = (text: string): string | null => {
  if (CANONICAL_V4.test(text)) return text;
  const parsed = parseAddress(text);
  return parsed.ok ? formatAddress(parsed.value) : null;
};

/** Orders IPv4 before IPv6, then by value. */
export const compareAddresses = (a: Address, b: Address): number => {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
};

/** Orders texts of addresses as `compareAddresses` does; what is no address stays where it is. */
export const byAddress = (a: string, b: string): number => {
  const [x, y] = [parseAddress(a), parseAddress(b)];
  return x.ok && y.ok ? compareAddresses(x.value, y.value) : 0;
};

/** What an address is for (IANA special-purpose registries, as far as they matter to a sweep). */
export type AddressClass =
  | 'this-network'
  | 'loopback'
  | 'link-local'
  | 'multicast'
  | 'broadcast'
  | 'mapped'
  | 'private'
  | 'shared'
  | 'reserved'
  | 'global';

const CLASS_OF_RANGE: Record<string, AddressClass> = {
  unspecified: 'this-network',
  loopback: 'loopback',
  linkLocal: 'link-local',
  multicast: 'multicast',
  broadcast: 'broadcast',
  ipv4Mapped: 'mapped',
  private: 'private',
  uniqueLocal: 'private',
  deprecatedSiteLocal: 'private',
  carrierGradeNat: 'shared',
  unicast: 'global',
};

/** Class of an address: 0.0.0.0/8 and `::` are `this-network`, 100.64.0.0/10 is `shared` (RFC 6598). */
export const classifyAddress = (address: Address): AddressClass => {
  const parsed =
    address.family === 4
      ? ipaddr.IPv4.parse(formatAddress(address))
      : new ipaddr.IPv6(
          Array.from({ length: 8 }, (_, i) => Number((address.value >> BigInt(112 - 16 * i)) & 0xffffn)),
        );
  const kind = CLASS_OF_RANGE[parsed.range()] ?? 'reserved';
  return kind === 'global' && address.family === 6 && leadsToIpv4(address.value) ? 'reserved' : kind;
};

/** ::a.b.c.d (deprecated, RFC 4291) and 64:ff9b:1::/48 (RFC 8215), which ipaddr.js takes for any other. */
const leadsToIpv4 = (value: bigint): boolean => value >> 32n === 0n || value >> 80n === 0x64_ff9b_0001n;

// Math.min and Math.max do not take bigints.
export const lower = (a: bigint, b: bigint): bigint => {
  if (b < a) return b;
  return a;
};
export const higher = (a: bigint, b: bigint): bigint => {
  if (b > a) return b;
  return a;
};

/** Consecutive addresses of one family, both ends included. Never expanded. */
export class Range {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;

  constructor(family: Family, first: bigint, last: bigint) {
    if (first < 0n || last < first || last > lastOf(family)) {
      throw new RangeError(`not a range of IPv${family} addresses: ${first}-${last}`);
    }
    this.family = family;
    this.first = first;
    this.last = last;
  }

  static single({ family, value }: Address): Range {
    return new Range(family, value, value);
  }

  get size(): bigint {
    return this.last - this.first + 1n;
  }

  /** The address at `index`, counted from 0; throws a RangeError outside. */
  at(index: number | bigint): Address {
    const value = this.first + BigInt(index);
    if (value < this.first || value > this.last) throw new RangeError(`index ${index} is outside ${this}`);
    return { family: this.family, value };
  }

  contains({ family, value }: Address): boolean {
    return family === this.family && value >= this.first && value <= this.last;
  }

  /** Index of an address, or null when it is outside. */
  indexOf(address: Address): bigint | null {
    return this.contains(address) ? address.value - this.first : null;
  }

  /** The addresses in both, or null. */
  intersect(other: Range): Range | null {
    if (other.family !== this.family) return null;
    const first = higher(other.first, this.first);
    const last = lower(other.last, this.last);
    return first <= last ? new Range(this.family, first, last) : null;
  }

  /** What is left of this without `other`: none, one or two ranges. */
  subtract(other: Range): Range[] {
    const hole = this.intersect(other);
    if (!hole) return [this];
    const left: Range[] = [];
    if (hole.first > this.first) left.push(new Range(this.family, this.first, hole.first - 1n));
    if (hole.last < this.last) left.push(new Range(this.family, hole.last + 1n, this.last));
    return left;
  }

  /** Cuts at every multiple of 2^`bits` addresses, lazily: each piece lies in one natural CIDR block. */
  *splitAligned(bits: number): Generator<Range> {
    const mask = (1n << BigInt(bits)) - 1n;
    for (let first = this.first; first <= this.last; ) {
      const last = lower(first | mask, this.last);
      yield new Range(this.family, first, last);
      first = last + 1n;
    }
  }

  /** `a`, `a/n` where the range is one block, else `a-b`. */
  toString(): string {
    const first = formatAddress({ family: this.family, value: this.first });
    if (this.first === this.last) return first;
    const { size } = this;
    if ((size & (size - 1n)) === 0n && this.first % size === 0n) {
      return `${first}/${bitsOf(this.family) - (size.toString(2).length - 1)}`;
    }
    return `${first}-${formatAddress({ family: this.family, value: this.last })}`;
  }
}

/** Sorts, and joins what overlaps or touches: the same set of addresses as disjoint ranges, IPv4 first. */
export const unionOf = (ranges: readonly Range[]): Range[] => {
  const sorted = [...ranges].sort(
    (a, b) => a.family - b.family || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0),
  );
  const union: Range[] = [];
  for (const range of sorted) {
    const top = union.at(-1);
    if (top && top.family === range.family && range.first <= top.last + 1n) {
      if (range.last > top.last) union[union.length - 1] = new Range(top.family, top.first, range.last);
    } else {
      union.push(range);
    }
  }
  return union;
};

/** The addresses of `ranges` that are in none of `holes`; sorted and disjoint. */
export const difference = (ranges: readonly Range[], holes: readonly Range[]): Range[] => {
  const cuts = unionOf(holes);
  const left: Range[] = [];
  let from = 0;
  for (const range of unionOf(ranges)) {
    let rest: Range | null = range;
    // Cuts that end before this range end before every later one too.
    while (from < cuts.length && endsBefore(cuts[from], range)) from += 1;
    for (let i = from; rest && i < cuts.length; i += 1) {
      const cut = cuts[i];
      if (!cut?.intersect(rest)) break;
      const pieces: Range[] = rest.subtract(cut);
      rest = null;
      for (const piece of pieces) {
        if (piece.last < cut.first) left.push(piece);
        else rest = piece;
      }
    }
    if (rest) left.push(rest);
  }
  return left;
};

const endsBefore = (a: Range | undefined, b: Range): boolean =>
  a !== undefined && (a.family < b.family || (a.family === b.family && a.last < b.first));

/** A block as written: its addresses, its prefix length, and whether host bits were set. */
export interface Cidr {
  readonly range: Range;
  readonly prefixLength: number;
  readonly hostBits: boolean;
}

/**
 * Reads `address/length`. Set host bits are normalised away (`10.0.0.5/24` is 10.0.0.0/24) and reported, or refused
 * with `hostBits: 'refuse'`. IPv4-mapped blocks are refused: they name IPv4 addresses and are to be written as such.
 */
export const parseCidr = (
  text: string,
  options: { hostBits?: 'normalise' | 'refuse' } = {},
): Parsed<Cidr> => {
  const slash = text.indexOf('/');
  if (slash < 0) return refuse('a block is written address/length');
  const base = parseAddress(text.slice(0, slash));
  if (!base.ok) return base;
  const { family, value } = base.value;
  const length = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length))
    return refuse('the length behind / is not a plain decimal number');
  const prefixLength = Number(length);
  if (prefixLength > bitsOf(family)) {
    return refuse(`/${length} is longer than an IPv${family} address (${bitsOf(family)} bits)`);
  }
  if (classifyAddress(base.value) === 'mapped') return refuse(MAPPED);
  // Hex groups only: ip-cidr and its parser treat dotted quads inside IPv6 differently from ours.
  const plain = family === 4 ? formatAddress(base.value) : hexGroups(value);
  const block = new IPCIDR(`${plain}/${prefixLength}`);
  const first = block.start<bigint>({ type: 'bigInteger' });
  const last = block.end<bigint>({ type: 'bigInteger' });
  const hostBits = first !== value;
  if (hostBits && options.hostBits === 'refuse') {
    return refuse(`host bits are set; the block is ${new Range(family, first, last)}`);
  }
  return { ok: true, value: { range: new Range(family, first, last), prefixLength, hostBits } };
};

/** Canonical text of an address or of a CIDR block, as PostgreSQL reads it. */
export const canonicalBlock = (text: string): Parsed<string> => {
  if (text.includes('/')) {
    const cidr = parseCidr(text);
    if (!cidr.ok) return cidr;
    const { range, prefixLength } = cidr.value;
    return { ok: true, value: `${formatAddress(range.at(0))}/${prefixLength}` };
  }
  const address = canonicalAddress(text);
  return address === null
    ? refuse('must be an IPv4 or IPv6 address, or a CIDR')
    : { ok: true, value: address };
};

/** Why `::ffff:a.b.c.d` is no target. */
export const MAPPED = 'an IPv4-mapped IPv6 address; write the IPv4 address';

const hexGroups = (value: bigint): string =>
  Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');

/** Reads an address or a block: its addresses. */
export const parseBlock = (text: string): Parsed<Range> => {
  if (text.includes('/')) {
    const block = parseCidr(text);
    return block.ok ? { ok: true, value: block.value.range } : block;
  }
  const address = parseAddress(text);
  return address.ok ? { ok: true, value: Range.single(address.value) } : address;
};
