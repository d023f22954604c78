/** The inventory of simulated boxes is what the boxes are: every interface, address, link and learned station. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { takeInventory } from '@rollcall/collector/walk/inventory';
import { demoSite } from '@rollcall/lab/demo';
import { type Access, type Device, reachable } from '@rollcall/lab/device';
import { isr4331 } from '@rollcall/lab/devices/cisco';
import { mx240 } from '@rollcall/lab/devices/juniper';
import type { Product } from '@rollcall/lab/product';
import { makeSite, type Site } from '@rollcall/lab/site';
import { startSite } from '@rollcall/lab/start';
import { topologyFixture } from '@rollcall/lab/testing/topology';
import { systemClock } from '@rollcall/shared/clock';
import type {
  AddressRow,
  FdbRow,
  InterfaceRow,
  NeighbourRow,
  Observation,
  VrfRow,
} from '@rollcall/shared/observation';
import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import type { WireCredential } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import { discover, type Found } from '@rollcall/snmp/discover';
import { credentialOf } from '@rollcall/snmp/engine/credential';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { Session } from '@rollcall/snmp/engine/session';
import { beforeAll, describe, expect, it } from 'vitest';

const settings = BUILT_IN_PROFILES.deep.snmp as NonNullable<typeof BUILT_IN_PROFILES.deep.snmp>;

interface Reading {
  device: Device;
  facts: Observation[];
  interfaces: InterfaceRow[];
  addresses: AddressRow[];
  neighbours: NeighbourRow[];
  fdb: FdbRow[];
  vrfs: VrfRow[];
}

/** Every box of a site that has an agent, found and read over UDP at its first address. */
async function readSite(site: Site): Promise<Reading[]> {
  const port = await freePort();
  const lab = await startSite(site, { port });
  const engine = await SnmpEngine.open({ clock: systemClock });
  try {
    const options = { port, timeoutMs: 1500, tries: 3 };
    const credentials = site.credentials.map(({ name: _, ...access }) =>
      credentialOf({ id: uuidv7(), ...access } as WireCredential),
    );
    const attempts = { left: () => 10, spend: () => undefined, accepted: () => undefined };
    const agents = site.devices.filter((device) => device.access);
    const byAddress = new Map(agents.map((device) => [reachable(device)[0] ?? '', device]));
    const candidates = [...byAddress.keys()].map((address) => ({ address }));
    const found: Found[] = [];
    await discover(engine, candidates, { ...options, credentials, attempts }, (each) => found.push(each));
    return await Promise.all(
      found.map(async (each) => {
        const device = byAddress.get(each.address) as Device;
        if (each.outcome !== 'snmp') throw new Error(`${device.name}: ${each.outcome}`);
        const session = new Session(engine, { address: each.address, port }, each.credential, options);
        const { system } = each;
        const facts = await takeInventory({
          session,
          system,
          settings,
          extra: [],
          now: () => systemClock.now(),
        });
        const rows = <T>(table: string) =>
          facts.flatMap((fact) => (fact.kind === 'rows' && fact.table === table ? (fact.rows as T[]) : []));
        return {
          device,
          facts,
          interfaces: rows<InterfaceRow>('interfaces'),
          addresses: rows<AddressRow>('addresses'),
          neighbours: rows<NeighbourRow>('neighbours'),
          fdb: rows<FdbRow>('fdb'),
          vrfs: rows<VrfRow>('vrfs'),
        };
      }),
    );
  } finally {
    await engine.close();
    await lab.stop();
  }
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

const has = ({ features }: Device, ...any: Device['features']) => any.some((each) => features.includes(each));
const sorted = (rows: readonly string[]) => [...new Set(rows)].sort();
const OPER = { up: 1, down: 2, 'lower-layer-down': 7 };

describe.each([
  ['the demonstration site', demoSite],
  ['the topology fixture', () => topologyFixture().site],
])('%s, read by the collector', (_, make) => {
  let readings: Reading[];
  const site = make();
  beforeAll(async () => {
    readings = await readSite(site);
  });

  it('has every agent, and every table of it whole', () => {
    expect(sorted(readings.map(({ device }) => device.name))).toEqual(
      sorted(site.devices.filter((device) => device.access).map((device) => device.name)),
    );
    const cut = readings.flatMap(({ device, facts }) =>
      facts.flatMap((fact) =>
        fact.kind === 'rows' && fact.last && !fact.complete
          ? [`${device.name} ${fact.table} ${fact.reason}`]
          : [],
      ),
    );
    expect(cut).toEqual([]);
  });

  it('has every interface with its facts, and none beside', () => {
    for (const { device, interfaces } of readings) {
      const truth = device.ports.map((port) => ({
        ifIndex: port.ifIndex,
        ifDescr: port.descr,
        ifType: port.type,
        mtu: port.mtu,
        adminStatus: OPER[port.admin],
        operStatus: OPER[port.oper],
        ...(port.mac ? { physAddress: port.mac } : {}),
        ...(has(device, 'high-speed')
          ? { ifName: port.name, ifAlias: port.alias, speedBps: port.speed }
          : { speedBps: Math.min(port.speed, 2 ** 32 - 1) }),
      }));
      const told = interfaces.map(({ lastChange: _, stp: _s, aggregate: _a, ...row }) => row);
      expect([device.name, told]).toEqual([device.name, truth.sort((a, b) => a.ifIndex - b.ifIndex)]);
    }
  });

  it('has the addresses that the box lists', () => {
    for (const { device, addresses } of readings) {
      const truth = device.addresses.filter(
        ({ address, listed, vrf }) =>
          listed !== false && !vrf && (!address.includes(':') || has(device, 'ip-address-table')),
      );
      const form = ({ address, prefixLength, ifIndex }: AddressRow) =>
        `${address}/${prefixLength} ${ifIndex}`;
      expect([device.name, sorted(addresses.map(form))]).toEqual([device.name, sorted(truth.map(form))]);
    }
  });

  it('has every neighbour at its port', () => {
    for (const { device, neighbours } of readings) {
      const truth = device.neighbours.map(
        ({ protocol, ifIndex, remote }) => `${protocol} ${ifIndex} ${remote.sysName}`,
      );
      const told = neighbours.map(({ protocol, ifIndex, sysName }) => `${protocol} ${ifIndex} ${sysName}`);
      expect([device.name, sorted(told)]).toEqual([device.name, sorted(truth)]);
    }
  });

  it('has every learned station at its port, of VLANs that only a context of their own shows too', () => {
    for (const { device, fdb } of readings.filter((reading) => has(reading.device, 'bridge'))) {
      const vlans = has(device, 'q-bridge', 'vlan-contexts');
      const form = ({ mac, ifIndex, vlan }: Pick<FdbRow, 'mac' | 'ifIndex' | 'vlan'>) =>
        `${mac} ${ifIndex}${vlans ? ` ${vlan}` : ''}`;
      // Where each VLAN is a context, there is none for a VLAN that the box does not have.
      const shown = (vlan: number) =>
        !has(device, 'vlan-contexts') || device.vlans.some(({ id }) => id === vlan);
      const truth = device.fdb.filter(({ vlan }) => shown(vlan));
      expect([device.name, sorted(fdb.map(form))]).toEqual([device.name, sorted(truth.map(form))]);
    }
  });
});

it('the topology fixture has links that only a context shows', () => {
  expect(topologyFixture().links.some((link) => link.inContext)).toBe(true);
});

describe('VRFs', () => {
  const V2C: Access = { version: 'v2c', community: 'public' };
  const V3: Access = {
    version: 'v3',
    user: 'reader',
    authProtocol: 'sha1',
    authKey: 'authentication phrase',
    privProtocol: 'aes128',
    privKey: 'privacy phrase 1',
  };
  const inside = (n: number, vrf: string) => [`127.44.${n}.11/24 vrf=${vrf}`, `127.44.${n}.12/24 vrf=${vrf}`];
  const router = (n: number, product: Product, access: Access, [first, second, third]: string[]) => ({
    name: `vrf-${n}`,
    product,
    access,
    addresses: {
      [first as string]: [`127.44.${n}.1/24`],
      [second as string]: inside(n, 'red'),
      [third as string]: [`127.44.${n}.21/24 vrf=blue`],
    },
  });
  const CISCO = ['Gi0/0/0', 'Gi0/0/1', 'Gi0/0/2'];
  const JUNIPER = ['ge-2/1/0', 'ge-2/1/1', 'ge-2/1/2'];

  it('are entered by the context that reaches them, and their addresses are kept apart', async () => {
    const site = makeSite({
      name: 'vrfs',
      boxes: [
        router(1, isr4331, V2C, CISCO),
        router(2, mx240, V2C, JUNIPER),
        router(3, isr4331, V3, CISCO),
        router(4, mx240, V3, JUNIPER),
      ],
      links: [],
      credentials: [
        { name: 'community', ...V2C },
        { name: 'reader', ...V3 },
      ],
    });
    const readings = await readSite(site);
    expect(readings).toHaveLength(4);
    for (const { device, addresses, vrfs } of readings) {
      const n = device.name.slice(4);
      expect(addresses.map(({ address }) => address)).toEqual([`127.44.${n}.1`]);
      const told = vrfs.map(({ name, context, addresses: inIt }) => [
        name,
        context,
        inIt?.map(({ address }) => address),
      ]);
      expect(Object.fromEntries(told.map(([name, ...rest]) => [name, rest]))).toEqual({
        red: ['red', [`127.44.${n}.11`, `127.44.${n}.12`]],
        blue: ['blue', [`127.44.${n}.21`]],
      });
    }
  });

  it('that answer in no context are named and not filled', async () => {
    const site = makeSite({
      name: 'deaf',
      boxes: [router(5, isr4331, V2C, CISCO)],
      links: [],
      credentials: [{ name: 'community', ...V2C }],
    });
    for (const box of site.devices)
      box.objects[`1.3.6.1.4.1.9.9.468.1.1.1.2.3.${[...Buffer.from('out')].join('.')}`] = 'elsewhere';
    const [reading] = await readSite(site);
    expect(reading?.vrfs.find(({ name }) => name === 'elsewhere')).toEqual({
      name: 'elsewhere',
      context: 'out',
    });
  });
});
