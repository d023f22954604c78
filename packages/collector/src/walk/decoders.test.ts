import type { Varbind } from '@rollcall/snmp/message/pdu';
import type { WalkedTable } from '@rollcall/snmp/walk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressColumns, addressesOf, maskLength } from './addresses.ts';
import { fdbOf } from './bridge.ts';
import { chassisOf, entitiesOf } from './entities.ts';
import { interfacesOf, speedOf } from './interfaces.ts';
import { partsOf } from './inventory.ts';
import { chassisIdOf } from './lldp.ts';
import { neighbourColumns, neighboursOf } from './neighbours.ts';
import { withPortStates } from './port-states.ts';
import { RawTexts } from './raw.ts';
import { addressOf, macOf, physAddressOf, TEXT_MOST, textOf, textOrHex } from './text.ts';
import { extraOids } from './vendor.ts';
import { portList, vlansOf } from './vlans.ts';
import { contentOf } from './vrfs.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** A walked table from `column.index` → value; numbers are integers, Buffers octets, `oid:` and `ip:` by prefix. */
function walked(
  cells: Record<string, number | Buffer | string>,
  columns: readonly string[] = [],
): WalkedTable {
  const rows: WalkedTable['rows'] = new Map();
  for (const [key, value] of Object.entries(cells)) {
    const at = key.indexOf(':');
    const [column, index] = at < 0 ? [key, ''] : [key.slice(0, at), key.slice(at + 1)];
    const varbind = (
      typeof value === 'number'
        ? { oid: `${column}.${index}`, type: 'integer', value }
        : typeof value === 'string'
          ? value.startsWith('oid:')
            ? { oid: `${column}.${index}`, type: 'oid', value: value.slice(4) }
            : { oid: `${column}.${index}`, type: 'ipaddress', value: value.slice(3) }
          : { oid: `${column}.${index}`, type: 'octets', value }
    ) as Varbind;
    rows.set(index, (rows.get(index) ?? new Map()).set(column, varbind));
  }
  return { rows, complete: true, stopped: new Map(columns.map((c) => [c, 'timeout'])) };
}

describe('textOf', () => {
  it.each([
    ['UTF-8 stays', Buffer.from('Zürich ✓'), 'Zürich ✓'],
    ['windows-1252 where it is no UTF-8', bytes('Z\u00fcrich'), 'Zürich'],
    ['padding NULs go', bytes('sw1\0\0\0'), 'sw1'],
    ['an inner NUL is shown (E80)', bytes('a\0b'), 'a\\x00b'],
    ['escapes are shown, not obeyed', bytes('\x1b[31mred'), '\\x1b[31mred'],
    ['line breaks and tabs stay', bytes('a\r\nb\tc'), 'a\r\nb\tc'],
    ['marks that reverse text are shown (E80)', Buffer.from('a\u202eb'), 'a\\u202eb'],
    ['a byte order mark is shown', Buffer.from('\ufeffa'), '\\ufeffa'],
  ])('%s', (_case, octets, text) => {
    expect(textOf(octets)).toBe(text);
  });

  it('is bounded, never throws, and gives only what PostgreSQL takes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6000 }), (octets) => {
        const text = textOf(Buffer.from(octets));
        expect(text.length).toBeLessThanOrEqual(TEXT_MOST);
        expect(text).not.toContain('\0');
        expect(Buffer.from(text).toString()).toBe(text);
      }),
    );
    const cut = textOf(Buffer.from(`${'x'.repeat(TEXT_MOST - 2)}🙂🙂`));
    expect(Buffer.from(cut).toString(), 'no torn surrogate pair').toBe(cut);
  });
});

it.each([
  [Buffer.from([0, 0x1b, 0x21, 0x3c, 0x9d, 0xf8]), '00:1b:21:3c:9d:f8'],
  [bytes('00:1B:21:3C:9D:F8'), '00:1b:21:3c:9d:f8'],
  [bytes('0:1b:21:3c:9d:f8'), '00:1b:21:3c:9d:f8'],
  [Buffer.alloc(5), undefined],
  [Buffer.alloc(8), undefined],
])('macOf(%o) is %s (E85)', (octets, mac) => {
  expect(macOf(octets)).toBe(mac);
});

it('physAddressOf keeps other lengths as hex and empty as nothing (E85)', () => {
  expect(physAddressOf(Buffer.alloc(0))).toBeUndefined();
  expect(physAddressOf(Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]))).toBe('0102030405060708');
});

it.each([
  [[10, 0, 0, 1], '10.0.0.1'],
  [[10, 0, 0, 1, 0, 0, 0, 3], '10.0.0.1'],
  [[0xfe, 0x80, ...Array(13).fill(0), 1], 'fe80::1'],
  [[0xfe, 0x80, ...Array(13).fill(0), 1, 0, 0, 0, 2], 'fe80::1'],
  [[1, 2, 3], undefined],
])('addressOf(%o) is %s (E87)', (octets, address) => {
  expect(addressOf(Uint8Array.from(octets))).toBe(address);
});

it.each([
  ['255.255.255.0', 24],
  ['0.0.0.0', 0],
  ['255.255.255.255', 32],
  ['255.0.255.0', undefined],
  [undefined, undefined],
])('maskLength(%s) is %s', (mask, length) => {
  expect(maskLength(mask)).toBe(length);
});

it('textOrHex shows octets that are no text as hex', () => {
  expect(textOrHex(bytes('ABC123'))).toBe('ABC123');
  expect(textOrHex(Buffer.from([1, 0x80]))).toBe('0x0180');
});

describe('interfacesOf', () => {
  const ifEntry = '1.3.6.1.2.1.2.2.1';
  const ifXEntry = '1.3.6.1.2.1.31.1.1.1';
  it('joins ifTable and ifXTable, without any ifIndex column', () => {
    const rows = interfacesOf(
      walked({
        [`${ifEntry}.2:7`]: bytes('GigabitEthernet0/7'),
        [`${ifEntry}.3:7`]: 6,
        [`${ifEntry}.5:7`]: -1,
        [`${ifEntry}.6:7`]: Buffer.from([0, 1, 2, 3, 4, 5]),
        [`${ifXEntry}.1:7`]: bytes('Gi0/7'),
        [`${ifXEntry}.15:7`]: 10_000,
        [`${ifXEntry}.18:7`]: bytes(''),
      }),
    );
    expect(rows).toEqual([
      {
        ifIndex: 7,
        ifName: 'Gi0/7',
        ifDescr: 'GigabitEthernet0/7',
        ifAlias: '',
        ifType: 6,
        speedBps: 10_000_000_000,
        physAddress: '00:01:02:03:04:05',
      },
    ]);
  });
  it('reads numbers that an agent sends as text', () => {
    expect(interfacesOf(walked({ [`${ifEntry}.5:1`]: bytes('1000000000') }))).toEqual([
      { ifIndex: 1, speedBps: 1_000_000_000 },
    ]);
  });
  it('takes ifXTable alone where there is no ifTable, and invents nothing beside an ifTable', () => {
    expect(interfacesOf(walked({ [`${ifXEntry}.1:3`]: bytes('eth3') }))).toEqual([
      { ifIndex: 3, ifName: 'eth3' },
    ]);
    expect(
      interfacesOf(walked({ [`${ifEntry}.2:1`]: bytes('a'), [`${ifXEntry}.1:9`]: bytes('ghost') })).map(
        (r) => r.ifIndex,
      ),
    ).toEqual([1]);
  });
  it('keeps indexes at both ends of 32 bits, as they are (E84)', () => {
    const rows = interfacesOf(
      walked({ [`${ifEntry}.2:0`]: bytes('zero'), [`${ifEntry}.2:4294967295`]: bytes('last') }),
    );
    expect(rows.map((row) => row.ifIndex)).toEqual([0, 4_294_967_295]);
  });
});

it.each([
  [1_000_000_000, 1_000, 1_000_000_000],
  [0xffff_ffff, 10_000, 10_000_000_000],
  [100_000_000, 0, 100_000_000],
  [0, 400_000, 400_000_000_000],
  [64_000, undefined, 64_000],
  [undefined, 40, 40_000_000],
  [undefined, undefined, undefined],
])('speedOf(%s, %s) is %s', (low, high, speed) => {
  expect(speedOf(low, high)).toBe(speed);
});

describe('addressesOf', () => {
  it('reads every form of the table, each address once', () => {
    const rows = addressesOf(
      walked({
        '1.3.6.1.2.1.4.34.1.3:1.4.10.0.0.1': 5,
        '1.3.6.1.2.1.4.34.1.4:1.4.10.0.0.1': 1,
        '1.3.6.1.2.1.4.34.1.5:1.4.10.0.0.1': 'oid:1.3.6.1.2.1.4.32.1.5.5.1.4.10.0.0.0.24',
        '1.3.6.1.2.1.4.20.1.2:10.0.0.1': 5,
        '1.3.6.1.2.1.4.20.1.3:10.0.0.1': 'ip:255.255.255.0',
        '1.3.6.1.2.1.4.34.1.3:1.4.10.0.0.255': 5,
        '1.3.6.1.2.1.4.34.1.4:1.4.10.0.0.255': 3,
        '1.3.6.1.2.1.4.20.1.2:10.9.9.9': 6,
        '1.3.6.1.2.1.4.20.1.3:10.9.9.9': 'ip:255.255.255.252',
        [`1.3.6.1.2.1.55.1.8.1.2:3.${[0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 1].join('.')}`]: 64,
      }),
    );
    expect(rows.sort((a, b) => a.address.localeCompare(b.address))).toEqual([
      { address: '10.0.0.1', prefixLength: 24, ifIndex: 5, type: 'unicast' },
      { address: '10.9.9.9', prefixLength: 30, ifIndex: 6 },
      { address: '2001:db8::1', prefixLength: 64, ifIndex: 3 },
    ]);
  });
  it.each([
    ['behind the address an arc, as FortiOS lists one twice', '10.0.0.1.2', 5, {}],
    ['in front of it ifIndex', '5.10.0.0.1', 5, {}],
    ['a row number', '0', 5, { '1.3.6.1.2.1.4.20.1.1:0': 'ip:10.0.0.1' }],
  ])('reads ipAddrTable with %s', (_, index, ifIndex, more) => {
    const rows = addressesOf(walked({ [`1.3.6.1.2.1.4.20.1.2:${index}`]: ifIndex, ...more }));
    expect(rows).toEqual([{ address: '10.0.0.1', ifIndex }]);
  });
  it('lists no unspecified address, and reads IPv6 written as text into an index', () => {
    const text = [...Buffer.from('2001:db8::1/64')].join('.');
    const rows = addressesOf(
      walked({ '1.3.6.1.2.1.4.20.1.2:0.0.0.0': 3, [`1.3.6.1.2.1.55.1.8.1.2:3.${text}`]: 64 }),
    );
    expect(rows).toEqual([{ address: '2001:db8::1', prefixLength: 64, ifIndex: 3 }]);
  });
  it('reads TP-Link’s IPv6 addresses', () => {
    const entry = '1.3.6.1.4.1.11863.6.50.1.1.1';
    const octets = Buffer.from('20010db8000000000000000000000001', 'hex');
    const index = `255.2.1.${[...octets].join('.')}`;
    expect(addressesOf(walked({ [`${entry}.4:${index}`]: octets, [`${entry}.5:${index}`]: 64 }))).toEqual([
      { address: '2001:db8::1', prefixLength: 64, ifIndex: 255 },
    ]);
    expect(addressColumns('1.3.6.1.4.1.11863.5.1')).toContain(`${entry}.4`);
  });
  it('skips an index of the wrong length (E87)', () => {
    expect(addressesOf(walked({ '1.3.6.1.2.1.4.34.1.3:1.3.10.0.0': 5 }))).toEqual([]);
  });
});

it('chassisOf takes chassis and stacks, else roots, else what bears a serial', () => {
  const entry = '1.3.6.1.2.1.47.1.1.1.1';
  const entities = entitiesOf(
    walked({
      [`${entry}.5:1`]: 3,
      [`${entry}.11:1`]: bytes('ABC'),
      [`${entry}.4:1`]: 0,
      [`${entry}.5:2`]: 9,
      [`${entry}.4:2`]: 1,
      [`${entry}.16:2`]: 1,
    }),
  );
  expect(entities[1]).toEqual({ index: 2, class: 'module', parent: 1, fru: true });
  expect(chassisOf(entities)).toEqual([{ index: 1, class: 'chassis', serial: 'ABC' }]);
  expect(chassisOf([{ index: 5, class: 'module', serial: 'X', parent: 1 }]).map((e) => e.index)).toEqual([5]);
});

describe('neighboursOf', () => {
  const rem = '1.0.8802.1.1.2.1.4.1.1';
  const loc = '1.0.8802.1.1.2.1.3.7.1';
  it('finds the local port by its name where LLDP numbers ports its own way, and the management address', () => {
    const rows = neighboursOf(
      walked({
        [`${rem}.4:0.49.1`]: 4,
        [`${rem}.5:0.49.1`]: Buffer.from([0, 1, 2, 3, 4, 5]),
        [`${rem}.6:0.49.1`]: 5,
        [`${rem}.7:0.49.1`]: bytes('Te1/1'),
        [`${rem}.9:0.49.1`]: bytes('dist-2'),
        [`${rem}.12:0.49.1`]: Buffer.from([0x28, 0]),
        '1.0.8802.1.1.2.1.4.2.1.3:0.49.1.1.4.10.0.0.2': 2,
        [`${loc}.2:49`]: 5,
        [`${loc}.3:49`]: bytes('gi0/49'),
      }),
      [{ ifIndex: 10_149, ifName: 'Gi0/49' }],
    );
    expect(rows).toEqual([
      {
        protocol: 'lldp',
        ifIndex: 10_149,
        localPort: 'Gi0/49',
        chassisId: 'macAddress:00:01:02:03:04:05',
        portId: 'Te1/1',
        sysName: 'dist-2',
        capabilities: ['bridge', 'router'],
        addresses: ['10.0.0.2'],
      },
    ]);
  });
  it('reads CDP with its address', () => {
    const cdp = '1.3.6.1.4.1.9.9.23.1.2.1.1';
    expect(
      neighboursOf(
        walked({
          [`${cdp}.4:3.1`]: Buffer.from([10, 0, 0, 9]),
          [`${cdp}.6:3.1`]: bytes('phone-1'),
          [`${cdp}.7:3.1`]: bytes('Port 1'),
          [`${cdp}.9:3.1`]: Buffer.from([0, 0, 0, 0x90]),
        }),
        [],
      ),
    ).toEqual([
      {
        ...{ protocol: 'cdp', ifIndex: 3, sysName: 'phone-1', portId: 'Port 1' },
        ...{ capabilities: ['station', 'phone'], addresses: ['10.0.0.9'] },
      },
    ]);
  });
  it.each([
    [
      'FDP of Foundry',
      '1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1',
      { '3:7.1': bytes('core'), '5:7.1': Buffer.from([10, 0, 0, 2]), '7:7.1': bytes('ethernet1/1') },
      { protocol: 'fdp', sysName: 'core', addresses: ['10.0.0.2'], portId: 'ethernet1/1' },
    ],
    [
      'ISDP of FASTPATH',
      '1.3.6.1.4.1.4413.1.1.39.1.2.1.1',
      { '6:7.1': bytes('core'), '7:7.1': bytes('0/1') },
      { protocol: 'cdp', sysName: 'core', portId: '0/1' },
    ],
    [
      'EDP of Extreme',
      '1.3.6.1.4.1.1916.1.13.2.1',
      { '3:7.0.0.0.1.2.3.4.5': bytes('core'), '5:7.0.0.0.1.2.3.4.5': 1, '6:7.0.0.0.1.2.3.4.5': 24 },
      { protocol: 'edp', sysName: 'core', chassisId: 'macAddress:00:01:02:03:04:05', portId: '1:24' },
    ],
    [
      'MNDP of MikroTik',
      '1.3.6.1.4.1.14988.1.1.11.1.1',
      { '3:1': Buffer.from([0, 1, 2, 3, 4, 5]), '6:1': bytes('core'), '8:1': 7 },
      { protocol: 'mndp', sysName: 'core', chassisId: 'macAddress:00:01:02:03:04:05' },
    ],
    [
      'LLDP of Nokia SR OS',
      '1.3.6.1.4.1.6527.3.1.2.59.4.1.1',
      { '6:99.7.1.1': 5, '7:99.7.1.1': bytes('1/1/2'), '9:99.7.1.1': bytes('core') },
      { protocol: 'lldp', sysName: 'core', portId: '1/1/2' },
    ],
    [
      'LLDP of TP-Link',
      '1.3.6.1.4.1.11863.6.35.1.2.2.1',
      { '4:7.1': bytes('00:01:02:03:04:05'), '6:7.1': bytes('eth1'), '9:7.1': bytes('core') },
      { protocol: 'lldp', sysName: 'core', chassisId: 'macAddress:00:01:02:03:04:05', portId: 'eth1' },
    ],
  ])('reads %s', (_, entry, cells, neighbour) => {
    const named = Object.entries(cells).map(([cell, value]) => [`${entry}.${cell}`, value]);
    expect(neighboursOf(walked(Object.fromEntries(named)), [{ ifIndex: 7, ifName: 'p7' }])).toEqual([
      { ...neighbour, ifIndex: 7, localPort: 'p7' },
    ]);
    const asked = neighbourColumns(`${entry}.9`);
    for (const [cell] of named) expect(asked).toContain(String(cell).split(':')[0]);
    expect(neighbourColumns('1.3.6.1.4.1.99999.1').filter((column) => column.startsWith(entry))).toEqual([]);
  });
  it('places RouterOS’ LLDP rows by its own table, and reports by MNDP only what LLDP does not', () => {
    const mtxr = '1.3.6.1.4.1.14988.1.1.11.1.1';
    const rows = neighboursOf(
      walked({
        [`${rem}.9:0.0.3`]: bytes('lldp-far'),
        [`${mtxr}.6:3`]: bytes('lldp-far'),
        [`${mtxr}.8:3`]: 7,
        [`${mtxr}.6:4`]: bytes('mndp-far'),
        [`${mtxr}.8:4`]: 8,
      }),
      [],
    );
    expect(rows).toEqual([
      { protocol: 'lldp', ifIndex: 7, sysName: 'lldp-far' },
      { protocol: 'mndp', ifIndex: 8, sysName: 'mndp-far' },
    ]);
  });
  it.each([
    [4, Buffer.from([0, 1, 2, 3, 4, 5]), 'macAddress:00:01:02:03:04:05'],
    [5, Buffer.from([1, 10, 0, 0, 1]), 'networkAddress:10.0.0.1'],
    [7, bytes('sw-1'), 'local:sw-1'],
    [undefined, bytes('x'), 'unknown:x'],
    [4, Buffer.alloc(0), undefined],
  ])('chassisIdOf(%s, %o) is %s', (subtype, octets, text) => {
    expect(chassisIdOf(subtype, octets)).toBe(text);
  });
});

describe('bridges', () => {
  it('takes learned unicast entries, neither static ones nor its own, by VLAN where the agent has it', () => {
    const q = '1.3.6.1.2.1.17.7.1.2.2.1';
    const rows = fdbOf(
      walked({
        '1.3.6.1.2.1.17.1.4.1.2:3': 103,
        [`${q}.2:10.0.1.2.3.4.5`]: 3,
        [`${q}.3:10.0.1.2.3.4.5`]: 3,
        [`${q}.2:10.0.1.2.3.4.6`]: 3,
        [`${q}.3:10.0.1.2.3.4.6`]: 4,
        [`${q}.2:10.0.1.2.3.4.7`]: 3,
        [`${q}.3:10.0.1.2.3.4.7`]: 5,
        [`${q}.2:10.1.0.94.0.0.1`]: 3,
        [`${q}.3:10.1.0.94.0.0.1`]: 3,
      }),
    );
    expect(rows).toEqual([{ mac: '00:01:02:03:04:05', bridgePort: 3, ifIndex: 103, vlan: 10 }]);
  });
  it('reads a PortList from its highest bit', () => {
    const ports = new Map(Array.from({ length: 16 }, (_, i) => [i + 1, 100 + i + 1]));
    expect(portList(Buffer.from([0b1000_0001, 0b0100_0000]), ports)).toEqual([101, 108, 110]);
  });
  it('joins VLAN names and members', () => {
    expect(
      vlansOf(
        walked({
          '1.3.6.1.2.1.17.1.4.1.2:1': 11,
          '1.3.6.1.2.1.17.7.1.4.3.1.1:20': bytes('voice'),
          '1.3.6.1.2.1.17.7.1.4.2.1.4:0.20': Buffer.from([0x80]),
          '1.3.6.1.4.1.9.9.46.1.3.1.1.4:1.30': bytes('guests'),
        }),
      ),
    ).toEqual([
      { vlan: 20, name: 'voice', egress: [11] },
      { vlan: 30, name: 'guests' },
    ]);
  });
  it('takes the members of VLANs from a Cisco switch: access ports with their voice VLANs, and trunks of the VLANs that exist', () => {
    const [vtp, trunk, vmVlan, voice] = ['46.1.3.1.1.4', '46.1.6.1.1', '68.1.2.2.1.2', '68.1.5.1.1.1'].map(
      (arcs) => `1.3.6.1.4.1.9.9.${arcs}`,
    );
    // VLANs 1, 20 and 21 of the first 1,024; 21 is not there. 1030 is the seventh of the next.
    const enabled = Buffer.from([0x40, 0, 0x0c]);
    expect(
      vlansOf(
        walked({
          [`${vtp}:1.1`]: bytes('default'),
          [`${vtp}:1.20`]: bytes('users'),
          [`${vtp}:1.30`]: bytes('guests'),
          [`${vtp}:1.1002`]: bytes('fddi-default'),
          [`${vtp}:1.1030`]: bytes('voice'),
          [`${vmVlan}:10101`]: 20,
          [`${voice}:10101`]: 1030,
          // None; that of the port itself.
          [`${vmVlan}:10104`]: 20,
          [`${voice}:10104`]: 4096,
          [`${vmVlan}:10105`]: 20,
          [`${voice}:10105`]: 20,
          // A trunk now; this is of the time before.
          [`${vmVlan}:10102`]: 30,
          [`${voice}:10102`]: 30,
          [`${trunk}.4:10102`]: enabled,
          [`${trunk}.17:10102`]: Buffer.from([0x02]),
          [`${trunk}.5:10102`]: 1,
          [`${trunk}.14:10102`]: 1,
          // A trunk whose link is down: it is on(1), and not trunking. VLANs 1002 to 1005 hold nothing.
          [`${trunk}.4:10103`]: Buffer.concat([Buffer.alloc(125), Buffer.from([0x3c])]),
          [`${trunk}.17:10103`]: Buffer.from([0x02]),
          [`${trunk}.5:10103`]: 1,
          [`${trunk}.13:10103`]: 1,
          [`${trunk}.14:10103`]: 2,
          // It may become a trunk, and is none: notTrunking(2).
          [`${trunk}.4:10101`]: enabled,
          [`${trunk}.14:10101`]: 2,
        }),
      ),
    ).toEqual([
      { vlan: 1, name: 'default', egress: [10102], untagged: [10102] },
      { vlan: 20, name: 'users', egress: [10102, 10101, 10104, 10105], untagged: [10101, 10104, 10105] },
      { vlan: 30, name: 'guests' },
      { vlan: 1002, name: 'fddi-default' },
      { vlan: 1030, name: 'voice', egress: [10102, 10103, 10101], untagged: [] },
    ]);
  });
});

describe('RawTexts', () => {
  const DESCR = '1.3.6.1.2.1.2.2.1.2';
  it('keeps what is shown otherwise than it came: no UTF-8, control characters; padding is no difference', () => {
    const raw = new RawTexts();
    raw.system({ sysName: bytes('core\0\0'), sysLocation: bytes('M\xfcnchen') });
    raw.table(
      walked({
        [`${DESCR}:1`]: bytes('port \x01'),
        [`${DESCR}:2`]: Buffer.from('Küche'),
        // ifPhysAddress is no text.
        '1.3.6.1.2.1.2.2.1.6:1': Buffer.from([0xde, 0xad, 0, 0, 0, 1]),
      }),
      [DESCR, '1.3.6.1.2.1.2.2.1.6'],
    );
    expect(raw.kept).toEqual({ '1.3.6.1.2.1.1.6.0': '4dfc6e6368656e', [`${DESCR}.1`]: '706f72742001' });
  });

  it('is bounded', () => {
    const raw = new RawTexts();
    const cells = Array.from(
      { length: 100 },
      (_, i) => [`${DESCR}:${i + 1}`, Buffer.alloc(3000, 1)] as const,
    );
    raw.table(walked(Object.fromEntries(cells)), [DESCR]);
    expect(Object.keys(raw.kept)).toHaveLength(32);
    for (const octets of Object.values(raw.kept)) expect(octets).toHaveLength(512);
  });
});

it('partsOf loses no row and keeps every part under its bound', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ a: fc.string({ maxLength: 4000 }) }), { maxLength: 200 }), (rows) => {
      const parts = partsOf(rows);
      expect(parts.flat()).toEqual(rows);
      for (const part of parts) expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(96 * 1024);
    }),
    { numRuns: 30 },
  );
});

it('extraOids takes the rules of every prefix that fits whole sub-identifiers', () => {
  const extra = [
    { prefix: '', oids: ['1.1'] },
    { prefix: '1.3.6.1.4.1.9', oids: ['1.2', '1.1'] },
    { prefix: '1.3.6.1.4.1.99', oids: ['1.3'] },
  ];
  expect(extraOids('1.3.6.1.4.1.9.1.5', extra)).toEqual(['1.1', '1.2']);
  expect(extraOids(undefined, extra)).toEqual(['1.1']);
});

describe('contentOf a VRF', () => {
  const shown = (...addresses: string[]) =>
    walked(Object.fromEntries(addresses.map((address) => [`1.3.6.1.2.1.4.20.1.2:${address}`, 7])));

  it.each([
    ['its own addresses', ['10.9.0.1'], ['10.0.0.1'], ['10.9.0.1']],
    ['nothing', [], ['10.0.0.1'], []],
    ['an address that another VRF has too', ['10.0.0.1'], ['10.0.0.1', '10.0.1.1'], ['10.0.0.1']],
    ['what it shows without a context: it heeds none', ['10.0.0.1'], ['10.0.0.1'], undefined],
  ])('%s', (_, inside, outside, told) => {
    const content = contentOf(shown(...inside), new Set(outside));
    expect(content?.addresses?.map(({ address }) => address)).toEqual(told);
  });

  it('counts what it leaves out', () => {
    const many = Array.from({ length: 300 }, (_, i) => `10.9.${i >> 8}.${i & 255}`);
    const content = contentOf(shown(...many), new Set());
    expect([content?.addresses?.length, content?.more]).toEqual([256, 44]);
  });
});

describe('states of ports', () => {
  const [STP, LAG, BASE] = ['1.3.6.1.2.1.17.2.15.1', '1.2.840.10006.300.43.1.2.1.1', '1.3.6.1.2.1.17.1.4.1'];
  const ports = [{ ifIndex: 11 }, { ifIndex: 12 }, { ifIndex: 13 }];
  const table = walked({
    ...{ [`${BASE}.2:1`]: 11, [`${BASE}.2:2`]: 12, [`${STP}.3:1`]: 5, [`${STP}.3:2`]: 2 },
    ...{ [`${LAG}.13:11`]: 100, [`${LAG}.21:11`]: bytes('\x3d') },
    ...{ [`${LAG}.13:12`]: 100, [`${LAG}.21:12`]: bytes('\x80'), [`${LAG}.13:13`]: 13 },
  });

  it('are those of the spanning tree and of the aggregate of each', () => {
    expect(withPortStates(ports, table)).toEqual([
      { ifIndex: 11, stp: 'forwarding', aggregate: { ifIndex: 100, active: true } },
      { ifIndex: 12, stp: 'blocking', aggregate: { ifIndex: 100, active: false } },
      { ifIndex: 13, stp: null, aggregate: null },
    ]);
  });

  it('are left as they were where nothing was read', () => {
    expect(withPortStates(ports, { rows: new Map(), complete: false, stopped: new Map() })).toEqual(ports);
    expect(withPortStates(ports, { ...table, complete: false }), 'of a part alone').toEqual([
      { ifIndex: 11, stp: 'forwarding', aggregate: { ifIndex: 100, active: true } },
      { ifIndex: 12, stp: 'blocking', aggregate: { ifIndex: 100, active: false } },
      { ifIndex: 13 },
    ]);
  });
});
