/** Cables between boxes, and all that follows from them: neighbours, forwarding tables, ARP tables. */
import { type Device, type Port, portNamed } from './device.ts';
import { toNumber } from './targets.ts';

/** One cable, each end as `box:port`. */
export interface Link {
  a: string;
  b: string;
  /** An unmanaged switch stands between the ends: frames pass, LLDP and CDP do not. */
  unmanaged?: boolean;
}

/** What is plugged in at a port and answers nobody: bridges learn it, routers may know its address. */
export interface Station {
  /** `box:port`; several on one port stand behind an unmanaged switch, a telephone or an access point. */
  at: string;
  mac: string;
  address?: string;
  /** What it calls itself by DHCP. */
  name?: string;
}

interface End {
  device: Device;
  port: Port;
}

interface Cable {
  a: End;
  b: End;
  unmanaged: boolean;
}

/** Plugs cables in: both ends come up, name each other, and carry the VLAN of what is behind them. */
export function plug(devices: Device[], links: Link[], vlanOf: (address: string) => number): void {
  for (const { a, b } of cablesOf(devices, links)) {
    plugEnd(a, b, vlanOf);
    plugEnd(b, a, vlanOf);
  }
}

/**
 * Writes into every device what it learns over the cables whose ends are up: neighbours, forwarding and ARP tables.
 * What it had learnt before is removed. `vlanOf` gives the VLAN of an address's network.
 */
export function learn(
  devices: Device[],
  { links, stations = [] }: { links: Link[]; stations?: Station[] },
  vlanOf: (address: string) => number,
): void {
  const cables = cablesOf(devices, links).filter((c) => c.a.port.oper === 'up' && c.b.port.oper === 'up');
  for (const device of devices) Object.assign(device, { neighbours: [], arp: [], fdb: [], bindings: [] });
  for (const cable of cables) {
    if (cable.unmanaged) continue;
    hear(cable.a, cable.b);
    hear(cable.b, cable.a);
  }
  const tree = spanningTree(devices.filter(isBridge), cables);
  forward(devices, { cables, tree }, vlanOf);
  for (const device of devices) resolve(device, devices);
  for (const station of stations) know(devices, { station, tree }, vlanOf);
}

function cablesOf(devices: Device[], links: Link[]): Cable[] {
  const byName = new Map(devices.map((d) => [d.name, d]));
  return links.map((link) => ({
    a: endOf(byName, link.a),
    b: endOf(byName, link.b),
    unmanaged: link.unmanaged ?? false,
  }));
}

function endOf(devices: Map<string, Device>, end: string): End {
  const at = end.indexOf(':');
  const device = devices.get(end.slice(0, at));
  if (!device) throw new Error(`no box for the cable end ${end}`);
  return { device, port: portNamed(device, end.slice(at + 1)) };
}

const isBridge = (device: Device): boolean => device.features.includes('bridge');

/** Stations are plugged in like boxes: their ports come up in the VLAN of their addresses. */
export function plugStations(
  devices: Device[],
  stations: readonly Station[],
  vlanOf: (address: string) => number,
): void {
  const byName = new Map(devices.map((d) => [d.name, d]));
  for (const { at, address } of stations) {
    const { port } = endOf(byName, at);
    if (port.peer) continue;
    if (port.admin === 'up') port.oper = 'up';
    if (address !== undefined) port.vlan = vlanOf(address);
  }
}

function plugEnd(own: End, other: End, vlanOf: (address: string) => number): void {
  if (own.port.admin === 'up' && other.port.admin === 'up') own.port.oper = 'up';
  own.port.peer = { device: other.device.name, port: other.port };
  own.port.alias = `${other.device.name} ${other.port.name}`;
  own.port.trunk = isBridge(own.device) && isBridge(other.device);
  if (isBridge(own.device) && !own.port.trunk)
    own.port.vlan = vlanOf(other.device.addresses[0]?.address ?? '');
}

const LISTENS = { lldp: ['lldp', 'lldp-v2'], cdp: ['cdp'] } as const;
const SPEAKS = { lldp: ['lldp', 'lldp-v2', 'lldp-sender'], cdp: ['cdp'] } as const;

function hear(own: End, other: End): void {
  for (const protocol of ['lldp', 'cdp'] as const) {
    const listens = LISTENS[protocol].some((f) => own.device.features.includes(f));
    const speaks = SPEAKS[protocol].some((f) => other.device.features.includes(f));
    if (!listens || !speaks) continue;
    own.device.neighbours.push({
      protocol,
      ifIndex: own.port.ifIndex,
      remote: other.device,
      remotePort: other.port,
    });
  }
}

/** Every bridge learns every station on the port that leads to it over the spanning tree. */
function forward(
  devices: Device[],
  { cables, tree }: { cables: Cable[]; tree: Tree },
  vlanOf: (address: string) => number,
): void {
  const learn = (at: Device, toward: Device | null, own: Port | null, mac: string, vlan: number) => {
    const port = own ?? (toward && tree.portToward(at, toward));
    if (port) at.fdb.push({ mac, ifIndex: port.lag ?? port.ifIndex, vlan });
  };
  for (const bridge of devices.filter(isBridge)) {
    const vlan = vlanOf(bridge.addresses[0]?.address ?? '');
    for (const other of devices.filter(isBridge)) {
      if (other !== bridge) learn(bridge, other, null, managementMac(other), vlan);
    }
  }
  for (const { a, b } of cables) {
    for (const [station, access] of [[a, b] as const, [b, a] as const]) {
      if (isBridge(station.device) || !isBridge(access.device)) continue;
      const vlan = vlanOf(station.device.addresses[0]?.address ?? '');
      const mac = station.port.mac || station.device.mac;
      learn(access.device, null, access.port, mac, vlan);
      for (const bridge of devices.filter(isBridge)) {
        if (bridge !== access.device) learn(bridge, access.device, null, mac, vlan);
      }
    }
  }
}

/** The hardware address behind a box's first address: what its own frames come from. */
export function managementMac(device: Device): string {
  const first =
    device.addresses.find((a) => a.reachable !== false && a.listed !== false) ?? device.addresses[0];
  return device.ports.find((p) => p.ifIndex === first?.ifIndex)?.mac || device.mac;
}

/** Breadth first from the first bridge of each part; later cables to a bridge already reached are blocked. */
function spanningTree(bridges: Device[], cables: Cable[]) {
  const neighbours = new Map<Device, { port: Port; to: Device }[]>(bridges.map((b) => [b, []]));
  const reached = new Set<Device>();
  for (const root of bridges) {
    if (reached.has(root)) continue;
    reached.add(root);
    const queue = [root];
    for (let from = queue.shift(); from; from = queue.shift()) {
      for (const { own, other } of endsAt(from, cables)) {
        if (!isBridge(other.device) || reached.has(other.device)) continue;
        reached.add(other.device);
        neighbours.get(from)?.push({ port: own.port, to: other.device });
        neighbours.get(other.device)?.push({ port: other.port, to: from });
        queue.push(other.device);
      }
    }
  }
  const routes = new Map(bridges.map((b) => [b, routesOf(b, neighbours)]));
  return { portToward: (at: Device, to: Device): Port | null => routes.get(at)?.get(to) ?? null };
}

type Tree = ReturnType<typeof spanningTree>;

const endsAt = (device: Device, cables: Cable[]): { own: End; other: End }[] =>
  cables.flatMap(({ a, b }) => {
    if (a.device === device) return [{ own: a, other: b }];
    return b.device === device ? [{ own: b, other: a }] : [];
  });

/** For each other bridge the own port that leads there. */
function routesOf(from: Device, neighbours: Map<Device, { port: Port; to: Device }[]>): Map<Device, Port> {
  const routes = new Map<Device, Port>();
  for (const first of neighbours.get(from) ?? []) {
    const queue = [first.to];
    for (let at = queue.shift(); at; at = queue.shift()) {
      if (at === from || routes.has(at)) continue;
      routes.set(at, first.port);
      queue.push(...(neighbours.get(at) ?? []).map((n) => n.to));
    }
  }
  return routes;
}

/** Routers know everyone in their networks, other boxes the routers. */
function resolve(device: Device, devices: Device[]): void {
  if (!device.features.includes('arp')) return;
  const routes = (d: Device) => (d.sysServices & 4) !== 0;
  for (const own of device.addresses.filter((a) => !a.address.includes(':') && a.listed !== false)) {
    for (const other of devices) {
      if (other === device || !(routes(device) || routes(other))) continue;
      for (const { address, reachable, ifIndex } of other.addresses) {
        if (reachable === false || !inNetwork(address, own.address, own.prefixLength)) continue;
        const mac = other.ports.find((p) => p.ifIndex === ifIndex)?.mac || other.mac;
        device.arp.push({ ifIndex: own.ifIndex, address, mac });
      }
    }
  }
}

/** Every bridge learns a station at its port or towards it; routers in its network and its own switch, if it inspects DHCP, learn its address. */
function know(
  devices: Device[],
  { station: { at, mac, address, name = '' }, tree }: { station: Station; tree: Tree },
  vlanOf: (address: string) => number,
): void {
  const { device: access, port } = endOf(new Map(devices.map((d) => [d.name, d])), at);
  if (port.oper !== 'up') return;
  const vlan = address === undefined ? port.vlan : vlanOf(address);
  for (const bridge of devices.filter(isBridge)) {
    const own = bridge === access ? port : tree.portToward(bridge, access);
    if (own) bridge.fdb.push({ mac, ifIndex: own.lag ?? own.ifIndex, vlan });
  }
  if (address === undefined) return;
  if (access.features.includes('dhcp-snooping'))
    access.bindings.push({ mac, ifIndex: port.ifIndex, vlan, address, hostname: name });
  for (const router of devices.filter((d) => (d.sysServices & 4) !== 0 && d.features.includes('arp')))
    for (const own of router.addresses)
      if (
        !own.address.includes(':') &&
        own.listed !== false &&
        inNetwork(address, own.address, own.prefixLength)
      )
        router.arp.push({ ifIndex: own.ifIndex, address, mac });
}

/** IPv4 only; a host route (/32) has nobody in it. */
const inNetwork = (address: string, network: string, prefixLength: number): boolean => {
  const size = 2 ** (32 - prefixLength);
  return size > 1 && Math.floor(toNumber(address) / size) === Math.floor(toNumber(network) / size);
};
