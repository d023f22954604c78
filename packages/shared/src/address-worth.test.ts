import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifiesADevice } from './address-worth.ts';
import { canonicalAddress, classifyAddress, formatAddress, parseAddress } from './ip.ts';

describe('an address stands for a box', () => {
  it.each<[address: string, reached: string, stands: boolean]>([
    ['10.0.0.1', '10.0.0.1', true],
    ['192.0.2.1', '192.0.2.1', true],
    ['100.64.0.1', '', true],
    ['172.17.0.1', '', true],
    ['2001:db8::1', '', true],
    ['fd00::1', '', true],
    ['ff::1', '', true],
    ['0.0.0.0', '', false],
    ['127.0.0.1', '10.0.0.1', false],
    ['127.0.0.1', '127.0.0.1', false],
    ['127.0.1.1', '10.0.0.1', false],
    ['127.40.11.5', '127.40.11.6', true],
    ['169.254.3.4', '', false],
    ['224.0.0.5', '', false],
    ['255.255.255.255', '', false],
    ['::', '', false],
    ['::1', '::1', false],
    ['::ffff:10.0.0.1', '', false],
    ['fe80::1', '', false],
    ['FE80::1', '', false],
    ['febf::1', '', false],
    ['ff02::1', '', false],
  ])('%s of a box that answers at %s: %s', (address, reached, stands) => {
    expect(identifiesADevice(address, reached)).toBe(stands);
  });

  it('as its class says, whatever the address', () => {
    const any = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ family: 4 as const, value })),
      fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => ({ family: 6 as const, value })),
      fc.constantFrom('fe80::', 'ff02::', '::', '169.254.0.0', '127.0.0.0').chain((base) => {
        const parsed = parseAddress(base);
        if (!parsed.ok) throw new Error(parsed.reason);
        return fc.bigInt({ min: 0n, max: 0xffffn }).map((n) => ({
          family: parsed.value.family,
          value: parsed.value.value + n,
        }));
      }),
    );
    fc.assert(
      fc.property(any, (address) => {
        const never = ['this-network', 'loopback', 'link-local', 'multicast', 'broadcast', 'mapped'];
        const text = formatAddress(address);
        expect(canonicalAddress(text)).toBe(text);
        if (never.includes(classifyAddress(address))) expect(identifiesADevice(text), text).toBe(false);
        else if (!/^2[45]\d\./.test(text)) expect(identifiesADevice(text), text).toBe(true);
      }),
    );
  });
});
