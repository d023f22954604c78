import { expect, it } from 'vitest';
import { farEndOf } from './far-end.ts';

it.each([
  [['bridge', 'phone'], 'Cisco IP Phone 8841', null, 'phone'],
  [['bridge', 'access-point'], null, null, 'access-point'],
  [['bridge'], 'cisco AIR-AP2802I-E-K9', null, 'access-point'],
  [['bridge'], null, 'VMware ESX build-21930508', 'hypervisor'],
  [['station'], null, 'Debian GNU/Linux 12 Linux 6.8.12-4-pve', 'hypervisor'],
  [['bridge', 'router'], null, null, 'switch'],
  [['router'], null, null, 'router'],
  [['station'], null, 'Debian GNU/Linux 12', 'station'],
  [[], null, 'Debian GNU/Linux 12', null],
] as const)('%j of “%s”, “%s” is %s', (capabilities, platform, sysDescr, expected) => {
  expect(farEndOf({ capabilities, platform, sysDescr })).toBe(expected);
});
