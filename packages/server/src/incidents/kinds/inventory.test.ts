import { expect, it } from 'vitest';
import type { ChangeOf } from '../../changes.ts';
import { INVENTORY_KINDS } from './inventory.ts';

/** About a device that is managed at another address than the one that the change is about. */
const about = {
  siteId: 's',
  at: 0,
  collectorId: null,
  deviceId: 'b',
  deviceName: 'gw2',
  address: '10.0.0.2',
  monitor: false,
};
const before = { deviceId: 'a', deviceName: 'gw1' };
const after = { address: '10.0.0.254' };
const kinds: { [K in keyof typeof INVENTORY_KINDS]: (typeof INVENTORY_KINDS)[K] } = INVENTORY_KINDS;

it('an address in two places: the message and its subject name that address, whoever is managed where', () => {
  const conflict: ChangeOf<'address.conflict'> = {
    ...about,
    kind: 'address.conflict',
    before,
    after: { ...after, reason: 'both list it' },
  };
  const moved: ChangeOf<'address.moved'> = {
    ...about,
    kind: 'address.moved',
    before,
    after: { deviceId: 'b', deviceName: 'gw2', ...after },
  };
  expect(kinds['address.conflict'].opens['address.conflict']?.(conflict)).toMatchObject({
    subject: 'b:10.0.0.254',
    message: '10.0.0.254 is claimed by gw2 (10.0.0.2) and gw1: both list it',
  });
  expect(kinds['address.moved'].opens['address.moved']?.(moved)).toMatchObject({
    subject: 'b:10.0.0.254:b',
    message: '10.0.0.254 moved from gw1 to gw2 (10.0.0.2)',
  });
});

it.each([
  ['gw', 'gw (10.0.0.2) and gw (10.0.0.1) may be one device: same engine id'],
  ['', 'the device at 10.0.0.2 and the device at 10.0.0.1 may be one device: same engine id'],
])('two devices of one name %j are told apart by where they are', (name, message) => {
  const change: ChangeOf<'identity.conflict'> = {
    ...about,
    deviceName: name,
    kind: 'identity.conflict',
    before: { ...before, deviceName: name, address: '10.0.0.1' },
    after: { evidence: 'engine-id', value: '80', reason: 'same engine id' },
  };
  expect(kinds['identity.conflict'].opens['identity.conflict']?.(change)?.message).toBe(message);
});

it.each<[string, string[], string | undefined]>([
  ['link-local addresses alone are not told', ['fe80::1', '169.254.0.1'], undefined],
  ['others are, without them', ['fe80::1', '10.0.0.3'], 'gw2: address 10.0.0.3 added'],
])('addresses that came: %s', (_, addresses, message) => {
  const change: ChangeOf<'device.addresses'> = {
    ...about,
    kind: 'device.addresses',
    before: { addresses: [] },
    after: { addresses },
  };
  expect(kinds['device.addresses'].opens['device.addresses']?.(change)?.message).toBe(message);
});
