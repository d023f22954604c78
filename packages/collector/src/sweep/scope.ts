/**
 * What this collector may sweep, no matter who asks: the allow and deny lists of the site's administrator, and the blocks that
 * nobody sweeps by accident. The server has its own policy; this one wins.
 */
import type { AddressSpace } from '@rollcall/shared/address-space';
import { type Address, classifyAddress, difference, parseCidr, Range, unionOf } from '@rollcall/shared/ip';
import { Bits } from '../icmp/bits.ts';

/** Swept only where the allow list names them: answers there say nothing about a site. */
const SPECIAL = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  'fe80::/10',
  'ff00::/8',
];
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** IPv6 in which IPv4 addresses stand: its first address, and by how many bits they stand further left than the end. */
const CARRIERS: readonly [first: bigint, shift: bigint][] = [
  // ::a.b.c.d and ::ffff:a.b.c.d, which a host sends by IPv4
  [0n, 0n],
  [0xffffn << 32n, 0n],
  // NAT64 (RFC 6052, its well-known prefix and RFC 8215), 6to4 (RFC 3056)
  [0x64_ff9bn << 96n, 0n],
  [0x64_ff9b_0001n << 80n, 0n],
  [0x2002n << 112n, 80n],
];
/** What reaches the addresses of an IPv4 range by IPv6. */
const carried = ({ first, last }: Range): Range[] =>
  CARRIERS.map(
    ([start, shift]) => new Range(6, start + (first << shift), start + ((last + 1n) << shift) - 1n),
  );

const rangesOf = (blocks: readonly string[]): Range[] =>
  blocks.flatMap((text) => {
    const parsed = parseCidr(text);
    return parsed.ok ? [parsed.value.range] : [];
  });
const IPV4 = new Range(4, 0n, 2n ** 32n - 1n);
const EVERYTHING = [IPV4, new Range(6, 0n, 2n ** 128n - 1n)];

export interface ScopeSettings {
  /** Absent: everything but special blocks. */
  allow?: readonly Range[] | undefined;
  deny: readonly Range[];
  /** Loopback may be swept without being named: the server is on this machine itself, a laboratory. */
  loopback: boolean;
}

/** Why addresses are left alone. */
export interface Refused {
  bits: Bits;
  count: number;
  /** Index of the first address of each run of refused ones → reason. */
  reasons: Map<number, string>;
}

export class Scope {
  readonly #allowed: Range[];
  readonly #asked: Range[];
  readonly #deny: readonly Range[];

  constructor({ allow, deny, loopback }: ScopeSettings) {
    this.#deny = deny.flatMap((range) => (range.family === 4 ? [range, ...carried(range)] : [range]));
    const special = [
      ...rangesOf(SPECIAL),
      ...difference(carried(IPV4), rangesOf(LOOPBACK)),
      ...(loopback ? [] : rangesOf(LOOPBACK)),
    ];
    // 0.0.0.0/0 names no special block; 169.254.10.0/24 does.
    const named = (allow ?? []).filter((range) => difference([range], special).length === 0);
    this.#asked = unionOf(allow ?? EVERYTHING);
    this.#allowed = difference(this.#asked, [...difference(special, named), ...this.#deny]);
  }

  allows(address: Address): boolean {
    return this.#allowed.some((range) => range.contains(address));
  }

  /** The addresses of a space that may not be swept. */
  refuse(space: AddressSpace): Refused {
    const bits = new Bits(space.size);
    const reasons = new Map<number, string>();
    let count = 0;
    let start = 0;
    for (const range of space.ranges) {
      for (const piece of difference([range], this.#allowed)) {
        const first = start + Number(piece.first - range.first);
        const size = Number(piece.size);
        for (let index = first; index < first + size; index += 1) bits.set(index);
        reasons.set(first, this.#reason(piece));
        count += size;
      }
      start += Number(range.size);
    }
    return { bits, count, reasons };
  }

  #reason(piece: Range): string {
    if (this.#deny.some((range) => range.intersect(piece)))
      return `${piece} is denied by this collector’s settings`;
    if (difference([piece], this.#asked).length > 0)
      return `${piece} is outside what this collector’s settings allow`;
    const kind = classifyAddress(piece.at(0));
    return `${piece} (${kind}) is swept only where this collector’s settings allow it by name`;
  }
}
