import { describe, expect, it } from 'vitest';
import { observe, prepareDevice, prepareHost } from '../observe.ts';
import { answered, asked, type Box, entityOnly, NOW } from '../testing/site.ts';
import { emptyWorld, type World } from '../world.ts';

/**
 * The hardest row of every peer: one box is one device. Each case is a small site that is scanned several times, in
 * many orders; whatever the order, the number of devices and who holds which address must be the true one.
 */
const rules = { id: 'test', classify: entityOnly };
const DAY = 86_400_000;

type Sight = { box?: Box; address: string; host?: Record<string, unknown> };
const agent = (box: Box, address: string): Sight => ({ box, address });
const aliasAt = (address: string, aliasOf: string): Sight => ({
  address,
  host: { snmp: 'answered', aliasOf },
});
const ping = (address: string, mac?: string): Sight => ({ address, host: mac ? { mac } : {} });

class Site {
  readonly world: World = emptyWorld('site');
  #ids = 0;
  #scan = 0;

  /** One sweep that sees these, in this order. */
  scan(sights: readonly Sight[], day = this.#scan): this {
    this.#scan += 1;
    const job = `job-${this.#scan}`;
    this.world.scans.set(job, `scan-${this.#scan}`);
    sights.forEach((sight, i) => {
      const at = NOW + day * DAY + i * 100;
      const prepared = sight.box
        ? prepareDevice({ ...asked(sight.box, sight.address), job }, at, rules)
        : prepareHost({ ...answered(sight.address, sight.host), job }, at);
      if (!prepared) return;
      observe(this.world, prepared, {
        rules,
        collectorId: 'c',
        newId: () => `device-${String(++this.#ids).padStart(3, '0')}`,
      });
    });
    return this;
  }

  at(address: string): string | undefined {
    return this.world.holders.get(`address:${address}`);
  }
  get count(): number {
    return this.world.devices.size;
  }
  kinds(kind: string) {
    return this.world.changes.filter((change) => change.kind === kind);
  }
}

/** Small deterministic generator, so that a failing order can be run again. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  let state = seed * 2654435761 + 1;
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = state % (i + 1);
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}

interface Case {
  name: string;
  /** Scans one after the other, a day apart. */
  scans: Sight[][];
  devices: number;
  /** Groups of addresses: one device each in the end, different between groups. */
  boxes: string[][];
  conflicts?: number;
}

const vrf = ['10.0.0.1', '10.0.0.2', '10.1.0.1', '10.1.0.2', '10.1.0.3', '10.2.0.1', '10.2.0.2', '10.2.0.3'];
const router: Box = {
  sysName: 'core',
  engineId: '800000090300001b540000aa',
  serials: ['FOX1234ABCD'],
  table: vrf,
  macs: ['00:1b:54:00:00:aa', '00:1b:54:00:00:ab'],
};
const inVrf = (addresses: string[]): Box => ({ ...router, table: addresses });

const hidden: Box = {
  sysName: 'mesh',
  engineId: '8000000903aabbcc000001',
  table: ['10.9.0.1', '10.9.1.1'],
  macs: ['a8:bb:cc:00:00:01'],
};
const hiddenPlain: Box = { sysName: 'mesh2', table: ['10.9.0.1', '10.9.1.1'], macs: ['a8:bb:cc:00:00:01'] };

const haA: Box = {
  sysName: 'fw-a',
  sysObjectId: '1.3.6.1.4.1.25461.2.3.38',
  engineId: '80001f888000000000000a01',
  serials: ['013201001234'],
  table: ['10.5.0.1', '10.5.1.254', '10.5.2.254'],
  macs: ['00:86:9c:00:00:01', '00:86:9c:00:00:02'],
};
const haB: Box = {
  ...haA,
  sysName: 'fw-b',
  engineId: '80001f888000000000000b02',
  table: ['10.5.0.2', '10.5.1.254', '10.5.2.254'],
  macs: ['00:86:9c:00:00:11', '00:86:9c:00:00:12'],
};
/** The same pair without engine ids: an older release. */
const plain = ({ engineId: _, ...box }: Box): Box => box;

const gwA: Box = {
  sysName: 'gw1',
  table: ['10.6.0.2'],
  macs: ['00:1c:58:00:00:01'],
  engineId: '800000090300001c580001',
};
const gwB: Box = {
  sysName: 'gw2',
  table: ['10.6.0.3'],
  macs: ['00:1c:58:00:00:02'],
  engineId: '800000090300001c580002',
};
const master = (box: Box): Box => ({
  ...box,
  table: [...(box.table ?? []), '10.6.0.1'],
  macs: [...(box.macs ?? []), '00:00:5e:00:01:0a'],
});

const clone = (n: number): Box => ({
  sysName: 'ubuntu',
  sysObjectId: '1.3.6.1.4.1.8072.3.2.10',
  engineId: '80001f8880aabbccdd11223344',
  table: [`10.7.0.${n}`],
  macs: [`00:50:56:aa:00:0${n}`],
});

const stack: Box = {
  sysName: 'stack',
  chassis: [
    { index: 1, class: 'stack', serial: 'FDO0001' },
    { index: 1001, class: 'chassis', serial: 'FDO0001', position: 1, parent: 1 },
    { index: 2001, class: 'chassis', serial: 'FDO0002', position: 2, parent: 1 },
  ],
  table: ['10.8.0.1', '10.8.1.1'],
  macs: ['00:1d:70:00:00:01'],
};
const stackAfter: Box = {
  ...stack,
  chassis: [
    { index: 1, class: 'stack', serial: 'FDO0002' },
    { index: 2001, class: 'chassis', serial: 'FDO0002', position: 1, parent: 1 },
  ],
};

const fleet = (n: number): Box => ({
  sysName: 'Switch',
  sysObjectId: '1.3.6.1.4.1.11863.5.33',
  sysDescr: '8-Port Gigabit Smart Switch',
  engineId: '80002e57030102030405',
  serials: ['0000000000'],
  table: [`10.4.0.${n}`],
  macs: [`98:de:d0:00:00:${String(n).padStart(2, '0')}`],
});
const dumb = (n: number): Box => ({
  sysName: 'Switch',
  sysObjectId: '1.3.6.1.4.1.11863.5.33',
  table: [`10.4.0.${n}`],
});

const printer = (mac: string, name: string): Box => ({
  sysName: name,
  sysObjectId: '1.3.6.1.4.1.11.2.3.9.1',
  table: [],
  macs: [mac],
});

const cases: Case[] = [
  {
    name: 'a router with eight addresses in three VRFs, all asked',
    scans: [vrf.map((address) => agent(router, address))],
    devices: 1,
    boxes: [vrf],
  },
  {
    name: 'the same router where each VRF shows only its own addresses',
    scans: [
      [
        ...vrf.slice(0, 2).map((address) => agent(inVrf(vrf.slice(0, 2)), address)),
        ...vrf.slice(2, 5).map((address) => agent(inVrf(vrf.slice(2, 5)), address)),
        ...vrf.slice(5).map((address) => agent(inVrf(vrf.slice(5)), address)),
      ],
    ],
    devices: 1,
    boxes: [vrf],
  },
  {
    name: 'a router whose addresses answered ping before its agent was asked once',
    scans: [[...vrf.map((address) => ping(address)), agent({ ...router, engineId: '' }, '10.1.0.2')]],
    devices: 1,
    boxes: [],
  },
  {
    name: 'a box that hides the address it was reached on, known by its engine id',
    scans: [[agent(hidden, '10.9.9.9'), agent(hidden, '10.9.0.1'), agent(hidden, '10.9.1.1')]],
    devices: 1,
    boxes: [['10.9.9.9', '10.9.0.1', '10.9.1.1']],
  },
  {
    name: 'a box that hides its address and has no engine id',
    scans: [[agent(hiddenPlain, '10.9.9.9'), agent(hiddenPlain, '10.9.0.1'), agent(hiddenPlain, '10.9.1.1')]],
    devices: 1,
    boxes: [['10.9.9.9', '10.9.0.1', '10.9.1.1']],
  },
  {
    name: 'a pair of firewalls with one serial and shared addresses',
    scans: [
      [agent(haA, '10.5.0.1'), agent(haB, '10.5.0.2'), agent(haA, '10.5.1.254'), agent(haA, '10.5.2.254')],
      [agent(haA, '10.5.0.1'), agent(haB, '10.5.0.2'), agent(haB, '10.5.1.254'), agent(haB, '10.5.2.254')],
    ],
    devices: 2,
    boxes: [['10.5.0.1'], ['10.5.0.2']],
    conflicts: 1,
  },
  {
    name: 'the same pair without engine ids',
    scans: [
      [agent(plain(haA), '10.5.0.1'), agent(plain(haB), '10.5.0.2'), agent(plain(haA), '10.5.1.254')],
      [agent(plain(haA), '10.5.0.1'), agent(plain(haB), '10.5.0.2'), agent(plain(haB), '10.5.1.254')],
    ],
    devices: 2,
    boxes: [['10.5.0.1'], ['10.5.0.2']],
    conflicts: 1,
  },
  {
    name: 'a virtual address (VRRP, HSRP, CARP) that moves between two gateways',
    scans: [
      [agent(master(gwA), '10.6.0.1'), agent(master(gwA), '10.6.0.2'), agent(gwB, '10.6.0.3')],
      [agent(master(gwB), '10.6.0.1'), agent(gwA, '10.6.0.2'), agent(master(gwB), '10.6.0.3')],
      [agent(master(gwA), '10.6.0.1'), agent(master(gwA), '10.6.0.2'), agent(gwB, '10.6.0.3')],
    ],
    devices: 2,
    boxes: [['10.6.0.1', '10.6.0.2'], ['10.6.0.3']],
    conflicts: 0,
  },
  {
    name: 'a virtual address whose new holder the sweep recognised without reading it twice',
    scans: [
      [agent(master(gwA), '10.6.0.2'), agent(gwB, '10.6.0.3'), aliasAt('10.6.0.1', '10.6.0.2')],
      [agent(gwA, '10.6.0.2'), agent(master(gwB), '10.6.0.3')],
      [aliasAt('10.6.0.1', '10.6.0.3')],
    ],
    devices: 2,
    boxes: [['10.6.0.2'], ['10.6.0.1', '10.6.0.3']],
  },
  {
    name: 'the same gateways without engine ids',
    scans: [
      [
        agent(plain(master(gwA)), '10.6.0.1'),
        agent(plain(master(gwA)), '10.6.0.2'),
        agent(plain(gwB), '10.6.0.3'),
      ],
      [
        agent(plain(master(gwB)), '10.6.0.1'),
        agent(plain(gwA), '10.6.0.2'),
        agent(plain(master(gwB)), '10.6.0.3'),
      ],
    ],
    devices: 2,
    boxes: [['10.6.0.2'], ['10.6.0.1', '10.6.0.3']],
    conflicts: 0,
  },
  {
    name: 'two cloned machines with one engine id',
    scans: [
      [agent(clone(1), '10.7.0.1'), agent(clone(2), '10.7.0.2')],
      [agent(clone(1), '10.7.0.1'), agent(clone(2), '10.7.0.2')],
    ],
    devices: 2,
    boxes: [['10.7.0.1'], ['10.7.0.2']],
    conflicts: 1,
  },
  {
    name: 'three clones, pinged first',
    scans: [
      [ping('10.7.0.1'), ping('10.7.0.2'), ping('10.7.0.3')],
      [agent(clone(1), '10.7.0.1'), agent(clone(2), '10.7.0.2'), agent(clone(3), '10.7.0.3')],
    ],
    devices: 3,
    boxes: [['10.7.0.1'], ['10.7.0.2'], ['10.7.0.3']],
    conflicts: 1,
  },
  {
    name: 'a stack whose master repeats the serial of the stack, and fails',
    scans: [
      [agent(stack, '10.8.0.1'), agent(stack, '10.8.1.1')],
      [agent(stackAfter, '10.8.0.1'), agent(stackAfter, '10.8.1.1')],
    ],
    devices: 1,
    boxes: [['10.8.0.1', '10.8.1.1']],
    conflicts: 0,
  },
  {
    name: 'a fleet as it left the factory: one name, one engine id, no serial',
    scans: [
      [1, 2, 3, 4, 5].map((n) => agent(fleet(n), `10.4.0.${n}`)),
      [1, 2, 3, 4, 5].map((n) => agent(fleet(n), `10.4.0.${n}`)),
    ],
    devices: 5,
    boxes: [1, 2, 3, 4, 5].map((n) => [`10.4.0.${n}`]),
  },
  {
    name: 'a fleet of which nothing but name and address is known',
    scans: [
      [1, 2, 3].map((n) => agent(dumb(n), `10.4.0.${n}`)),
      [1, 2, 3].map((n) => agent(dumb(n), `10.4.0.${n}`)),
    ],
    devices: 3,
    boxes: [1, 2, 3].map((n) => [`10.4.0.${n}`]),
    conflicts: 0,
  },
  {
    name: 'an address that passes to another host (DHCP), seen by ping and MAC',
    scans: [
      [ping('10.3.0.1', '3c:52:82:00:00:01'), ping('10.3.0.2', '3c:52:82:00:00:02')],
      [ping('10.3.0.2', '3c:52:82:00:00:01'), ping('10.3.0.1', '3c:52:82:00:00:02')],
    ],
    devices: 2,
    boxes: [['10.3.0.1'], ['10.3.0.2']],
  },
  {
    name: 'an address that passes to another agent',
    scans: [
      [agent(printer('3c:52:82:00:00:01', 'pr1'), '10.3.0.1')],
      [agent(printer('3c:52:82:00:00:02', 'pr2'), '10.3.0.1')],
      [agent(printer('3c:52:82:00:00:01', 'pr1'), '10.3.0.2')],
    ],
    devices: 2,
    boxes: [['10.3.0.1'], ['10.3.0.2']],
  },
  {
    name: 'a device that changed its address',
    scans: [
      [agent(printer('3c:52:82:00:00:01', 'pr1'), '10.3.0.1')],
      [agent(printer('3c:52:82:00:00:01', 'pr1'), '10.3.0.77')],
    ],
    devices: 1,
    boxes: [['10.3.0.77']],
  },
  {
    name: 'a host without an agent that changed its address',
    scans: [[ping('10.3.0.1', '3c:52:82:00:00:01')], [ping('10.3.0.77', '3c:52:82:00:00:01')]],
    devices: 1,
    boxes: [['10.3.0.77']],
  },
  {
    name: 'ping and agent at every address of a box, in any order',
    scans: [[...vrf.map((a) => ping(a)), ...vrf.map((a) => agent(router, a))]],
    devices: 1,
    boxes: [vrf],
  },
  {
    name: 'an agent that stops answering: the host stays the same device',
    scans: [[agent(router, '10.0.0.1')], [ping('10.0.0.1')], [ping('10.1.0.1')], [agent(router, '10.0.0.1')]],
    devices: 1,
    boxes: [['10.0.0.1', '10.1.0.1']],
  },
];

describe('one box is one device', () => {
  for (const each of cases) {
    it(`${each.name}, in 40 orders`, () => {
      for (let seed = 0; seed < 40; seed++) {
        const site = new Site();
        for (const [i, scan] of each.scans.entries()) site.scan(seed === 0 ? scan : shuffled(scan, seed + i));
        const why = `order ${seed}`;
        expect(site.count, why).toBe(each.devices);
        const owners = each.boxes.map((addresses) => new Set(addresses.map((address) => site.at(address))));
        for (const owner of owners) expect(owner.size, why).toBe(1);
        expect(new Set(owners.map((owner) => [...owner][0])).size, why).toBe(each.boxes.length);
        if (each.conflicts !== undefined)
          expect(site.kinds('identity.conflict').length, why).toBe(each.conflicts);
      }
    });
  }

  it.each([
    { claimed: 'serial', conflicts: 1 },
    { claimed: 'engine id', conflicts: 1 },
    { claimed: 'hardware address', conflicts: 0 },
    { claimed: 'name', conflicts: 0 },
  ])('E86: a device that claims the $claimed of another takes nothing over', ({ claimed, conflicts }) => {
    const victim = {
      sysName: 'core1',
      engineId: '80001f8880aaaaaaaaaaaaaaaa',
      serials: ['FDO1111'],
      macs: ['00:1d:70:00:01:01'],
      table: ['10.10.0.1'],
    };
    const impostor: Box = {
      sysName: claimed === 'name' ? victim.sysName : 'printer',
      engineId: claimed === 'engine id' ? victim.engineId : '80001f8880bbbbbbbbbbbbbbbb',
      serials: claimed === 'serial' ? victim.serials : ['FDO6666'],
      macs: claimed === 'hardware address' ? victim.macs : ['00:1d:70:00:06:66'],
      table: ['10.10.0.66'],
    };
    const site = new Site().scan([agent(victim, '10.10.0.1')]);
    const owner = site.at('10.10.0.1') ?? '';
    site
      .scan([agent(impostor, '10.10.0.66')])
      .scan([agent(victim, '10.10.0.1'), agent(impostor, '10.10.0.66')]);
    expect(site.at('10.10.0.1')).toBe(owner);
    expect(site.at('10.10.0.66')).not.toBe(owner);
    expect(site.world.devices.get(owner)?.row).toMatchObject({
      sysName: 'core1',
      serialNumber: 'FDO1111',
      address: '10.10.0.1',
    });
    expect(site.kinds('identity.conflict')).toHaveLength(conflicts);
  });

  it('keeps the record and its id when hardware is replaced in place', () => {
    const before: Box = {
      sysName: 'sw7',
      serials: ['FDO0001'],
      macs: ['00:1d:70:00:00:01'],
      table: ['10.0.0.7'],
    };
    const after: Box = { ...before, serials: ['FDO0777'], macs: ['00:1d:70:00:00:77'] };
    const site = new Site().scan([agent(before, '10.0.0.7')]).scan([agent(after, '10.0.0.7')]);
    expect(site.count).toBe(1);
    expect([...site.world.devices.values()][0]?.row.serialNumber).toBe('FDO0777');
  });

  it('tells of hardware that was replaced in place without a serial number, once', () => {
    const of = (n: number): Box => ({
      sysName: 'lin7',
      engineId: `80001f8804aabbccdd0${n}`,
      macs: [`52:54:00:00:00:0${n}`],
      table: ['10.0.0.7'],
    });
    const site = new Site().scan([agent(of(1), '10.0.0.7')]);
    for (let day = 0; day < 3; day += 1) site.scan([agent(of(2), '10.0.0.7')]);
    expect(site.count).toBe(1);
    const swapped = [
      {
        before: { serialNumber: null, macAddress: '52:54:00:00:00:01' },
        after: { serialNumber: null, macAddress: '52:54:00:00:00:02' },
      },
    ];
    expect(site.kinds('device.swapped')).toMatchObject(swapped);
    // The old box is put to use elsewhere: a device of its own, that its engine id is evidence of.
    const old = { ...of(1), sysName: 'lin9', table: ['10.0.0.9'] };
    site.scan([agent(of(2), '10.0.0.7'), agent(old, '10.0.0.9')]);
    expect(site.count).toBe(2);
    expect(site.at('10.0.0.9')).toBe(site.world.holders.get('engine-id:80001f8804aabbccdd01'));
    site.scan([agent(of(2), '10.0.0.7'), agent(old, '10.0.0.9')]);
    // Both answer in turn at one address: a pair, of which the second is told once.
    for (let day = 0; day < 4; day += 1) site.scan([agent(of(3 + (day % 2)), '10.0.0.7')]);
    expect(site.kinds('device.swapped')).toHaveLength(3);
    expect(site.kinds('identity.conflict')).toEqual([]);
  });

  it('makes one device of a collector and its host, in any order: addresses with one hardware address, and its agent', () => {
    const [first, second] = ['52:54:00:00:00:01', '52:54:00:00:00:02'];
    const host: Box = { sysName: 'noc', macs: [first, second], table: ['10.0.0.5', '127.0.0.1'] };
    const sights = [ping('10.0.0.5', first), ping('10.1.0.5', first), agent(host, '10.0.0.5')];
    for (let seed = 0; seed < 10; seed += 1) {
      const site = new Site().scan(shuffled(sights, seed)).scan(shuffled(sights, seed + 1));
      expect(site.count).toBe(1);
    }
  });

  it('takes an agent with a new engine id on the same hardware for the same box, and tells nothing', () => {
    const box: Box = { sysName: 'lin7', macs: ['52:54:00:00:00:01'], table: ['10.0.0.7'] };
    const site = new Site().scan([agent({ ...box, engineId: '80001f8804aabbccdd01' }, '10.0.0.7')]);
    site.scan([agent({ ...box, engineId: '80001f8804aabbccdd02' }, '10.0.0.7')]);
    expect([site.count, site.kinds('device.swapped')]).toEqual([1, []]);
  });

  it('does not take a second box for a replacement when the name is shared', () => {
    const site = new Site().scan([1, 2, 3].map((n) => agent(fleet(n), `10.4.0.${n}`)));
    site.scan([agent(fleet(9), '10.4.0.1')]);
    expect(site.count).toBe(4);
  });

  it('keeps the management address while the device still answers there, whatever address answers first', () => {
    for (let seed = 0; seed < 20; seed++) {
      const site = new Site().scan([agent(hidden, '10.9.9.9')]);
      const all = [agent(hidden, '10.9.0.1'), agent(hidden, '10.9.9.9'), agent(hidden, '10.9.1.1')];
      site.scan(shuffled(all, seed));
      const [device] = site.world.devices.values();
      const settled = device?.row.address;
      for (let day = 0; day < 3; day++) site.scan(shuffled(all, seed + day));
      expect(device?.row.address).toBe(settled);
    }
  });

  it('tells of an address that answers as another device, once', () => {
    const site = new Site().scan([agent(printer('3c:52:82:00:00:01', 'pr1'), '10.3.0.1')]);
    site.scan([agent(printer('3c:52:82:00:00:02', 'pr2'), '10.3.0.1')]);
    site.scan([agent(printer('3c:52:82:00:00:02', 'pr2'), '10.3.0.1')]);
    expect(site.kinds('address.moved')).toMatchObject([
      { before: { deviceName: 'pr1' }, after: { deviceName: 'pr2', address: '10.3.0.1' } },
    ]);
  });

  it('a conflict is about the address that both list, not about where one of them is managed', () => {
    const one: Box = { sysName: 'gw1', macs: ['3c:52:82:00:01:01'], table: ['10.5.0.1', '10.5.0.254'] };
    const two: Box = { sysName: 'gw2', macs: ['3c:52:82:00:01:02'], table: ['10.5.0.2', '10.5.0.254'] };
    const site = new Site().scan([agent(one, '10.5.0.1'), agent(two, '10.5.0.2')]);
    site.scan([agent(one, '10.5.0.254')]).scan([agent(two, '10.5.0.254')]);
    expect(site.kinds('address.conflict')).toMatchObject([
      {
        deviceName: 'gw2',
        address: '10.5.0.2',
        before: { deviceName: 'gw1' },
        after: { address: '10.5.0.254' },
      },
    ]);
  });

  it('an address that went to another box moved, in whatever order a scan reads the two', () => {
    const box = (n: number, more: string[] = []): Box => ({
      sysName: `gw${n}`,
      macs: [`3c:52:82:00:01:0${n}`],
      table: [`10.5.0.${n}`, ...more],
    });
    const virtual = '10.5.0.254';
    const before = [
      agent(box(1, [virtual]), '10.5.0.1'),
      aliasAt(virtual, '10.5.0.1'),
      agent(box(2), '10.5.0.2'),
    ];
    const giver = agent(box(1), '10.5.0.1');
    const taker = agent(box(2, [virtual]), '10.5.0.2');
    const at = aliasAt(virtual, '10.5.0.2');
    for (const order of [
      [giver, taker, at],
      [taker, giver, at],
      [taker, at, giver],
    ]) {
      const site = new Site().scan(before).scan(order);
      expect(site.kinds('address.conflict')).toEqual([]);
      expect(site.kinds('address.moved')).toMatchObject([
        { before: { deviceName: 'gw1' }, after: { deviceName: 'gw2', address: virtual } },
      ]);
    }
  });

  it('a copy has all that its original has, and runs beside it: two devices, told once', () => {
    /** Booted so many days before the first scan. */
    const vm = (address: string, booted: number, day: number): Sight =>
      agent({ ...clone(1), table: [address], sysUpTime: (booted + day) * 8_640_000 }, address);
    for (let seed = 0; seed < 20; seed++) {
      const site = new Site().scan([vm('10.7.0.1', 30, 0)]);
      for (let day = 1; day < 5; day++)
        site.scan(shuffled([vm('10.7.0.1', 30, day), vm('10.8.0.1', 10, day)], seed + day));
      expect(site.kinds('identity.conflict')).toMatchObject([{ after: { evidence: 'engine-id' } }]);
      // Both without power at one time.
      for (let day = 6; day < 9; day++)
        site.scan(shuffled([vm('10.7.0.1', -5.1, day), vm('10.8.0.1', -5.2, day)], seed + day), day);
      expect([...site.world.devices.values()].map(({ row }) => row.address).sort()).toEqual([
        '10.7.0.1',
        '10.8.0.1',
      ]);
      expect(
        site.world.changes.map(({ kind }) => kind).filter((kind) => kind.startsWith('identity')),
      ).toHaveLength(1);
      expect(site.kinds('device.merged')).toEqual([]);
      expect(site.kinds('device.renumbered')).toEqual([]);
    }
  });

  it('a device that started again at another address is the same', () => {
    const vm = (address: string, sysUpTime: number): Sight =>
      agent({ ...clone(1), table: [address], sysUpTime }, address);
    const site = new Site().scan([vm('10.7.0.1', 8_640_000)]).scan([vm('10.8.0.1', 6000)]);
    expect(site.count).toBe(1);
    // What answers a ping at its old address proves nothing of its agent: it may be another host by now.
    const moved = new Site()
      .scan([vm('10.7.0.1', 8_640_000)])
      .scan([ping('10.7.0.1')])
      .scan([vm('10.8.0.1', 1.5 * 8_640_000)]);
    expect(moved.count).toBe(1);
  });

  it('obeys a person: bound evidence wins, and split records are not merged again', () => {
    const site = new Site().scan([agent(router, '10.0.0.1')]);
    const [first] = site.world.devices.keys();
    site.scan([ping('10.77.0.1')]);
    const other = site.at('10.77.0.1') as string;
    site.world.holders.set('manual:address:10.0.0.2', other);
    site.world.apart.add(`${first}|${other}`).add(`${other}|${first}`);
    site.scan([agent(router, '10.0.0.2'), agent(router, '10.0.0.1')]);
    expect([site.at('10.0.0.1'), site.at('10.0.0.2')]).toEqual([first, other]);
    expect(site.count).toBe(2);
  });
});
