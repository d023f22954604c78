/** The cases of the identity fixture; case n lives in 127.40.n.0/24. */
import type { Access, Device, Feature } from '../../device.ts';
import { catalyst9300, isr4331 } from '../../devices/cisco.ts';
import { fortigate100f } from '../../devices/firewalls.ts';
import { debian12, ubuntu2204 } from '../../devices/servers.ts';
import { aruba6300, ccr2004, dgs3420, procurve2530 } from '../../devices/switches.ts';
import { snomD785 } from '../../devices/things.ts';
import { type Box, makeDevice, type Product } from '../../product.ts';
import type { LiveSite } from '../../start.ts';
import { coverOf } from '../../targets.ts';

interface Change {
  name: string;
  apply(site: LiveSite): Promise<void>;
}

export interface Case {
  why: string;
  boxes: Box[];
  /** What a description cannot say, done to every box before the site starts. */
  adjust?(device: Device): void;
  /** Changes, one list for each step after the first. */
  steps?: Change[][];
}

const access: Access = { version: 'v2c', community: 'public' };
const net = (n: number, host: number, words = '') => `127.40.${n}.${host}/24${words && ` ${words}`}`;
const box = (name: string, product: Product, addresses: Box['addresses'], but?: Partial<Device>): Box => ({
  name,
  product,
  access,
  addresses,
  ...(but ? { but } : {}),
});
const without = (product: Product, ...features: Feature[]): Product => ({
  ...product,
  features: product.features.filter((f) => !features.includes(f)),
});

/** Moves `address` from one box to another, to the interface `ifIndex` there. */
const move = (
  name: string,
  address: string,
  from: string,
  to: string,
  extra?: { listed: boolean },
): Change => ({
  name,
  apply: async (site) => {
    await site.change(from, (d) => {
      d.addresses = d.addresses.filter((a) => a.address !== address);
    });
    await site.change(to, (d) => {
      d.addresses.push({ address, prefixLength: 24, ifIndex: d.addresses[0]?.ifIndex ?? 1, ...extra });
    });
  },
});

/** The box has exactly one address, from now on this one. */
const renumber = (name: string, boxName: string, address: string): Change => ({
  name,
  apply: (site) =>
    site.change(boxName, (d) => {
      const ifIndex = d.addresses[0]?.ifIndex ?? 1;
      d.addresses = [{ address, prefixLength: 24, ifIndex }];
    }),
});

/** Gives both boxes of a pair an interface with the shared virtual-router hardware address. */
const virtualMac =
  (names: string[], mac: string) =>
  (device: Device): void => {
    const last = device.ports.at(-1);
    if (!names.includes(device.name) || !last) return;
    device.ports.push({
      ...last,
      ifIndex: last.ifIndex + 100,
      name: 'virtual',
      descr: 'virtual router',
      mac,
    });
  };

const engineOf = (like: string): string => makeDevice(box(like, debian12, {})).engineId;

export const cases: Record<string, Case> = {
  'vrf-router': {
    why: 'a router answers on 8 addresses in 3 VRFs and lists only those of the VRF that asks',
    boxes: [
      box('vrf-router', isr4331, {
        'Gi0/0/0': [net(1, 1), net(1, 2), net(1, 3)],
        'Gi0/0/1': [net(1, 4, 'vrf=red'), net(1, 5, 'vrf=red'), net(1, 6, 'vrf=red')],
        'Gi0/0/2': [net(1, 7, 'vrf=blue'), net(1, 8, 'vrf=blue')],
      }),
    ],
  },
  'hidden-address': {
    why: 'boxes that do not list the addresses they are reached on; two tell a serial number, none an engine id',
    boxes: [
      box('hidden-1', without(fortigate100f, 'engine-id'), {
        mgmt: [net(2, 1), net(2, 2, 'unlisted'), net(2, 3, 'unlisted')],
      }),
      box('hidden-2', without(fortigate100f, 'engine-id'), {
        mgmt: ['10.9.9.1/24', net(2, 9, 'unlisted'), net(2, 10, 'unlisted')],
      }),
      box('hidden-3', without(ccr2004, 'engine-id'), { ether1: ['10.9.9.2/24', net(2, 17, 'unlisted')] }),
    ],
  },
  'ha-pair': {
    why: 'both halves of a cluster report the serial number of the first; hardware addresses and engines differ',
    boxes: [1, 2].map((n) =>
      box(
        `ha-${n}`,
        fortigate100f,
        { mgmt: net(3, n) },
        { serial: 'FG100FTK20001234', sysName: 'ha-cluster' },
      ),
    ),
  },
  vrrp: {
    why: 'a shared address that the master lists moves between two routers with one virtual hardware address',
    boxes: [
      box('vrrp-1', ccr2004, { ether1: [net(4, 1), net(4, 254)] }),
      box('vrrp-2', ccr2004, { ether1: net(4, 2) }),
    ],
    adjust: virtualMac(['vrrp-1', 'vrrp-2'], '00:00:5e:00:01:0a'),
    steps: [
      [move('vrrp: the second router takes over', '127.40.4.254', 'vrrp-1', 'vrrp-2')],
      [move('vrrp: the first router is back', '127.40.4.254', 'vrrp-2', 'vrrp-1')],
    ],
  },
  hsrp: {
    why: 'a shared address that neither router lists moves between them',
    boxes: [
      box('hsrp-1', isr4331, { 'Gi0/0/0': [net(5, 1), net(5, 254, 'unlisted')] }),
      box('hsrp-2', isr4331, { 'Gi0/0/0': net(5, 2) }),
    ],
    adjust: virtualMac(['hsrp-1', 'hsrp-2'], '00:00:0c:07:ac:0a'),
    steps: [
      [move('hsrp: the second router takes over', '127.40.5.254', 'hsrp-1', 'hsrp-2', { listed: false })],
      [move('hsrp: the first router is back', '127.40.5.254', 'hsrp-2', 'hsrp-1', { listed: false })],
    ],
  },
  carp: {
    why: 'two hosts without serial number or engine id share an address and its hardware address',
    boxes: [
      box('carp-1', without(debian12, 'engine-id'), { eno1: [net(6, 1), net(6, 254)] }),
      box('carp-2', without(debian12, 'engine-id'), { eno1: net(6, 2) }),
    ],
    adjust: virtualMac(['carp-1', 'carp-2'], '00:00:5e:00:01:1f'),
    steps: [[move('carp: the second host takes over', '127.40.6.254', 'carp-1', 'carp-2')]],
  },
  stack: {
    why: 'the stack row repeats the serial number of the master; later another member is master',
    boxes: [
      {
        ...box('stack', catalyst9300, { Vl10: net(7, 1), Vl20: net(7, 2) }, { serial: 'FCW2233L0AA' }),
        members: 3,
      },
    ],
    adjust: (device) => {
      if (device.name === 'stack') stackSerial(device, 1);
    },
    steps: [
      [
        {
          name: 'stack: member 2 becomes master',
          apply: (site) => site.change('stack', (d) => stackSerial(d, 2)),
        },
      ],
    ],
  },
  clones: {
    why: 'machines cloned with their engine id, of which two even kept the name; all have the same container bridge',
    boxes: [
      box('clone-1', ubuntu2204, cloneAddresses(1), { engineId: engineOf('golden') }),
      box('clone-2', ubuntu2204, cloneAddresses(2), { engineId: engineOf('golden') }),
      box('clone-3', ubuntu2204, cloneAddresses(3), { engineId: engineOf('image'), sysName: 'ubuntu' }),
      box('clone-4', ubuntu2204, cloneAddresses(4), { engineId: engineOf('image'), sysName: 'ubuntu' }),
    ],
  },
  'two-sites': {
    why: 'the same addresses in another site are other boxes, whatever they report',
    boxes: [
      box('shared-1', aruba6300, { 'vlan 1': net(9, 1) }),
      box('shared-2', debian12, { eno1: net(9, 2) }),
      box('shared-3', isr4331, { 'Gi0/0/0': [net(9, 3), net(9, 4)] }),
    ],
  },
  dhcp: {
    why: 'an address passes from one phone to another',
    boxes: [box('dhcp-1', snomD785, { eth0: net(10, 11) }), box('dhcp-2', snomD785, { eth0: net(10, 12) })],
    steps: [
      [
        renumber('dhcp: the first phone gets a new address', 'dhcp-1', '127.40.10.13'),
        renumber('dhcp: the second phone gets the first one’s', 'dhcp-2', '127.40.10.11'),
      ],
      [
        renumber('dhcp: the second phone moves on', 'dhcp-2', '127.40.10.14'),
        renumber('dhcp: the first phone gets its first address back', 'dhcp-1', '127.40.10.11'),
      ],
    ],
  },
  renumbered: {
    why: 'a switch and a server move to new addresses',
    boxes: [
      box('renumbered-1', procurve2530, { DEFAULT_VLAN: net(11, 5) }),
      box('renumbered-2', without(debian12, 'engine-id'), { eno1: net(11, 6) }),
    ],
    steps: [
      [
        renumber('renumbered: the switch moves', 'renumbered-1', '127.40.11.21'),
        renumber('renumbered: the server moves', 'renumbered-2', '127.40.11.22'),
      ],
    ],
  },
  overlap: {
    why: 'boxes whose addresses fall to two scans at once',
    boxes: [1, 2, 3, 4].map((n) =>
      box(`overlap-${n}`, isr4331, {
        'Gi0/0/0': net(12, n),
        'Gi0/0/1': net(12, 64 + n),
        'Gi0/0/2': [net(12, 128 + n), net(12, 192 + n)],
      }),
    ),
  },
  fleet: {
    why: 'twelve switches as they left the factory: one name, placeholders for serial numbers, one engine id',
    boxes: Array.from({ length: 12 }, (_, i) =>
      box(
        `fleet-${i + 1}`,
        { ...dgs3420, features: [...dgs3420.features, 'engine-id'] },
        { System: net(13, i + 1) },
        {
          sysName: 'D-Link',
          serial: i % 2 ? '0123456789' : 'N/A',
          engineId: '80000000000000000000000000',
          objects: {},
        },
      ),
    ),
  },
};

/** The other site: boxes of the case `two-sites`, one of them the twin of a box in the first site. */
export const southBoxes: Box[] = [
  box('shared-1', aruba6300, { 'vlan 1': net(9, 1) }),
  box('south-2', ubuntu2204, { ens160: net(9, 2) }),
  box('south-3', ccr2004, { ether1: net(9, 3) }),
  box('south-4', snomD785, { eth0: net(9, 4) }),
];

/** Each holds some addresses of every box of the case `overlap`, and both hold the middle ones. */
export const overlapping: [string, string] = [scanOf((host) => host < 192), scanOf((host) => host > 64)];

function scanOf(wanted: (host: number) => boolean): string {
  const hosts = [0, 64, 128, 192].flatMap((first) => [1, 2, 3, 4].map((n) => first + n));
  return coverOf(hosts.filter(wanted).map((host) => `127.40.12.${host}`));
}

function cloneAddresses(n: number): Box['addresses'] {
  return { lo: '127.0.0.1/8', ens160: net(8, n), docker0: '172.17.0.1/16' };
}

/** The stack row shows the serial number of the given member, which is listed first. */
function stackSerial(device: Device, member: number): void {
  const chassis = device.entities.filter((e) => e.class === 3);
  const serial = chassis[member - 1]?.serial ?? '';
  for (const entity of device.entities) if (entity.class === 11) entity.serial = serial;
  device.serial = serial;
}
