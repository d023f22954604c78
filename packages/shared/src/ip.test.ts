import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byAddress,
  canonicalAddress,
  canonicalBlock,
  classifyAddress,
  compareAddresses,
  difference,
  formatAddress,
  parseAddress,
  parseCidr,
  Range,
  unionOf,
} from './ip.ts';

const v4 = fc.bigInt({ min: 0n, max: 0xffff_ffffn }).map((value) => ({ family: 4 as const, value }));
// Mostly sparse addresses: runs of zero groups are where canonical forms differ.
const v6 = fc
  .array(fc.oneof(fc.constant(0), fc.constant(0xffff), fc.nat(0xffff)), { minLength: 8, maxLength: 8 })
  .map((groups) => ({ family: 6 as const, value: groups.reduce((sum, g) => sum * 65536n + BigInt(g), 0n) }));

describe('address text', () => {
  // Right column: what PostgreSQL 15 printed for `select x::inet`.
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['0:0:1::', '0:0:1::'],
    ['0:0:0:0:1:2:3:4', '::1:2:3:4'],
    ['::', '::'],
    ['::2', '::2'],
    ['::1:2', '::0.1.0.2'],
    ['::1.2.3.4', '::1.2.3.4'],
    ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
    ['::ffff:0:1', '::ffff:0.0.0.1'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ])('%s is %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));

  it.each([
    ['', 'empty'],
    ['010.1.1.1', 'starts with 0'],
    ['0x0a.1.1.1', 'hexadecimal'],
    ['0x0a010101', 'hexadecimal'],
    ['1.1', 'four parts'],
    ['167772161', 'four parts'],
    ['10.0.0.256', 'above 255'],
    ['10.0.0.', 'part is empty'],
    ['10.0.0.1.', 'four parts'],
    ['fe80::1%eth0', 'zone'],
    ['::ffff:010.1.1.1', 'starts with 0'],
    ['1::2::3', 'not an IPv6'],
    ['12345::', 'not an IPv6'],
    ['10.0.0.1/32', 'no mask'],
    ['１０.0.0.1', 'ASCII'],
    ['10.0.0.٣', 'ASCII'],
    ['10.0.0.1 ', 'not an address'],
    ['router.example', 'names are not resolved'],
    ['-iL', 'names are not resolved'],
    ['abcd', 'names are not resolved'],
    ['$(reboot)', 'names are not resolved'],
  ])('refuses %j: %s', (text, reason) =>
    expect(parseAddress(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) }),
  );

  it('reads back what it prints, in one canonical form', () => {
    fc.assert(
      fc.property(fc.oneof(v4, v6), (address) => {
        const text = formatAddress(address);
        expect(parseAddress(text)).toEqual({ ok: true, value: address });
        expect(canonicalAddress(text.toUpperCase())).toBe(text);
      }),
    );
  });

  it('accepts nothing that the platform does not, and refuses only zones of what it does', () => {
    const soup = fc.string({ unit: fc.constantFrom(...'0123459afFx:.%/ '), maxLength: 20 });
    fc.assert(
      fc.property(soup, (text) => {
        const strict = (isIPv4(text) || isIPv6(text)) && !text.includes('%');
        expect(parseAddress(text).ok).toBe(strict);
      }),
      { numRuns: 2000 },
    );
  });

  it('orders IPv4 before IPv6 and by value', () => {
    const [a, b, c] = [parse('9.0.0.0'), parse('10.0.0.0'), parse('::1')];
    expect([c, b, a].sort(compareAddresses)).toEqual([a, b, c]);
    expect(['10.0.0.10', '::1', '10.0.0.2'].sort(byAddress)).toEqual(['10.0.0.2', '10.0.0.10', '::1']);
  });
});

const parse = (text: string) => {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
};

describe('classes', () => {
  it.each([
    ['0.1.2.3', 'this-network'],
    ['::', 'this-network'],
    ['127.1.1.1', 'loopback'],
    ['::1', 'loopback'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1', 'link-local'],
    ['239.1.1.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::ffff:10.0.0.1', 'mapped'],
    ['10.1.1.1', 'private'],
    ['fd00::1', 'private'],
    ['100.64.0.1', 'shared'],
    ['240.0.0.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['8.8.8.8', 'global'],
    ['2606:4700::1', 'global'],
    ['::1.2.3.4', 'reserved'],
    ['64:ff9b:1::a00:1', 'reserved'],
  ])('%s is %s', (text, expected) => expect(classifyAddress(parse(text))).toBe(expected));
});

describe('CIDR', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8', 2n ** 24n],
    ['10.0.0.5/24', '10.0.0.0/24', 256n],
    ['10.0.0.5/32', '10.0.0.5', 1n],
    ['0.0.0.0/0', '0.0.0.0/0', 2n ** 32n],
    ['::/0', '::/0', 2n ** 128n],
    ['2001:db8::1/64', '2001:db8::/64', 2n ** 64n],
    ['2001:db8::1.2.3.4/126', '2001:db8::102:304/126', 4n],
  ])('%s is %s with %s addresses', (text, canonical, size) => {
    const parsed = parseCidr(text);
    if (!parsed.ok) throw new Error(parsed.reason);
    expect(String(parsed.value.range)).toBe(canonical);
    expect(parsed.value.range.size).toBe(size);
  });

  it.each([
    ['10.0.0.0/33', 'longer than'],
    ['::/129', 'longer than'],
    ['10.0.0.0/', 'plain decimal'],
    ['10.0.0.0/08', 'plain decimal'],
    ['10.0.0.0/-1', 'plain decimal'],
    ['10.0.0.0/255.0.0.0', 'plain decimal'],
    ['10.0.0.0/8/8', 'plain decimal'],
    ['10.0.0.0/２', 'plain decimal'],
    ['010.0.0.0/8', 'starts with 0'],
    ['fe80::1%eth0/64', 'zone'],
    ['::ffff:10.0.0.0/104', 'IPv4-mapped'],
    ['10.0.0.0', 'address/length'],
  ])('refuses %s: %s', (text, reason) =>
    expect(parseCidr(text)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) }),
  );

  it('refuses host bits when asked to, naming the block', () => {
    expect(parseCidr('10.0.0.5/24', { hostBits: 'refuse' })).toEqual({
      ok: false,
      reason: 'host bits are set; the block is 10.0.0.0/24',
    });
    expect(parseCidr('10.0.0.0/24', { hostBits: 'refuse' }).ok).toBe(true);
  });
});

const small = fc
  .tuple(fc.nat(60), fc.nat(12))
  .map(([first, more]) => new Range(4, BigInt(first), BigInt(first + more)));
const members = (ranges: readonly Range[]) =>
  new Set(ranges.flatMap((range) => Array.from({ length: Number(range.size) }, (_, i) => range.at(i).value)));

describe('Range', () => {
  it('index and address are inverse, and nothing outside has an index', () => {
    const range = new Range(4, 10n, 19n);
    for (let i = 0; i < 10; i += 1) expect(range.indexOf(range.at(i))).toBe(BigInt(i));
    expect(range.indexOf({ family: 4, value: 20n })).toBeNull();
    expect(range.indexOf({ family: 6, value: 12n })).toBeNull();
    expect(() => range.at(10)).toThrow(RangeError);
    expect(() => range.at(-1)).toThrow(RangeError);
  });

  it('refuses ends outside the family', () => {
    expect(() => new Range(4, 0n, 1n << 32n)).toThrow(RangeError);
    expect(() => new Range(4, 2n, 1n)).toThrow(RangeError);
  });

  it('splits on natural boundaries without losing or doubling an address', () => {
    fc.assert(
      fc.property(small, fc.nat(4), (range, bits) => {
        const pieces = [...range.splitAligned(bits)];
        expect(pieces.reduce((sum, piece) => sum + piece.size, 0n)).toBe(range.size);
        for (const piece of pieces) expect(piece.first >> BigInt(bits)).toBe(piece.last >> BigInt(bits));
      }),
    );
  });

  it('union and difference are those of sets, sorted and disjoint', () => {
    fc.assert(
      fc.property(fc.array(small, { maxLength: 8 }), fc.array(small, { maxLength: 8 }), (asked, holes) => {
        const hole = members(holes);
        const expected = [...members(asked)]
          .filter((value) => !hole.has(value))
          .sort((a, b) => Number(a - b));
        const left = difference(asked, holes);
        expect(left.flatMap((range) => [...members([range])])).toEqual(expected);
        expect(members(unionOf(asked))).toEqual(members(asked));
      }),
    );
  });

  it('families do not touch each other', () => {
    const [a, b] = [new Range(4, 0n, 5n), new Range(6, 3n, 9n)];
    expect(unionOf([b, a])).toEqual([a, b]);
    expect(difference([a, b], [new Range(6, 0n, 100n)])).toEqual([a]);
    expect(difference([a, b], [new Range(4, 0n, 100n)])).toEqual([b]);
  });
});

describe('canonicalBlock', () => {
  it.each([
    ['10.0.0.5/24', '10.0.0.0/24'],
    ['10.0.0.5', '10.0.0.5'],
    ['2001:DB8::/32', '2001:db8::/32'],
  ])('%s is %s', (text, block) => expect(canonicalBlock(text)).toEqual({ ok: true, value: block }));
  it.each(['10.0.0', '10.0.0.0/33', 'core-1'])('refuses %s', (text) =>
    expect(canonicalBlock(text).ok).toBe(false),
  );
});
