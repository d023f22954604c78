import type { Change } from '@rollcall/shared/api/changes';
import { expect, it } from 'vitest';
import { differencesOf } from './net.ts';

let clock = 0;
const change = (kind: string, before: unknown, after: unknown, port: string | null = null): Change => {
  clock += 1;
  return {
    ...{
      id: String(clock),
      at: clock,
      kind,
      siteId: 's',
      site: 'north',
      deviceId: 'd',
      device: 'sw',
      before,
      after,
    },
    ...{ interfaceId: port, interface: port, message: kind, collector: null },
    endpoint: kind.startsWith('endpoint.') ? 'aa' : null,
  };
};
const at = (device: string, port: string) => ({ ports: [{ device, port, ifIndex: 1 }] });
const told = (...changes: Change[]) =>
  differencesOf(changes.toReversed()).map((one) => [
    one.interface,
    one.presence,
    Object.fromEntries(one.fields.map(({ name, before, after }) => [name, [before, after]])),
  ]);

it.each<[what: string, changes: () => Change[], told: unknown[]]>([
  [
    'the first value and the last of a field that changed twice',
    () => [
      change('device.upgraded', { osVersion: '1' }, { osVersion: '2' }),
      change('device.upgraded', { osVersion: '2' }, { osVersion: '3' }),
    ],
    [[null, null, { osVersion: ['1', '3'] }]],
  ],
  [
    'nothing of what was put back',
    () => [
      change('interface.changed', { vlan: 10 }, { vlan: 20 }, 'a'),
      change('interface.changed', { vlan: 20 }, { vlan: 10 }, 'a'),
      change('interface.removed', { name: 'b' }, {}, 'b'),
      change('interface.added', {}, { name: 'b' }, 'b'),
    ],
    [],
  ],
  [
    'what is there at one moment alone',
    () => [
      change('interface.added', {}, { name: 'a' }, 'a'),
      change('interface.removed', { name: 'b' }, {}, 'b'),
    ],
    [
      ['a', 'new', {}],
      ['b', 'gone', {}],
    ],
  ],
  [
    'lists by what went and came of them in all',
    () => [
      change('device.addresses', { addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }),
      change('device.addresses', { addresses: ['10.0.0.2'] }, { addresses: ['10.0.0.3'] }),
      change('device.vlans', { vlans: [] }, { vlans: [{ vlan: 30, name: 'voice' }] }),
    ],
    [[null, null, { addresses: ['10.0.0.1', '10.0.0.3'], vlans: [null, '30 voice'] }]],
  ],
  [
    'the VLANs of a trunk by those that it left and joined in all',
    () => [
      change('interface.changed', { taggedVlans: [20] }, { taggedVlans: [30, 40] }, 'a'),
      change('interface.changed', { taggedVlans: [30] }, { taggedVlans: [] }, 'a'),
    ],
    [['a', null, { taggedVlans: ['20', '40'] }]],
  ],
  [
    'neighbours by their port',
    () => [change('neighbour.changed', { port: 'a', sysName: 'old' }, { port: 'a', sysName: 'new' })],
    [[null, null, { 'neighbour on a': ['old', 'new'] }]],
  ],
  [
    'where an endpoint was and is',
    () => [
      change('endpoint.moved', at('sw', 'a'), at('sw', 'b')),
      change('endpoint.removed', at('sw', 'b'), {}),
      change('endpoint.added', { goneAt: 1 }, at('sw', 'c'), 'c'),
    ],
    [[null, null, { 'endpoint aa': ['sw a', 'sw c'] }]],
  ],
  [
    'nothing of an endpoint that is back where it was',
    () => [
      change('endpoint.moved', at('sw', 'a'), at('sw', 'b')),
      change('endpoint.moved', at('sw', 'b'), at('sw', 'a')),
    ],
    [],
  ],
])('a comparison tells %s', (_what, changes, expected) => {
  expect(told(...changes())).toEqual(expected);
});
