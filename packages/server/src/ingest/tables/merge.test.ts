import { describe, expect, it } from 'vitest';
import { bootTime, deviceChanges, newDevice, searchText } from './merge.ts';
import type { DeviceRow } from './rows.ts';

const AT = Date.parse('2026-11-21T12:00:00Z');
const known: DeviceRow = {
  ...newDevice('11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222', AT),
  name: 'sw1',
  address: '10.0.0.1',
  class: 'switch',
  vendor: 'Cisco',
  model: 'C9300-24T',
  os: 'IOS-XE',
  osVersion: '17.6.3',
  serialNumber: 'FCW1929B68S',
  sysName: 'sw1',
  location: 'Berlin',
  bootedAt: AT - 86_400_000,
};

describe('what people are told of a device', () => {
  const tell = (before: DeviceRow | null, after: DeviceRow) =>
    deviceChanges(before, after, { at: AT, collectorId: null }).map((change) =>
      'before' in change ? { kind: change.kind, before: change.before, after: change.after } : change,
    );

  it.each<[what: string, turn: Partial<DeviceRow>, told: object[]]>([
    ['nothing, when nothing changed', {}, []],
    ['nothing of a later sight', { lastSeen: AT + 60_000, rttMs: 3, missedScans: 1 }, []],
    [
      'another address',
      { address: '10.0.0.9' },
      [{ kind: 'device.renumbered', before: { address: '10.0.0.1' }, after: { address: '10.0.0.9' } }],
    ],
    [
      'other hardware: serial and model in one piece',
      { serialNumber: 'FCW2233L0AB', model: 'C9300-48T' },
      [
        {
          kind: 'device.swapped',
          before: { serialNumber: 'FCW1929B68S', macAddress: null, model: 'C9300-24T' },
          after: { serialNumber: 'FCW2233L0AB', macAddress: null, model: 'C9300-48T' },
        },
      ],
    ],
    ['nothing of a serial that is none', { serialNumber: 'To be filled by O.E.M.' }, []],
    ['nothing of a serial that was not read', { serialNumber: null }, []],
    [
      'another version',
      { osVersion: '17.9.4' },
      [{ kind: 'device.upgraded', before: { osVersion: '17.6.3' }, after: { osVersion: '17.9.4' } }],
    ],
    [
      'a restart',
      { bootedAt: AT - 60_000 },
      [
        {
          kind: 'device.restarted',
          before: { bootedAt: AT - 86_400_000 },
          after: { bootedAt: AT - 60_000 },
        },
      ],
    ],
    [
      'other words of its own, together',
      { sysName: 'sw1-new', location: 'Zürich' },
      [
        {
          kind: 'device.changed',
          before: { sysName: 'sw1', location: 'Berlin' },
          after: { sysName: 'sw1-new', location: 'Zürich' },
        },
      ],
    ],
    ['nothing of what a walk left out', { location: null, vendor: null, osVersion: null }, []],
  ])('is %s', (_what, turn, told) => {
    expect(tell(known, { ...known, ...turn })).toEqual(told);
  });

  it('is that it is new, and what it is', () => {
    expect(tell(null, known)).toEqual([
      {
        kind: 'device.new',
        before: {},
        after: { name: 'sw1', address: '10.0.0.1', class: 'switch', vendor: 'Cisco', model: 'C9300-24T' },
      },
    ]);
  });

  it('is nothing of a guess that its agent puts right', () => {
    const guessed = { ...known, class: 'server', vendor: 'Cisco Systems', sysObjectId: null } as const;
    const told = { ...known, sysObjectId: '1.3.6.1.4.1.9.1.2494' };
    expect(tell(guessed, told)).toEqual([]);
    expect(tell(told, { ...told, vendor: 'Meraki' })).toMatchObject([{ kind: 'device.changed' }]);
  });

  it('is that it is back, with since when it was away', () => {
    expect(tell({ ...known, goneAt: AT - 1000 }, known)).toEqual([
      { kind: 'device.returned', before: { goneAt: AT - 1000 }, after: {} },
    ]);
  });
});

describe('boot time', () => {
  const hundredths = (ms: number) => Math.round(ms / 10);
  const booted = AT - 10 * 86_400_000;

  it.each<
    [what: string, before: number | null, sysUpTime: number | undefined, at: number, is: number | null]
  >([
    ['is told by the first reading', null, hundredths(AT - booted), AT, booted],
    ['stays when nothing was read', booted, undefined, AT, booted],
    ['stays when an answer is a minute late', booted, hundredths(AT - booted - 60_000), AT, booted],
    ['moves when the agent started again', booted, hundredths(300_000), AT, AT - 300_000],
    [
      'stays when the counter wrapped after 497 days',
      AT - 500 * 86_400_000,
      hundredths(500 * 86_400_000) % 2 ** 32,
      AT,
      AT - 500 * 86_400_000,
    ],
  ])('%s', (_what, before, sysUpTime, at, is) => {
    expect(bootTime(before, sysUpTime, at)).toBe(is);
  });
});

describe('the searched text', () => {
  const row = { ...known, sysDescr: 'Cisco IOS\r\nSoftware,  RELEASE', macAddress: '00:1b:54:00:00:01' };

  it('has words that others share on its first line, and a line for each identifier', () => {
    expect(searchText(row, ['00:1b:54:00:00:02'], ['2001:db8::1']).split('\n')).toEqual([
      'sw1 sw1 cisco c9300-24t ios-xe berlin cisco ios software, release',
      '10.0.0.1',
      'fcw1929b68s',
      '00:1b:54:00:00:01',
      '00:1b:54:00:00:02',
      '2001:db8::1',
    ]);
  });

  it('is bounded, with identifiers however much a device says', () => {
    const text = searchText({ ...row, sysDescr: 'x'.repeat(1e6) }, [], []);
    expect(text.split('\n').map(({ length }) => length)).toEqual([2961, 8, 11, 17]);
    const many = Array.from({ length: 500 }, (_, n) => `2001:db8:ffff:ffff:ffff:ffff:ffff:${n + 1000}`);
    expect(searchText({ ...row, sysDescr: 'x'.repeat(1e6) }, many, many).split('\n')[0]).toHaveLength(1500);
    expect(searchText(row, many, many).length).toBe(3000);
  });
});
