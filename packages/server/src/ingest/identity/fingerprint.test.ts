import type { DeviceObservation } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import { describe, expect, it } from 'vitest';
import {
  claims,
  deviceFingerprint,
  enterpriseOf,
  type Fingerprint,
  hostKeys,
  keyText,
  lookups,
  placeholderSerial,
  vendorEnterprise,
} from './fingerprint.ts';

const walk = (more: Partial<DeviceObservation> = {}): DeviceObservation => ({
  kind: 'device',
  at: 0,
  walk: uuidv7(),
  address: '10.0.0.1',
  system: {},
  addresses: [],
  macs: [],
  chassis: [],
  vendor: {},
  ...more,
});
const print = (more: Partial<DeviceObservation>, serial: string | null = null): Fingerprint => {
  const made = deviceFingerprint(walk(more), serial);
  if (!made) throw new Error('no fingerprint');
  return made;
};
const texts = (keys: ReturnType<typeof claims>) => keys.map(keyText);

describe('an engine id', () => {
  it.each<[hex: string, kept: boolean, why: string]>([
    ['80001f8803001b54000007', true, 'holds a MAC'],
    ['80001f880300005e000101', false, 'holds a virtual MAC'],
    ['80001f880a', false, 'has two octets of its own at least'],
    ['80001f88', false, 'is longer than its header'],
    ['80001f8803001b5400000', false, 'has whole octets'],
    ['80001f8804000000000000', false, 'of zeros'],
    ['80001f8804ffffffffffff', false, 'of ones'],
    ['80001f88010a000001', true, 'holds an IPv4 address'],
    ['80001f88017f000001', false, 'holds the loopback address'],
    ['80001f8801a9fe0001', false, 'holds a link-local address'],
    ['80001f880100000001', false, 'holds an address of this network'],
    ['80001f88010a00000101', false, 'holds more than an IPv4 address'],
    ['80001f88040102030405', false, 'is counted through'],
    ['80001f8804012345678901', false, 'is counted through in digits'],
    ['80001f88806ab1c2d3e4f5', true, 'holds random octets'],
    ['8000000981abcd', true, 'is short'],
  ])('%s: kept %s, it %s', (engineId, kept) =>
    expect(print({ engineId }).engineId).toBe(kept ? engineId : null),
  );
});

it.each<[serial: string, isPlaceholder: boolean]>([
  ['FOC2741X0EX', false],
  ['1234', false],
  ['123', true],
  ['  N/A ', true],
  ['To be filled by O.E.M.', true],
  ['0000000', true],
  ['00:00-00', true],
  ['XXXXXX', true],
  ['System Serial Number', true],
  ['AAAB', false],
])('the serial number %j is a placeholder: %s', (serial, expected) =>
  expect(placeholderSerial(serial)).toBe(expected),
);

it.each<[oid: string | null, enterprise: number | null, vendor: number | null]>([
  ['1.3.6.1.4.1.9.1.2494', 9, 9],
  ['.1.3.6.1.4.1.9.1', 9, 9],
  ['1.3.6.1.4.1.8072.3.2.10', 8072, null],
  ['1.3.6.1.4.1.2021.250', 2021, null],
  ['1.3.6.1.2.1', null, null],
  [null, null, null],
])('%s is of enterprise %s, of vendor %s', (oid, enterprise, vendor) => {
  expect(enterpriseOf(oid)).toBe(enterprise);
  expect(vendorEnterprise(oid)).toBe(vendor);
});

describe('a walked agent', () => {
  it('is where it was read; read on the collector’s own host, at the first address that it lists', () => {
    expect(print({ addresses: ['10.0.0.9'] }).address).toBe('10.0.0.1');
    expect(print({ address: '127.0.0.1', addresses: ['127.0.0.1', '10.0.0.9', '10.0.0.8'] }).address).toBe(
      '10.0.0.8',
    );
    expect(deviceFingerprint(walk({ address: '127.0.0.1' }), null)).toBeNull();
  });

  it('lists addresses that tell it apart: no loopback, no container bridge', () =>
    expect(print({ addresses: ['127.0.0.1', '172.17.0.1', '10.0.0.2', '10.0.0.2'] }).addresses).toEqual([
      '10.0.0.2',
    ]));

  it('has the serial numbers of its chassis in their order, without stack rows and placeholders', () => {
    const row = (index: number, serial: string | undefined, more = {}) => ({
      index,
      class: 'chassis',
      serial,
      ...more,
    });
    const chassis = [
      row(3, 'third', { position: 2 }),
      row(2, 'second', { position: 1 }),
      row(9, 'first too', { position: 1 }),
      row(1, 'of the stack', { class: 'stack' }),
      row(4, 'N/A'),
      row(5, undefined),
      row(6, 'unplaced'),
    ];
    expect(print({ chassis }, ' stated ').serials).toEqual([
      'STATED',
      'UNPLACED',
      'SECOND',
      'FIRST TOO',
      'THIRD',
    ]);
  });

  it('claims what only it can hold', () => {
    const known = print(
      {
        engineId: '80001f8803001b54000007',
        macs: ['00:1b:54:00:00:08', '00:1b:54:00:00:07', '00:00:5e:00:01:01'],
        bridgeMac: '00:1b:54:00:00:01',
        lldpChassisId: 'macAddress:00:1b:54:00:00:02',
        system: { sysName: ' Core-1 ', sysObjectId: '1.3.6.1.4.1.9.1.2494' },
      },
      'FOC1',
    );
    const keys = texts(claims(known));
    expect(keys.filter((key) => !key.startsWith('mac-set:'))).toEqual([
      'address:10.0.0.1',
      'engine-id:80001f8803001b54000007',
      'serial:9:FOC1',
      'chassis-mac:00:1b:54:00:00:01',
      'chassis-mac:00:1b:54:00:00:02',
      'sys-name:1.3.6.1.4.1.9.1.2494|core-1',
    ]);
    // The set is the same in any order, and another with another member.
    const setOf = (macs: string[]) =>
      texts(claims(print({ macs }))).find((key) => key.startsWith('mac-set:'));
    expect(keys).toContain(setOf(['00:1b:54:00:00:07', '00:1b:54:00:00:08']));
    expect(setOf(['00:1b:54:00:00:07'])).not.toBe(setOf(['00:1b:54:00:00:07', '00:1b:54:00:00:08']));
    expect(setOf([])).toBeUndefined();
  });

  it('claims an LLDP chassis id that is no hardware address as what it is', () => {
    expect(texts(claims(print({ lldpChassisId: 'local:sw-7' })))).toEqual([
      'address:10.0.0.1',
      'lldp-chassis:local:sw-7',
    ]);
    expect(texts(claims(print({})))).toEqual(['address:10.0.0.1']);
  });

  it('is looked up by its claims, by what a stack member or a host without an agent may hold, and by its own table', () => {
    const keys = texts(
      lookups(
        print(
          {
            macs: ['00:1b:54:00:00:07'],
            bridgeMac: '00:1b:54:00:00:01',
            addresses: ['10.0.0.2'],
            chassis: [{ index: 1, class: 'chassis', serial: 'MEMBER2' }],
            system: { sysObjectId: '1.3.6.1.4.1.9.1' },
          },
          'MEMBER1',
        ),
      ),
    );
    for (const key of [
      'serial:9:MEMBER1',
      'serial:9:MEMBER2',
      'manual:serial:9:MEMBER1',
      'shared:address:10.0.0.1',
      'mac:00:1b:54:00:00:01',
      'mac:00:1b:54:00:00:07',
      'chassis-mac:00:1b:54:00:00:01',
      'address:10.0.0.2',
    ])
      expect(keys).toContain(key);
    // A port's address is no base address of a chassis.
    expect(keys).not.toContain('chassis-mac:00:1b:54:00:00:07');
  });
});

it('a host without an agent is looked up and claims by its hardware address', () => {
  const host: Fingerprint = {
    ...print({}),
    ...{ snmp: false, macs: ['00:1b:54:00:00:07'], aliasOf: '10.0.0.9' },
  };
  expect(texts(claims(host))).toEqual(['address:10.0.0.1', 'mac:00:1b:54:00:00:07']);
  const keys = texts(lookups(host));
  expect(keys).toContain('chassis-mac:00:1b:54:00:00:07');
  expect(keys).toContain('address:10.0.0.9');
  expect(keys.filter((key) => key.startsWith('mac-set:'))).toEqual([]);
});

it('what an agent proves of a host: base and port addresses, and its own table, no virtual ones', () =>
  expect(
    texts(
      hostKeys(
        walk({
          macs: ['00:1b:54:00:00:07', '00:00:5e:00:01:01'],
          bridgeMac: '00:1b:54:00:00:01',
          addresses: ['10.0.0.2'],
        }),
      ),
    ),
  ).toEqual(['mac:00:1b:54:00:00:01', 'mac:00:1b:54:00:00:07', 'address:10.0.0.2']));
