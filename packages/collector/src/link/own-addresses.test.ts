import type { NetworkInterfaceInfo } from 'node:os';
import { expect, it } from 'vitest';
import { OwnAddresses } from './own-addresses.ts';

const at = (cidr: string | null) => ({ cidr }) as NetworkInterfaceInfo;

it('reports where the host stands, without loopback and link-local', () => {
  expect(
    new OwnAddresses().reported(() => ({
      lo: [at('127.0.0.1/8'), at('::1/128')],
      eth0: [at('10.0.1.5/24'), at('fe80::1/64'), at('2001:db8::5/64')],
      eth1: [at('169.254.3.3/16'), at(null)],
    })),
  ).toEqual(['10.0.1.5/24', '2001:db8::5/64']);
});

it('goes on telling of an interface that lost its carrier, the newest of what it may', () => {
  const own = new OwnAddresses();
  own.reported(() => ({ eth0: [at('10.0.1.5/24')], eth1: [at('10.0.2.5/24')] }));
  expect(own.reported(() => ({ eth0: [at('10.0.1.5/24')] }))).toEqual(['10.0.2.5/24', '10.0.1.5/24']);
  const many = Array.from({ length: 127 }, (_, i) => at(`10.1.${i}.1/24`));
  const told = own.reported(() => ({ eth0: [at('10.0.1.5/24'), ...many] }));
  expect(told).toHaveLength(128);
  expect(told).not.toContain('10.0.2.5/24');
});

it('reports nothing rather than a part', () => {
  const many = Array.from({ length: 129 }, (_, i) => at(`10.0.${i}.1/24`));
  expect(new OwnAddresses().reported(() => ({ eth0: many }))).toBeUndefined();
  expect(new OwnAddresses().reported(() => ({ eth0: many.slice(1) }))).toHaveLength(128);
});

it('reports nothing where the system lists nothing', () => {
  const refuses = () => {
    throw new Error('uv_interface_addresses returned Unknown system error 97');
  };
  expect(new OwnAddresses().reported(refuses)).toBeUndefined();
});
