import type { NetworkInterfaceInfo } from 'node:os';
import { systemClock } from '@rollcall/shared/clock';
import { expect, it } from 'vitest';
import { OnLink } from './on-link.ts';

const at = (address: string, mac: string) => ({ address, mac }) as NetworkInterfaceInfo;
const MAKER = '00:1b:54:00:00:07';

it('all addresses of our own host have one hardware address: they are of one box', () => {
  const link = new OnLink(systemClock, '/nowhere', () => ({
    lo: [at('127.0.0.1', '00:00:00:00:00:00'), at('::1', '00:00:00:00:00:00')],
    br0: [at('10.1.0.5', '02:42:00:00:00:01')],
    eth0: [at('10.0.0.5', MAKER), at('fe80::1', MAKER), at('2001:db8::5', MAKER)],
  }));
  const asked = ['10.0.0.5', '10.1.0.5', '2001:db8::5', '127.0.0.1', 'fe80::1', '10.0.0.6'];
  expect(asked.map((address) => link.macOf(address))).toEqual([MAKER, MAKER, MAKER, ...Array(3)]);
  expect(link.isSilent('10.0.0.5')).toBe(false);
});

it('a host that does not tell its interfaces has none', () => {
  const link = new OnLink(systemClock, '/nowhere', () => {
    throw new Error('no netlink');
  });
  expect(link.macOf('10.0.0.5')).toBeUndefined();
});
