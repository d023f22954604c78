import { AddressSpace } from '@rollcall/shared/address-space';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { parseOid } from '@rollcall/shared/oid';
import { parseTargets } from '@rollcall/shared/targets';
import { BerWriter } from '@rollcall/snmp/message/ber';
import { writePdu } from '@rollcall/snmp/message/pdu';
import { describe, expect, it } from 'vitest';
import { cables } from './demo/cables.ts';
import { stations } from './demo/stations.ts';
import { age, demoSite } from './demo.ts';
import { describe as mibsOf } from './describe/mib.ts';
import { type Device, reachable } from './device.ts';
import { truthOf } from './site.ts';
import { identitySites } from './testing/identity.ts';
import { topologyFixture } from './testing/topology.ts';

const demo = demoSite();
const sites = [demo, topologyFixture().site, ...Object.values(identitySites())];
const expand = (targets: string): string[] => {
  const parsed = parseTargets(targets, { allowLoopback: true });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const space = new AddressSpace(parsed.targets.ranges);
  return Array.from({ length: space.size }, (_, i) => space.at(i));
};
const doubles = <T>(list: T[]): T[] => list.filter((item, i) => list.indexOf(item) !== i);

describe('the demonstration site', () => {
  const truth = truthOf(demo);
  it('has stations that answer nobody: learnt at their ports, and by a router', () => {
    const named = (name: string) => demo.devices.find((d) => d.name === name);
    for (const { at, mac, address, name } of stations()) {
      const [access, port] = at.split(/:(.*)/);
      const learnt = named(access ?? '')?.fdb.filter((entry) => entry.mac === mac) ?? [];
      const ports = learnt.map(({ ifIndex }) =>
        named(access ?? '')?.ports.find((p) => p.ifIndex === ifIndex),
      );
      expect(ports.map((p) => [p?.name, p?.oper])).toEqual([[port, 'up']]);
      expect(named('dist-1')?.fdb.some((entry) => entry.mac === mac)).toBe(true);
      const known = named('core-1')?.arp.some((entry) => entry.mac === mac && entry.address === address);
      expect(known).toBe(address !== undefined);
      const bound = named(access ?? '')?.bindings.find((entry) => entry.mac === mac);
      const inspects = address !== undefined && /^access-[13]$/.test(access ?? '');
      expect(bound && [bound.address, bound.hostname]).toEqual(inspects ? [address, name] : undefined);
    }
  });

  it('is a believable site: size, kinds, versions, several addresses, hosts that only answer ping', () => {
    expect(truth.devices.length).toBeGreaterThanOrEqual(60);
    expect(new Set(truth.devices.map((d) => d.class)).size).toBeGreaterThanOrEqual(12);
    expect(new Set(truth.devices.map((d) => d.model)).size).toBeGreaterThanOrEqual(25);
    expect(new Set(truth.devices.map((d) => d.snmp))).toEqual(new Set(['v1', 'v2c', 'v3', null]));
    const many = truth.devices.filter((d) => d.addresses.length > 1);
    expect(many.length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...many.map((d) => d.addresses.length))).toBeLessThanOrEqual(8);
    for (const d of truth.devices) expect(DEVICE_CLASSES).toContain(d.class);
    for (const d of truth.devices.filter((x) => x.snmp === null)) expect(d.class).toBe('unknown');
  });

  it('needs its ordered list of credentials, and each device has one in it', () => {
    for (const { access } of demo.devices) {
      if (access)
        expect(
          truth.credentials.some((c) =>
            Object.entries(access).every(([k, v]) => c[k as keyof typeof c] === v),
          ),
        ).toBe(true);
    }
    expect(new Set(demo.devices.map((d) => JSON.stringify(d.access))).size).toBe(
      truth.credentials.length + 1,
    );
  });

  it('connects every box, and LLDP shows the same link at both ends', () => {
    for (const d of demo.devices) {
      expect(cables().some((l) => [l.a, l.b].some((end) => end.startsWith(`${d.name}:`)))).toBe(true);
      for (const n of d.neighbours) {
        const port = d.ports.find((p) => p.ifIndex === n.ifIndex);
        expect(port?.oper).toBe('up');
        if (!n.remote.features.some((f) => f === 'lldp' || f === 'lldp-v2') || n.protocol !== 'lldp')
          continue;
        const back = n.remote.neighbours.filter((m) => m.remote === d && m.ifIndex === n.remotePort.ifIndex);
        expect(back.map((m) => m.remotePort)).toContain(port);
      }
    }
  });

  it('has been up for longer at a later start', () => {
    const [first, later] = [1_764_000_000, 1_764_003_600].map((now) => age(demoSite(), now).devices);
    for (const [i, device] of (first ?? []).entries()) {
      expect((later?.[i]?.upBefore ?? 0) - device.upBefore).toBe(3600);
      expect(device.upBefore).toBeLessThan(497 * 86_400);
    }
  });

  it('is made anew each time', () => {
    const first = demoSite();
    const [device] = first.devices;
    if (device) device.sysName = 'changed';
    device?.ports.pop();
    expect(truthOf(demoSite())).toEqual(truth);
    expect(demoSite().devices[0]?.sysName).toBe('core-1');
  });
});

describe.each(sites.map((s) => [s.name, s] as const))('the site %s', (_, site) => {
  it('has targets that are exactly its addresses, each on one box', () => {
    const addresses = site.devices.flatMap(reachable);
    expect(doubles(addresses)).toEqual([]);
    expect(expand(truthOf(site).targets).sort()).toEqual([...addresses].sort());
  });

  it('has no hardware address twice, but those of virtual routers', () => {
    const macs = site.devices.flatMap((d) => d.ports.map((p) => p.mac).filter(Boolean));
    expect(doubles(macs).filter((m) => !/^00:00:(5e:00:01|0c:07:ac)/.test(m))).toEqual([]);
  });

  it.each(site.devices.filter((d) => d.access).map((d) => [d.name, d] as const))(
    '%s shows a sound MIB',
    (_name, d) => {
      sound(d);
    },
  );
});

it('tells the duplex mode of Ethernet ports that are up (EtherLike-MIB)', () => {
  const core = demoSite().devices.find(({ name }) => name === 'core-1') as Device;
  const mib = mibsOf(core, () => 0).get('');
  const modeOf = (oper: string) => {
    const port = core.ports.find((one) => one.type === 6 && one.oper === oper);
    return mib?.get(`1.3.6.1.2.1.10.7.2.1.19.${port?.ifIndex}`);
  };
  expect([modeOf('up'), modeOf('down')]).toMatchObject([{ value: 3 }, { value: 1 }]);
});

function sound(d: Device): void {
  const indexes = d.ports.map((p) => p.ifIndex);
  expect(doubles(indexes)).toEqual([]);
  for (const a of d.addresses) expect(indexes).toContain(a.ifIndex);
  expect(doubles(d.entities.map((e) => e.index))).toEqual([]);
  for (const e of d.entities)
    expect(e.parent === 0 || d.entities.some((p) => p.index === e.parent)).toBe(true);
  for (const e of d.fdb) expect(d.ports.find((p) => p.ifIndex === e.ifIndex)?.bridgePort).toBeDefined();
  expect(parseOid(d.sysObjectId)).not.toBeNull();
  expect(`${d.sysDescr}${Object.values(d.objects).join()}${JSON.stringify(d.entities)}`).not.toMatch(
    /\{\w+\}/,
  );
  expect(d.engineId).toMatch(/^([0-9a-f]{2}){5,32}$/);
  const writer = new BerWriter(65_535);
  for (const mib of mibsOf(d, () => 10).values()) {
    for (const { oid, value } of mib.under()) {
      // Throws on whatever the codec cannot carry.
      writePdu(writer.reset(), {
        type: 'get',
        requestId: 1,
        errorStatus: 0,
        errorIndex: 0,
        varbinds: [{ oid, ...value }],
      });
    }
  }
}

describe('the sensors of the demonstration site', () => {
  const mib = (name: string, uptime: number) => {
    const device = demo.devices.find((each) => each.name === name) as Device;
    const found = mibsOf(device, () => uptime).get('');
    return (oid: string) => found?.get(oid)?.value;
  };
  it('move with the time of the day', () => {
    const at = (hour: number) => Number(mib('core-1', hour * 3600)('1.3.6.1.2.1.99.1.1.1.4.900001'));
    expect(at(15)).toBeGreaterThan(at(3) + 30);
    expect(at(3)).toBeGreaterThan(150);
  });
  it('show a full disk and a failed power supply', () => {
    const [size, used] = [5, 6].map((column) => Number(mib('db-1', 60)(`1.3.6.1.2.1.25.2.3.1.${column}.32`)));
    expect((used ?? 0) / (size ?? 1)).toBeGreaterThan(0.95);
    const supplies = (name: string) =>
      (demo.devices.find((each) => each.name === name)?.entities ?? [])
        .filter((entity) => entity.class === 6)
        .map(({ index }) => mib(name, 60)(`1.3.6.1.2.1.131.1.1.1.3.${index}`));
    expect(supplies('access-2')).toEqual([2, 3]);
    expect(supplies('access-1')).toEqual([3, 3, 3]);
  });
});
