import { describe, expect, it } from 'vitest';
import type { Fingerprint } from './fingerprint.ts';
import { type Candidate, identify, type Known } from './identify.ts';

/** One observation and the devices that hold some of its evidence: what is decided, case by case. */
const AT = 1_000_000_000;

const agent = (more: Partial<Fingerprint> = {}): Fingerprint => ({
  address: '10.0.0.1',
  snmp: true,
  addresses: [],
  macs: [],
  engineId: null,
  serials: [],
  chassis: [],
  lldpChassisId: null,
  sysName: null,
  sysObjectId: null,
  hostname: null,
  ...more,
});
const host = (more: Partial<Fingerprint> = {}) => agent({ snmp: false, ...more });
const device = (print: Fingerprint, more: Partial<Candidate> = {}): Candidate => ({
  deviceId: 'known',
  print,
  firstSeen: AT - 86_400_000,
  lastSeen: AT - 86_400_000,
  lists: false,
  addressCount: 1,
  run: null,
  ...more,
});
/** `here`: the address of the observation is held by this device. */
const decide = (print: Fingerprint, candidates: Candidate[], here?: string, more: Partial<Known> = {}) =>
  identify(print, AT, {
    candidates,
    holders: new Map(here ? [[`address:${print.address}`, here]] : []),
    apart: new Set(),
    ...more,
  });

const MACS = ['00:1d:70:00:00:01', '00:1d:70:00:00:02', '00:1d:70:00:00:03', '00:1d:70:00:00:04'];
const OTHER_MACS = ['00:1d:70:00:00:11', '00:1d:70:00:00:12'];
const CISCO = '1.3.6.1.4.1.9.1.1';
const HP = '1.3.6.1.4.1.11.2.1';
const elsewhere = { address: '10.0.0.9' };

type Case = [
  name: string,
  seen: Fingerprint,
  known: Fingerprint,
  more: { here?: boolean; lists?: boolean; lastSeen?: number; addressCount?: number },
  decided: string,
];
const cases: Case[] = [
  ['an engine id', agent({ engineId: 'a' }), agent({ engineId: 'a', ...elsewhere }), {}, 'engine-id'],
  [
    'a serial among the members of a stack',
    agent({ serials: ['S2'] }),
    agent({ serials: ['S1', 'S2'], ...elsewhere }),
    {},
    'serial',
  ],
  [
    'two other members of one stack say nothing alone',
    agent({ serials: ['S1', 'S9'] }),
    agent({ serials: ['S2', 'S9'], ...elsewhere }),
    {},
    'new',
  ],
  ['a base MAC', agent({ chassis: ['m'] }), agent({ chassis: ['m'], ...elsewhere }), {}, 'chassis-mac'],
  [
    'its address table, and the same name in other letters',
    agent({ addresses: ['10.0.0.1', '10.0.0.9'], sysName: 'Core' }),
    agent({ addresses: ['10.0.0.1', '10.0.0.9'], sysName: 'core', ...elsewhere }),
    {},
    'own-address',
  ],
  [
    'its address table under another name',
    agent({ addresses: ['10.0.0.1', '10.0.0.9'], sysName: 'a' }),
    agent({ addresses: ['10.0.0.1', '10.0.0.9'], sysName: 'b', ...elsewhere }),
    {},
    'new',
  ],
  [
    'an engine id against another serial',
    agent({ engineId: 'a', serials: ['S1'] }),
    agent({ engineId: 'a', serials: ['S2'], ...elsewhere }),
    {},
    'conflict engine-id:a',
  ],
  [
    'engine id and base MAC against another serial',
    agent({ engineId: 'a', chassis: ['m'], serials: ['S1'] }),
    agent({ engineId: 'a', chassis: ['m'], serials: ['S2'], ...elsewhere }),
    {},
    'engine-id',
  ],
  [
    'an engine id against another serial at the same address and name: replaced',
    agent({ engineId: 'a', serials: ['S1'], sysName: 'n' }),
    agent({ engineId: 'a', serials: ['S2'], sysName: 'n' }),
    { here: true },
    'replaced',
  ],
  [
    'an engine id against tables that both keep their own address',
    agent({ engineId: 'a', addresses: ['10.0.0.1'] }),
    agent({ engineId: 'a', addresses: ['10.0.0.9'], ...elsewhere }),
    {},
    'conflict engine-id:a',
  ],
  [
    'a serial against tables that both keep their own address',
    agent({ serials: ['S1'], addresses: ['10.0.0.1'] }),
    agent({ serials: ['S1'], addresses: ['10.0.0.9'], ...elsewhere }),
    {},
    'serial',
  ],
  [
    'a serial against name and model',
    agent({ serials: ['S1'], sysName: 'a', sysObjectId: `${CISCO}.1` }),
    agent({ serials: ['S1'], sysName: 'b', sysObjectId: `${CISCO}.2`, ...elsewhere }),
    {},
    'conflict serial:9:S1',
  ],
  [
    'a serial against name and model, at the same address',
    agent({ serials: ['S1'], sysName: 'a', sysObjectId: `${CISCO}.1` }),
    agent({ serials: ['S1'], sysName: 'b', sysObjectId: `${CISCO}.2` }),
    { here: true },
    'serial',
  ],
  [
    'a serial and MACs against name and model',
    agent({ serials: ['S1'], macs: MACS, sysName: 'a', sysObjectId: `${CISCO}.1` }),
    agent({ serials: ['S1'], macs: MACS, sysName: 'b', sysObjectId: `${CISCO}.2`, ...elsewhere }),
    {},
    'serial',
  ],
  [
    'a base MAC against another manufacturer',
    agent({ chassis: ['m'], sysObjectId: CISCO }),
    agent({ chassis: ['m'], sysObjectId: HP, ...elsewhere }),
    {},
    'conflict chassis-mac:m',
  ],
  ['the same MACs', agent({ macs: MACS }), agent({ macs: MACS, ...elsewhere }), {}, 'macs'],
  [
    'half of the MACs say nothing',
    agent({ macs: MACS }),
    agent({ macs: [...MACS.slice(0, 2), ...OTHER_MACS], ...elsewhere }),
    {},
    'new',
  ],
  [
    'three of four MACs',
    agent({ macs: MACS }),
    agent({ macs: [...MACS.slice(0, 3), ...OTHER_MACS], ...elsewhere }),
    {},
    'macs',
  ],
  [
    'the same MACs under another name',
    agent({ macs: MACS, sysName: 'a' }),
    agent({ macs: MACS, sysName: 'b', ...elsewhere }),
    {},
    'new',
  ],
  [
    'the same MACs under another name, at the same address',
    agent({ macs: MACS, sysName: 'a' }),
    agent({ macs: MACS, sysName: 'b' }),
    { here: true },
    'macs',
  ],
  [
    'the same MACs of another manufacturer',
    agent({ macs: MACS, sysObjectId: CISCO }),
    agent({ macs: MACS, sysObjectId: HP, ...elsewhere }),
    {},
    'new',
  ],
  ['an address alone', agent(), agent(), { here: true }, 'address'],
  ['nothing', agent(), agent(elsewhere), {}, 'new'],
  [
    'an address, other MACs, one name',
    agent({ macs: MACS, sysName: 'n' }),
    agent({ macs: OTHER_MACS, sysName: 'n' }),
    { here: true },
    'replaced',
  ],
  ['an address, other MACs', agent({ macs: MACS }), agent({ macs: OTHER_MACS }), { here: true }, 'new'],
  [
    'an address, another name and model',
    agent({ sysName: 'a', sysObjectId: `${CISCO}.1` }),
    agent({ sysName: 'b', sysObjectId: `${CISCO}.2` }),
    { here: true },
    'new',
  ],
  [
    'an address and another name',
    agent({ sysName: 'a', sysObjectId: CISCO }),
    agent({ sysName: 'b', sysObjectId: CISCO }),
    { here: true },
    'address',
  ],
  ['a host at its address', host(), host(), { here: true }, 'address'],
  [
    'a host with another MAC at its address',
    host({ macs: ['m1'] }),
    host({ macs: ['m2'] }),
    { here: true, lastSeen: AT },
    'new',
  ],
  [
    'an agent with another MAC than the host of a moment ago',
    agent({ macs: ['m1'] }),
    host({ macs: ['m2'] }),
    { here: true, lastSeen: AT - 599_999 },
    'address',
  ],
  [
    'an agent with another MAC than the host of ten minutes ago',
    agent({ macs: ['m1'] }),
    host({ macs: ['m2'] }),
    { here: true, lastSeen: AT - 600_000 },
    'new',
  ],
  [
    'an agent with another MAC than the host that is seen later',
    agent({ macs: ['m1'] }),
    host({ macs: ['m2'] }),
    { here: true, lastSeen: AT + 600_000 },
    'new',
  ],
  ['a host by its MAC', host({ macs: ['m'] }), host({ macs: ['m'], ...elsewhere }), {}, 'macs'],
  [
    'a host by the base MAC of an agent',
    host({ macs: ['m'] }),
    agent({ chassis: ['m'], ...elsewhere }),
    {},
    'macs',
  ],
  [
    'a MAC that answers for seven addresses',
    host({ macs: ['m'] }),
    host({ macs: ['m'], ...elsewhere }),
    { addressCount: 7 },
    'macs',
  ],
  [
    'a MAC that answers for eight addresses',
    host({ macs: ['m'] }),
    host({ macs: ['m'], ...elsewhere }),
    { addressCount: 8 },
    'new',
  ],
  [
    "an agent's MAC at eight addresses",
    host({ macs: ['m'] }),
    agent({ macs: ['m'], ...elsewhere }),
    { addressCount: 8 },
    'macs',
  ],
  [
    'an agent that lists the address of a host',
    agent({ addresses: ['10.0.0.9'] }),
    host(elsewhere),
    {},
    'own-address',
  ],
  ['a host at an address that an agent lists', host(), agent(elsewhere), { lists: true }, 'own-address'],
  ['a host at an address that a host lists', host(), host(elsewhere), { lists: true }, 'new'],
  [
    'a host with another MAC at an address that an agent lists',
    host({ macs: ['m1'] }),
    agent({ macs: ['m2'], ...elsewhere }),
    { lists: true },
    'new',
  ],
  [
    'a MAC that is not among the 255 of an agent',
    host({ macs: ['m'] }),
    agent({ macs: Array.from({ length: 255 }, (_, i) => `o${i}`), ...elsewhere }),
    { lists: true },
    'new',
  ],
  [
    'a MAC that is not among the 256 of an agent, which may have more',
    host({ macs: ['m'] }),
    agent({ macs: Array.from({ length: 256 }, (_, i) => `o${i}`), ...elsewhere }),
    { lists: true },
    'own-address',
  ],
  ['a host elsewhere of which nothing is known', host(), host(elsewhere), {}, 'new'],
];

describe('identify', () => {
  it.each(cases)('%s', (_name, seen, known, { here, ...more }, decided) => {
    const decision = decide(seen, [device(known, more)], here ? 'known' : undefined);
    const [conflict] = decision.conflicts;
    expect(conflict ? `conflict ${conflict.key.kind}:${conflict.key.value}` : decision.reason).toBe(decided);
    expect(decision.deviceId).toBe(decided === 'new' || conflict ? null : 'known');
    expect(decision.absorb).toEqual([]);
  });

  it('says what agreed and what differed', () => {
    const seen = agent({ engineId: 'a', chassis: ['m'], sysName: 'x', serials: ['S1'] });
    const known = agent({ engineId: 'a', chassis: ['m'], sysName: 'y', serials: ['S2'] });
    expect(decide(seen, [device(known)], 'known').because).toBe(
      'same engine id, base MAC; same address; different serial, sysName',
    );
    expect(decide(host(), [device(host())], 'known').because).toBe('same address');
    expect(decide(host(), []).because).toBe('no known device agrees');
  });

  it('what is shared by several says nothing', () => {
    const seen = agent({ engineId: 'a' });
    const holders = new Map([['shared:engine-id:a', 'x']]);
    expect(
      decide(seen, [device(agent({ engineId: 'a', ...elsewhere }))], undefined, { holders }).reason,
    ).toBe('new');
    const named = agent({ serials: ['S'], sysName: 'n' });
    const both = new Map([
      ['shared:serial::S', 'x'],
      ['shared:sys-name:|n', 'x'],
    ]);
    const other = device(agent({ serials: ['S'], sysName: 'n', ...elsewhere }));
    expect(decide(named, [other], undefined, { holders: both })).toMatchObject({
      reason: 'new',
      conflicts: [],
    });
  });

  it("a person's word wins over all", () => {
    const holders = new Map([['manual:address:10.0.0.1', 'chosen']]);
    const seen = agent({ engineId: 'a' });
    const known = device(agent({ engineId: 'a' }));
    expect(decide(seen, [known], undefined, { holders })).toMatchObject({
      deviceId: 'chosen',
      reason: 'manual',
    });
  });

  describe('of two records that agree', () => {
    const seen = agent({ engineId: 'a', macs: MACS });
    const whole = device(agent({ engineId: 'a', macs: MACS, ...elsewhere }), { deviceId: 'whole' });
    const part = device(agent({ engineId: 'a', ...elsewhere }), { deviceId: 'part', firstSeen: 0 });

    it('the stronger one wins and takes in the other', () => {
      for (const order of [
        [whole, part],
        [part, whole],
      ])
        expect(decide(seen, order)).toMatchObject({
          deviceId: 'whole',
          absorb: [{ deviceId: 'part', reason: 'engine-id' }],
        });
    });
    it('the older one wins of two equals, then the lesser id', () => {
      const young = { ...part, deviceId: 'a-young', firstSeen: 1 };
      expect(decide(seen, [young, part]).deviceId).toBe('part');
      expect(decide(seen, [part, { ...young, firstSeen: 0 }]).deviceId).toBe('a-young');
      expect(decide(seen, [{ ...young, firstSeen: 0 }, part]).deviceId).toBe('a-young');
    });
    it('the one at its address wins, and so does the one that differs less', () => {
      expect(decide(seen, [part, { ...part, deviceId: 'here', firstSeen: 1 }], 'here').deviceId).toBe('here');
      const named = { ...seen, sysName: 'n' };
      const renamed = { ...part, deviceId: 'renamed', print: { ...part.print, sysName: 'm' } };
      expect(decide(named, [renamed, { ...part, firstSeen: 1 }]).deviceId).toBe('part');
    });
    it('nothing is merged that a person split, or that contradicts', () => {
      const apart = new Set(['whole|part', 'part|whole']);
      expect(decide(seen, [whole, part], undefined, { apart }).absorb).toEqual([]);
      const serials = (deviceId: string, serial: string) =>
        device(agent({ engineId: 'a', macs: MACS, serials: [serial], ...elsewhere }), { deviceId });
      expect(decide(seen, [serials('x', 'S1'), serials('y', 'S2')]).absorb).toEqual([]);
      expect(decide(seen, [serials('x', 'S1'), serials('y', 'S1')]).absorb).toHaveLength(1);
    });
    it('a record of a host goes into its agent whatever its MAC', () => {
      const listed = device(host({ macs: MACS.slice(0, 1), ...elsewhere }), { deviceId: 'host' });
      expect(decide(seen, [whole, listed]).absorb).toEqual([{ deviceId: 'host', reason: 'macs' }]);
    });
  });

  describe('an address at which the sweep recognised an agent', () => {
    const seen = host({ aliasOf: '10.0.0.9' });
    const holders = new Map([
      ['address:10.0.0.9', 'router'],
      ['address:10.0.0.1', 'pinged'],
    ]);
    const router = device(agent(elsewhere), { deviceId: 'router' });

    it("is the agent's, with the record that answered there before", () => {
      const pinged = device(host(), { deviceId: 'pinged' });
      expect(decide(seen, [pinged, router], undefined, { holders })).toMatchObject({
        deviceId: 'router',
        reason: 'own-address',
        because: 'its agent answers here as at 10.0.0.9, and lists this address',
        absorb: [{ deviceId: 'pinged', reason: 'address' }],
        conflicts: [],
      });
    });
    it('takes in no other agent that was there', () => {
      const former = device(agent(), { deviceId: 'pinged' });
      expect(decide(seen, [former, router], undefined, { holders })).toMatchObject({
        deviceId: 'router',
        absorb: [],
      });
    });
    it("is nobody's where the agent is a host, or is meant itself", () => {
      const plain = { ...router, print: host(elsewhere) };
      expect(decide(seen, [plain], undefined, { holders }).reason).toBe('new');
      const itself = host({ aliasOf: '10.0.0.1' });
      const here = device(agent(), { deviceId: 'pinged' });
      expect(decide(itself, [here], undefined, { holders }).reason).toBe('address');
    });
  });
});
