/**
 * The topology fixture: 70 boxes whose links can be known by LLDP (both MIB versions), by CDP, or only from forwarding
 * tables, with the traps of each: aggregates, one-sided neighbours, an unmanaged switch, a blocked spare link, hosts
 * that only a VLAN's own forwarding table shows.
 */
import type { Access, Device, Feature } from '../device.ts';
import { catalyst2950, catalyst9300, isr4331 } from '../devices/cisco.ts';
import { ex3400 } from '../devices/juniper.ts';
import { apcPdu } from '../devices/power.ts';
import { brotherHl6400 } from '../devices/printers.ts';
import { debian12, windows2022 } from '../devices/servers.ts';
import { aruba6300, dgs3420, procurve2530 } from '../devices/switches.ts';
import { axisP3245, snomD785 } from '../devices/things.ts';
import { arubaAp515 } from '../devices/wireless.ts';
import type { Link } from '../network.ts';
import type { Box, Product } from '../product.ts';
import { makeSite, type Site } from '../site.ts';

/** A true link; ports by ifName. */
export interface TrueLink {
  a: { device: string; port: string };
  b: { device: string; port: string };
  /** What tells it: LLDP or CDP at one end at least, or nothing but forwarding tables. */
  by: 'lldp' | 'cdp' | 'fdb';
  /** Seen only in the forwarding table of one VLAN, which the agent shows as a context of its own. */
  inContext?: boolean;
}

export interface TopologyFixture {
  site: Site;
  links: TrueLink[];
}

const access: Access = { version: 'v2c', community: 'public' };
const at = (host: number, vlan = 0) => `127.50.${vlan}.${host}/24`;
const without = (product: Product, ...features: Feature[]): Product => ({
  ...product,
  features: product.features.filter((f) => !features.includes(f)),
});
const box = (name: string, product: Product, port: string, host: number, vlan = 0): Box => ({
  name,
  product,
  access,
  addresses: { [port]: at(host, vlan) },
});
const numbered = (count: number, make: (n: number) => Box): Box[] =>
  Array.from({ length: count }, (_, i) => make(i + 1));

const silentServer = without(debian12, 'lldp');
const fdbSwitch = without(dgs3420, 'lldp');
const cdpSwitch = { ...catalyst2950, features: [...catalyst2950.features, 'high-speed' as const] };

const boxes: Box[] = [
  { ...box('spine-1', aruba6300, 'vlan 1', 1), lags: { lag1: ['1/1/49', '1/1/50'] } },
  { ...box('spine-2', aruba6300, 'vlan 1', 2), lags: { lag1: ['1/1/49', '1/1/50'] } },
  box('gateway', isr4331, 'Gi0/0/0', 3),
  ...numbered(6, (n) => box(`leaf-${n}`, ex3400, 'irb.0', 10 + n)),
  ...numbered(4, (n) => box(`edge-${n}`, procurve2530, 'DEFAULT_VLAN', 20 + n)),
  { ...box('stack', catalyst9300, 'Vl1', 30), members: 2 },
  ...numbered(4, (n) => box(`old-${n}`, cdpSwitch, 'Vl1', 30 + n)),
  ...numbered(5, (n) => box(`plain-${n}`, fdbSwitch, 'System', 40 + n)),
  ...numbered(6, (n) => box(`ap-${n}`, arubaAp515, 'bond0', 50 + n)),
  ...numbered(4, (n) => box(`phone-${n}`, snomD785, 'eth0', 60 + n)),
  ...numbered(4, (n) => box(`camera-${n}`, axisP3245, 'eth0', 70 + n)),
  ...numbered(6, (n) => box(`lldpd-${n}`, debian12, 'eno1', 80 + n)),
  ...numbered(10, (n) => box(`server-${n}`, silentServer, 'eno1', 100 + n)),
  ...numbered(6, (n) => box(`windows-${n}`, windows2022, 'ethernet_32769', 120 + n)),
  ...numbered(4, (n) => box(`printer-${n}`, brotherHl6400, 'Ethernet', 130 + n)),
  ...numbered(3, (n) => box(`pdu-${n}`, apcPdu, 'veda', 140 + n)),
  ...numbered(3, (n) => box(`vlan-host-${n}`, silentServer, 'eno1', n, 20)),
  ...numbered(3, (n) => box(`shared-${n}`, silentServer, 'eno1', 150 + n)),
];

type Cable = [a: string, b: string, by: TrueLink['by']];

const run = (count: number, make: (n: number) => Cable): Cable[] =>
  Array.from({ length: count }, (_, i) => make(i + 1));

const cables: Cable[] = [
  // An aggregate: LLDP speaks on both members, the forwarding table knows the aggregate.
  ['spine-1:1/1/49', 'spine-2:1/1/49', 'lldp'],
  ['spine-1:1/1/50', 'spine-2:1/1/50', 'lldp'],
  ['spine-1:1/1/1', 'gateway:Gi0/0/0', 'lldp'],
  ['spine-2:1/1/1', 'gateway:Gi0/0/1', 'lldp'],
  ...run(6, (n) => [`spine-1:1/1/${10 + n}`, `leaf-${n}:xe-0/2/0`, 'lldp']),
  // Spare uplinks, blocked by spanning tree: LLDP passes, no address is learnt.
  ...run(3, (n) => [`spine-2:1/1/${10 + n}`, `leaf-${n}:xe-0/2/1`, 'lldp']),
  ...run(4, (n) => [`leaf-${n}:ge-0/0/47`, `edge-${n}:49`, 'lldp']),
  ['spine-2:1/1/20', 'stack:Te1/1/1', 'lldp'],
  // LLDP and CDP both: one link.
  ['stack:Gi1/0/48', 'gateway:Gi0/0/2', 'lldp'],
  ['stack:Gi1/0/47', 'old-1:Gi0/1', 'cdp'],
  ['stack:Gi2/0/47', 'old-2:Gi0/1', 'cdp'],
  ['old-1:Gi0/2', 'old-3:Gi0/1', 'cdp'],
  ['old-3:Gi0/2', 'old-4:Gi0/1', 'cdp'],
  // Switches that say nothing: a chain and a branch.
  ['leaf-5:ge-0/0/0', 'plain-1:1/21', 'fdb'],
  ['plain-1:1/22', 'plain-2:1/21', 'fdb'],
  ['plain-2:1/22', 'plain-3:1/21', 'fdb'],
  ['plain-1:1/23', 'plain-4:1/21', 'fdb'],
  ['old-4:Fa0/24', 'plain-5:1/21', 'fdb'],
  // One-sided: the switch hears them, they show nothing.
  ...run(4, (n) => [`edge-1:${n}`, `phone-${n}:eth0`, 'lldp']),
  ...run(4, (n) => [`edge-2:${n}`, `camera-${n}:eth0`, 'lldp']),
  ...run(6, (n) => [`stack:Gi1/0/${n}`, `ap-${n}:eth0`, 'lldp']),
  ...run(6, (n) => [`leaf-6:ge-0/0/${n}`, `lldpd-${n}:eno1`, 'lldp']),
  ...run(5, (n) => [`leaf-6:ge-0/0/${10 + n}`, `server-${n}:eno1`, 'fdb']),
  ...run(5, (n) => [`plain-3:1/${n}`, `server-${5 + n}:eno1`, 'fdb']),
  ...run(6, (n) => [`plain-2:1/${n}`, `windows-${n}:ethernet_32769`, 'fdb']),
  ...run(4, (n) => [`edge-3:${n}`, `printer-${n}:Ethernet`, 'fdb']),
  ...run(3, (n) => [`plain-5:1/${n}`, `pdu-${n}:veda`, 'fdb']),
  ...run(3, (n) => [`old-2:Fa0/${n}`, `vlan-host-${n}:eno1`, 'fdb']),
];

/** Three hosts on an unmanaged switch at one port: no link of theirs can be known, and none must be guessed. */
const shared: Link[] = [1, 2, 3].map((n) => ({ a: 'plain-4:1/1', b: `shared-${n}:eno1`, unmanaged: true }));

/** A fresh fixture: 70 boxes on 127.50.0.0/16 and the links among them. */
export function topologyFixture(): TopologyFixture {
  const site = makeSite({
    name: 'topology',
    boxes: boxes.map((b) => (b.product === cdpSwitch ? { ...b, vlans: { 20: 'hosts' } } : b)),
    links: [...cables.map(([a, b]) => ({ a, b })), ...shared],
    credentials: [{ name: 'public (v2c)', version: 'v2c', community: 'public' }],
    vlanOf: (address) => (address.startsWith('127.50.20.') ? 20 : 1),
  });
  return {
    site,
    links: cables.map(([a, b, by]) => ({
      a: endOf(site.devices, a),
      b: endOf(site.devices, b),
      by,
      ...(b.startsWith('vlan-host') ? { inContext: true } : {}),
    })),
  };
}

function endOf(devices: Device[], end: string): TrueLink['a'] {
  const at = end.indexOf(':');
  const device = devices.find((d) => d.name === end.slice(0, at));
  const port = device?.ports.find((p) => p.name === end.slice(at + 1));
  if (!device || !port) throw new Error(`no such cable end: ${end}`);
  return { device: device.name, port: port.name };
}
