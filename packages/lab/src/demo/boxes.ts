/** The boxes of the demonstration site: a head office with three branches. */
import type { Access } from '../device.ts';
import { asr1001x, c9800, catalyst2950, catalyst9300, catalyst9500, isr4331 } from '../devices/cisco.ts';
import { bigip4200, fortigate100f, pa820 } from '../devices/firewalls.ts';
import { ex3400, mx240, srx300 } from '../devices/juniper.ts';
import { apcPdu, apcSmartUps, eaton9px, masterSwitch } from '../devices/power.ts';
import { brotherHl6400, hpM528, jetdirect4250 } from '../devices/printers.ts';
import { debian12, esxi8, idrac9, opengearIm7200, ubuntu2204, windows2022 } from '../devices/servers.ts';
import { netappA250, synologyRs2421 } from '../devices/storage.ts';
import { aruba6300, ccr2004, dgs3420, procurve2530 } from '../devices/switches.ts';
import { akcpSensorProbe, axisP3245, snomD785, workstation } from '../devices/things.ts';
import { aruba7030, arubaAp515, unifiU6 } from '../devices/wireless.ts';
import type { Box, Product } from '../product.ts';
import { infrastructure, network, oldest, open, security } from './access.ts';

const vlans = { 10: 'management', 20: 'servers', 40: 'devices', 50: 'users' };
const at = (vlan: number, host: number, length = 24) => `127.20.${vlan}.${host}/${length}`;

const core = (n: 1 | 2): Box => ({
  name: `core-${n}`,
  product: catalyst9500,
  access: network,
  location: 'Head office, server room, rack A',
  vlans,
  lags: { Po1: ['Hu1/0/49', 'Hu1/0/50'] },
  addresses: {
    Lo0: at(0, n, 32),
    Vl10: [at(10, n + 1), `fd20:0:10::${n + 1}/64`],
    Vl20: at(20, n + 1),
    Vl40: at(40, n + 1),
    // The shared gateway of the users' VLAN (HSRP): answered by core-1, listed by neither.
    Vl50: n === 1 ? [at(50, 2), `${at(50, 1)} unlisted`] : at(50, 3),
  },
});

const routers: Box[] = [
  core(1),
  core(2),
  {
    name: 'edge-1',
    product: asr1001x,
    access: network,
    location: 'Head office, server room, rack A',
    // The line to the branch in the north is full.
    loads: { 'Gi0/0/1': { out: { full: 1e9 } } },
    addresses: {
      Lo0: at(0, 3, 32),
      'Te0/0/0': at(1, 1, 30),
      'Te0/0/1': ['203.0.113.2/30', '2001:db8:0:1::2/64'],
    },
  },
  {
    name: 'edge-2',
    product: mx240,
    access: network,
    location: 'Head office, server room, rack B',
    addresses: { 'lo0.0': at(0, 4, 32), 'xe-2/0/0': at(1, 5, 30), 'xe-2/0/1': '198.51.100.2/30' },
  },
  {
    name: 'fw-1',
    product: fortigate100f,
    access: security,
    location: 'Head office, server room, rack A',
    addresses: { mgmt: at(10, 9), x1: at(1, 9, 30), wan1: '203.0.113.10/29' },
  },
  {
    name: 'fw-2',
    product: pa820,
    access: security,
    location: 'Head office, server room, rack B',
    addresses: { mgmt: at(10, 10), 'ethernet1/1': at(1, 13, 30) },
  },
  {
    name: 'branch-1',
    product: isr4331,
    access: network,
    location: 'Branch north',
    addresses: {
      Lo0: at(0, 5, 32),
      'Gi0/0/0': at(1, 17, 30),
      'Gi0/0/1': at(61, 1),
      'Gi0/0/2': '192.168.61.1/24',
    },
  },
  {
    name: 'branch-2',
    product: ccr2004,
    access: infrastructure,
    location: 'Branch west',
    addresses: { lo: at(0, 6, 32), ether1: at(1, 21, 30), 'sfp-sfpplus1': at(62, 1) },
  },
  {
    name: 'branch-3',
    product: srx300,
    access: security,
    location: 'Branch south',
    addresses: { 'lo0.0': at(0, 7, 32), 'ge-0/0/0': at(1, 25, 30), 'irb.63': at(63, 1) },
  },
];

const managed = (
  name: string,
  product: Product,
  port: string,
  host: number,
  more: Partial<Box> = {},
): Box => ({
  name,
  product,
  access: infrastructure,
  vlans,
  location: `Head office, floor ${1 + (host % 4)}`,
  addresses: { [port]: at(10, host) },
  ...more,
});

const switches: Box[] = [
  managed('dist-1', aruba6300, 'vlan10', 33, { access: network }),
  managed('dist-2', aruba6300, 'vlan10', 34, { access: network }),
  managed('access-1', catalyst9300, 'Vl10', 35, { members: 3 }),
  // A bad cable.
  managed('access-2', catalyst9300, 'Vl10', 36, {
    members: 2,
    // The power supply of its first member has failed.
    but: { unwell: { supply: true } },
    loads: { 'Gi1/0/3': { in: { errors: 0.004 } } },
  }),
  managed('access-3', catalyst9300, 'Vl10', 37),
  managed('access-4', procurve2530, 'DEFAULT_VLAN', 38),
  managed('access-5', procurve2530, 'DEFAULT_VLAN', 39),
  managed('access-6', procurve2530, 'DEFAULT_VLAN', 40),
  managed('access-7', ex3400, 'irb.10', 41),
  managed('access-8', ex3400, 'irb.10', 42),
  managed('access-9', ex3400, 'irb.10', 43),
  managed('access-10', dgs3420, 'System', 44, { access: open }),
  managed('access-11', dgs3420, 'System', 45, { access: open }),
  managed('access-12', catalyst2950, 'Vl1', 46, { access: oldest, vlans: { 10: 'management' } }),
];

export const wireless: Box[] = [
  managed('wlc-1', c9800, 'Vl10', 49),
  managed('wlc-2', aruba7030, 'vlan 10', 50),
  ...[1, 2, 3].map((n) => managed(`ap-${n}`, arubaAp515, 'bond0', 50 + n, { access: open })),
  ...[4, 5, 6, 7, 8].map((n) => managed(`ap-${n}`, unifiU6, 'br0', 50 + n, { access: open })),
];

export const boards: Box[] = [
  ...[1, 2, 3].map((n) => managed(`idrac-${n}`, idrac9, 'eth0', 58 + n, { access: open })),
  managed('console-1', opengearIm7200, 'eth0', 62, { access: open }),
];

const server = (name: string, product: Product, port: string, hosts: number[], access = open): Box => ({
  name,
  product,
  access,
  location: 'Head office, server room',
  addresses: { [port]: hosts.map((host) => at(20, host)) },
});

const linux = (name: string, hosts: number[], product = debian12): Box => {
  const box = server(name, product, product === debian12 ? 'eno1' : 'ens160', hosts);
  return { ...box, addresses: { lo: ['127.0.0.1/8', '::1/128'], ...box.addresses } };
};

export const servers: Box[] = [
  linux('web-1', [17, 45]),
  linux('web-2', [18]),
  // Its disk is full.
  { ...linux('db-1', [19, 46]), but: { unwell: { disk: '/var' } } },
  linux('mail-1', [20]),
  linux('dns-1', [21]),
  linux('monitor-1', [22]),
  linux('app-1', [23], ubuntu2204),
  linux('app-2', [24], ubuntu2204),
  server('dc-1', windows2022, 'ethernet_32769', [25]),
  server('dc-2', windows2022, 'ethernet_32769', [26]),
  server('files-1', windows2022, 'ethernet_32769', [27]),
  server('print-1', windows2022, 'ethernet_32769', [28]),
  server('nas-1', synologyRs2421, 'eth0', [29]),
  server('nas-2', synologyRs2421, 'eth0', [30]),
  ...[1, 2, 3].map(
    (n): Box => ({
      ...server(`esxi-${n}`, esxi8, 'vmk0', [32 + n], infrastructure),
      addresses: { vmk0: at(20, 32 + n), vmk1: at(20, 35 + n) },
    }),
  ),
  {
    ...server('filer-1', netappA250, 'node-01:e0M', [], infrastructure),
    addresses: { 'node-01:e0M': at(20, 39), 'node-01:e1a': at(20, 40), 'node-02:e0M': at(20, 41) },
  },
  {
    ...server('lb-1', bigip4200, 'mgmt', [], infrastructure),
    addresses: { mgmt: at(20, 42), '1.1': [at(20, 43), at(20, 44)] },
  },
];

const thing = (
  name: string,
  product: Product,
  port: string,
  host: number,
  access: Access | null = open,
): Box => ({
  name,
  product,
  access,
  location: `Head office, floor ${1 + (host % 4)}`,
  addresses: { [port]: at(40, host) },
});

export const things: Box[] = [
  thing('printer-1', hpM528, 'eth0', 17),
  thing('printer-2', hpM528, 'eth0', 18),
  thing('printer-3', brotherHl6400, 'Ethernet', 19),
  thing('printer-4', jetdirect4250, 'eth0', 20, oldest),
  ...[1, 2, 3, 4].map((n) => thing(`camera-${n}`, axisP3245, 'eth0', 20 + n)),
  ...[1, 2, 3, 4].map((n) => thing(`phone-${n}`, snomD785, 'eth0', 24 + n)),
  ...[1, 2].map((n) => thing(`sensor-${n}`, akcpSensorProbe, 'eth0', 28 + n, oldest)),
  thing('ups-1', apcSmartUps, 'veda', 33),
  thing('ups-2', apcSmartUps, 'veda', 34),
  thing('ups-3', eaton9px, 'eth0', 35),
  thing('pdu-1', apcPdu, 'veda', 36),
  thing('pdu-2', apcPdu, 'veda', 37),
  thing('pdu-3', masterSwitch, 'veda', 38, oldest),
];

export const workstations: Box[] = Array.from({ length: 14 }, (_, i) => ({
  name: `ws-${i + 1}`,
  product: workstation,
  access: null,
  addresses: { eth0: at(50, 17 + i) },
}));

export const boxes: Box[] = [
  ...routers,
  ...switches,
  ...wireless,
  ...boards,
  ...servers,
  ...things,
  ...workstations,
];
