import { AddressSpace } from '@rollcall/shared/address-space';
import { parseAddress, parseCidr, type Range } from '@rollcall/shared/ip';
import { parseTargets } from '@rollcall/shared/targets';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Scope } from './scope.ts';

const block = (text: string): Range => {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value.range;
};
const space = (text: string): AddressSpace => {
  const parsed = parseTargets(text, { allowLoopback: true, allowSpecial: true });
  if (!parsed.ok) throw new Error(text);
  return new AddressSpace(parsed.targets.ranges);
};
const allowed = (scope: Scope, address: string): boolean => scope.refuse(space(address)).count === 0;

describe('F94, F95: what a collector may sweep', () => {
  const rows: [string, { allow?: string[]; deny?: string[]; loopback?: boolean }, string, boolean][] = [
    ['anything by default', {}, '10.0.0.1', true],
    ['anything by default', {}, '2001:db8::1', true],
    ['not the metadata address', {}, '169.254.169.254', false],
    ['not multicast', {}, '239.1.1.1', false],
    ['not this network', {}, '0.0.0.1', false],
    ['not broadcast', {}, '255.255.255.255', false],
    ['not link-local', {}, 'fe80::1', false],
    ['not loopback', {}, '127.0.0.1', false],
    ['loopback in a laboratory', { loopback: true }, '127.0.0.1', true],
    ['loopback by name', { allow: ['127.0.0.0/8'] }, '127.0.0.1', true],
    ['special by name', { allow: ['169.254.10.0/24'] }, '169.254.10.1', true],
    ['special only as far as named', { allow: ['169.254.10.0/24'] }, '169.254.11.1', false],
    ['everything names nothing special', { allow: ['0.0.0.0/0'] }, '169.254.169.254', false],
    ['everything names nothing special', { allow: ['0.0.0.0/0'] }, '10.0.0.1', true],
    ['only what is allowed', { allow: ['10.0.0.0/8'] }, '192.168.0.1', false],
    ['only what is allowed', { allow: ['10.0.0.0/8'] }, '2001:db8::1', false],
    ['deny wins', { allow: ['10.0.0.0/8'], deny: ['10.1.0.0/16'] }, '10.1.2.3', false],
    ['deny wins over names', { allow: ['127.0.0.0/8'], deny: ['127.0.0.1/32'] }, '127.0.0.1', false],
  ];
  test.each(rows)('%s: %j: %s → %s', (_name, { allow, deny = [], loopback = false }, address, expected) => {
    const scope = new Scope({ allow: allow?.map(block), deny: deny.map(block), loopback });
    expect(allowed(scope, address)).toBe(expected);
  });

  test.each(['::10.0.0.1', '64:ff9b::10.0.0.1', '2002:a00:1::1', '64:ff9b:1::10.0.0.1', '::ffff:10.0.0.1'])(
    'attack: %s is no way around what is denied',
    (text) => {
      const parsed = parseAddress(text);
      if (!parsed.ok) throw new Error(text);
      const six = (allow?: string) =>
        new Scope({
          allow: allow === undefined ? undefined : [block(allow)],
          deny: [block('10.0.0.0/8')],
          loopback: true,
        });
      expect(six().allows(parsed.value)).toBe(false);
      expect(six('::/0').allows(parsed.value)).toBe(false);
      expect(six('64:ff9b::/96').allows(parsed.value)).toBe(false);
    },
  );

  test('NAT64 is swept where it is named, but for what is denied', () => {
    const scope = new Scope({ allow: [block('64:ff9b::/96')], deny: [block('10.0.0.0/8')], loopback: false });
    expect(allowed(scope, '64:ff9b::b00:1')).toBe(true);
    expect(allowed(scope, '64:ff9b::a00:1')).toBe(false);
  });

  test('each run of refused addresses is reported once, at its first', () => {
    const scope = new Scope({ allow: [block('10.0.0.0/24')], deny: [block('10.0.0.8/30')], loopback: false });
    const { count, reasons } = scope.refuse(space('10.0.0.1-10.0.0.20 10.0.1.1-10.0.1.3'));
    expect(count).toBe(4 + 3);
    expect([...reasons]).toEqual([
      [7, '10.0.0.8/30 is denied by this collector’s settings'],
      [20, '10.0.1.1-10.0.1.3 is outside what this collector’s settings allow'],
    ]);
  });

  test('agrees with asking for every address alone', () => {
    const v4 = fc
      .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 24, max: 32 }))
      .map(([last, length]) => block(`10.0.0.${last}/${length}`));
    fc.assert(
      fc.property(
        fc.array(v4, { minLength: 1, maxLength: 4 }),
        fc.array(v4, { maxLength: 4 }),
        (allow, deny) => {
          const scope = new Scope({ allow, deny, loopback: false });
          const all = space('10.0.0.0-10.0.0.255');
          const { bits, count } = scope.refuse(all);
          let refused = 0;
          for (let index = 0; index < all.size; index += 1) {
            const address = all.addressAt(index);
            const inside =
              allow.some((range) => range.contains(address)) &&
              !deny.some((range) => range.contains(address));
            expect(bits.has(index)).toBe(!inside);
            if (!inside) refused += 1;
          }
          expect(count).toBe(refused);
        },
      ),
      { numRuns: 50 },
    );
  });
});
