/** The ports of a box: runs of like ones, those made for an address, aggregates. */
import type { Port } from './device.ts';
import { chance, macPlus } from './seed.ts';

/**
 * A run of like ports. In names `{n}` is the port number and `{m}` the stack member; a group that has `{m}` is
 * repeated for each member.
 */
export interface PortGroup {
  name: string;
  /** ifDescr; the name when absent. */
  descr?: string;
  count: number;
  /** Number of the first port, 1 by default. */
  from?: number;
  /** ifIndex of the first port; the next free one by default. */
  ifIndex?: number;
  mbps: number;
  /** IANA ifType, 6 (ethernetCsmacd) by default. */
  type?: number;
  mtu?: number;
  /** Whether the ports bridge; by default those of a product with the feature `bridge`, if Ethernet. */
  bridge?: boolean;
  /** False: no hardware address (loopbacks, tunnels). */
  mac?: boolean;
}

/** What makes the ports of one box differ from those of another of its product. */
export interface PortSettings {
  /** The box's name: decides which ports nobody is plugged into. */
  name: string;
  mac: string;
  members: number;
  bridges: boolean;
  /** Names of ports that are made where the groups have none. */
  extra: string[];
  lags: Record<string, string[]>;
}

/** The rows of ifTable, in order. */
export function makePorts(groups: PortGroup[], settings: PortSettings): Port[] {
  const { mac, bridges } = settings;
  const ports: Port[] = [];
  let nextIndex = 1;
  let nextBridgePort = 1;
  // A bridge has an address of its own before those of its ports; other boxes are known by their first port.
  let nextMac = bridges ? 1 : 0;
  const add = (group: PortGroup, n: number, member: number) => {
    const fill = (text: string) => text.replaceAll('{n}', String(n)).replaceAll('{m}', String(member));
    const type = group.type ?? 6;
    const port: Port = {
      ifIndex: nextIndex++,
      name: fill(group.name),
      descr: fill(group.descr ?? group.name),
      alias: '',
      type,
      speed: group.mbps * 1_000_000,
      mtu: group.mtu ?? 1500,
      mac: group.mac === false ? '' : macPlus(mac, nextMac++),
      admin: 'up',
      oper: 'up',
      vlan: 1,
      trunk: false,
    };
    if (group.bridge ?? (bridges && type === 6)) {
      port.bridgePort = nextBridgePort++;
      if (chance(`${settings.name} ${port.name}`, 0.45)) port.oper = 'down';
    }
    ports.push(port);
  };
  for (let member = 1; member <= settings.members; member++) {
    for (const group of groups) {
      if (member > 1 && !group.name.includes('{m}')) continue;
      if (group.ifIndex !== undefined && member === 1) nextIndex = group.ifIndex;
      for (let i = 0; i < group.count; i++) add(group, (group.from ?? 1) + i, member);
    }
  }
  for (const name of [...settings.extra, ...Object.keys(settings.lags)]) {
    if (!ports.some((p) => p.name === name)) add(virtualPort(name), 0, 1);
  }
  for (const [name, members] of Object.entries(settings.lags)) aggregate(ports, name, members);
  return ports;
}

/** The aggregate bridges in place of its members. */
function aggregate(ports: Port[], name: string, members: string[]): void {
  const lag = ports.find((p) => p.name === name);
  if (!lag) return;
  for (const member of ports.filter((p) => members.includes(p.name))) {
    member.lag = lag.ifIndex;
    if (lag.bridgePort === undefined && member.bridgePort !== undefined) lag.bridgePort = member.bridgePort;
    delete member.bridgePort;
    lag.speed = member.speed * members.length;
  }
}

const LONG_NAMES: Record<string, string> = { Vl: 'Vlan', Lo: 'Loopback', Po: 'Port-channel', Tu: 'Tunnel' };

/** What a port is, going by its name, when the product does not list it. */
function virtualPort(name: string): PortGroup {
  const descr = name.replace(/^(Vl|Lo|Po|Tu)(?=\d)/, (short) => LONG_NAMES[short] ?? short);
  const group = { name, descr, count: 1, bridge: false };
  if (/^lo/i.test(descr)) return { ...group, mbps: 8000, type: 24, mtu: 1514, mac: false };
  if (/^(tun|wg)/i.test(descr)) return { ...group, mbps: 0, type: 131, mtu: 1476, mac: false };
  if (/^(port-channel|ae|trk|lag|bond)/i.test(descr)) return { ...group, mbps: 2000, type: 161 };
  if (/^(vlan|irb|default_vlan)/i.test(descr)) return { ...group, mbps: 1000, type: 136 };
  return { ...group, mbps: 1000 };
}
