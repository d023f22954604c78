/**
 * Links out of forwarding tables, for what speaks neither LLDP nor CDP. Pure. A link is found only where the tables
 * prove it: everything else that is seen on a port must lie behind the far end, and nothing may lie between. Silence
 * proves nothing, so an unmanaged switch or a half-aged table gives no link rather than a wrong one.
 */

/** What one bridge has learnt. */
export interface BridgeTable {
  deviceId: string;
  /** MAC numbers by ifIndex of the port where they were learnt. */
  ports: ReadonlyMap<number, readonly number[]>;
}

export interface ForwardingFacts {
  bridges: readonly BridgeTable[];
  /** MAC number → the device that has it; null for unknown MACs and for those of several devices. */
  owner: (mac: number) => string | null;
  /** Ports that LLDP or CDP speak for, or that may be made of such ports. */
  spokenFor: (deviceId: string, ifIndex: number) => boolean;
  /** Two devices that LLDP or CDP already link. */
  linked: (a: string, b: string) => boolean;
}

export interface ForwardingLink {
  deviceId: string;
  ifIndex: number;
  remoteId: string;
  /** Of a bridge: the port at its end. */
  remoteIfIndex: number | null;
  /** Of anything else: the MAC that was seen. */
  mac: number | null;
}

/** All links that the tables prove; those between bridges are found from both ends. */
export function forwardingLinks(facts: ForwardingFacts): ForwardingLink[] {
  const bridges = new Map(facts.bridges.map((table) => [table.deviceId, new Bridge(table, facts.owner)]));
  return [...betweenBridges(bridges, facts), ...toStations(bridges, facts)];
}

/** On several ports at once: VLANs on ways of their own, or a loop. Proves nothing. */
const SEVERAL = -1;
/** Witnesses per port that are asked where another bridge lies. */
const WITNESSES = 64;

class Bridge {
  readonly id: string;
  readonly ports: ReadonlyMap<number, readonly number[]>;
  readonly #portOfMac = new Map<number, number>();
  readonly #portOfDevice = new Map<string, number>();
  readonly #toward = new Map<Bridge, number | undefined>();
  readonly ownerOf: ForwardingFacts['owner'];

  constructor({ deviceId, ports }: BridgeTable, owner: ForwardingFacts['owner']) {
    this.id = deviceId;
    this.ownerOf = owner;
    this.ports = ports;
    const put = <Key>(map: Map<Key, number>, key: Key, port: number) => {
      const before = map.get(key);
      map.set(key, before === undefined || before === port ? port : SEVERAL);
    };
    for (const [port, macs] of ports) {
      for (const mac of macs) {
        put(this.#portOfMac, mac, port);
        const device = owner(mac);
        if (device !== null) put(this.#portOfDevice, device, port);
      }
    }
  }

  /** The one port where the MAC is seen; undefined where it is not seen, or on several. */
  portOf(mac: number): number | undefined {
    const port = this.#portOfMac.get(mac);
    return port === SEVERAL ? undefined : port;
  }
  /** The one port where any of the device's MACs is seen. */
  portOfDevice(deviceId: string): number | undefined {
    const port = this.#portOfDevice.get(deviceId);
    return port === SEVERAL ? undefined : port;
  }
  devices(): Iterable<string> {
    return this.#portOfDevice.keys();
  }

  /**
   * The port that leads to another bridge: where it is seen itself, else where things are seen that the other sees on
   * a port which does not lead here.
   */
  toward(other: Bridge): number | undefined {
    if (!this.#toward.has(other)) this.#toward.set(other, this.#findToward(other));
    return this.#toward.get(other);
  }
  #findToward(other: Bridge): number | undefined {
    const seen = this.portOfDevice(other.id);
    if (seen !== undefined) return seen;
    const back = other.portOfDevice(this.id);
    if (back === undefined) return undefined;
    let found: number | undefined;
    for (const [port, macs] of this.ports) {
      const witness = macs.slice(0, WITNESSES).some((mac) => {
        const at = other.portOf(mac);
        return at !== undefined && at !== back;
      });
      if (!witness) continue;
      if (found !== undefined) return undefined;
      found = port;
    }
    return found;
  }
}

type Bridges = ReadonlyMap<string, Bridge>;

function betweenBridges(bridges: Bridges, facts: ForwardingFacts): ForwardingLink[] {
  const links: ForwardingLink[] = [];
  const found = new Set<string>();
  for (const near of bridges.values()) {
    for (const [port, behind] of bridgesByPort(near, bridges)) {
      if (facts.spokenFor(near.id, port)) continue;
      for (const far of behind) {
        if (facts.linked(near.id, far.id)) continue;
        const remotePort = far.toward(near);
        if (remotePort === undefined) {
          // It shows nothing of this side; then only a port on which it is alone proves a cable.
          const macs = near.ports.get(port) ?? [];
          if (!aloneOn(near, port, far.id, facts) || macs.some((mac) => hasNearer(near, mac, bridges)))
            continue;
          links.push({
            deviceId: near.id,
            ifIndex: port,
            remoteId: far.id,
            remoteIfIndex: null,
            mac: null,
          });
          break;
        }
        if (facts.spokenFor(far.id, remotePort)) continue;
        const ends = [`${near.id} ${port}`, `${far.id} ${remotePort}`].sort().join(' ');
        if (found.has(ends) || !adjacent(near, port, far, remotePort, bridges)) continue;
        found.add(ends);
        links.push(
          { deviceId: near.id, ifIndex: port, remoteId: far.id, remoteIfIndex: remotePort, mac: null },
          { deviceId: far.id, ifIndex: remotePort, remoteId: near.id, remoteIfIndex: port, mac: null },
        );
        break;
      }
    }
  }
  return links;
}

function bridgesByPort(near: Bridge, bridges: Bridges): Map<number, Bridge[]> {
  const map = new Map<number, Bridge[]>();
  for (const id of near.devices()) {
    const far = bridges.get(id);
    const port = near.portOfDevice(id);
    if (far && far !== near && port !== undefined) map.set(port, [...(map.get(port) ?? []), far]);
  }
  return map;
}

const aloneOn = (bridge: Bridge, port: number, deviceId: string, facts: ForwardingFacts): boolean =>
  (bridge.ports.get(port) ?? []).every((mac) => facts.owner(mac) === deviceId);

/**
 * Nothing between two bridges: no MAC is seen by both on the cable's ports, most of what one sees there is seen beyond
 * the other, and no bridge lies between or beside.
 */
function adjacent(a: Bridge, portA: number, b: Bridge, portB: number, bridges: Bridges): boolean {
  if (!mostlyBeyond(a, portA, b, portB) || !mostlyBeyond(b, portB, a, portA)) return false;
  for (const other of bridges.values()) {
    if (other === a || other === b) continue;
    if (!beyond(a, portA, b, portB, other) || !beyond(b, portB, a, portA, other)) return false;
    const [toA, toB] = [other.portOfDevice(a.id), other.portOfDevice(b.id)];
    if (toA !== undefined && toB !== undefined && toA !== toB) return false;
  }
  return true;
}

/** Tables are read minutes apart, and entries age: that some of it is not seen beyond at this moment is usual. */
function mostlyBeyond(near: Bridge, port: number, far: Bridge, farPort: number): boolean {
  let proved = 0;
  let silent = 0;
  for (const mac of near.ports.get(port) ?? []) {
    if (near.ownerOf(mac) === far.id) continue;
    const at = far.portOf(mac);
    if (at === farPort) return false;
    if (at === undefined) silent += 1;
    else proved += 1;
  }
  return silent <= proved;
}

/** Where `near` sees `other` on the cable's port, `far` must see it on another than its own end of the cable. */
function beyond(near: Bridge, port: number, far: Bridge, farPort: number, other: Bridge): boolean {
  if (near.portOfDevice(other.id) !== port) return true;
  const at = far.toward(other);
  return at !== undefined && at !== farPort;
}

/** A station hangs on the port that sees nothing but it, when no other bridge is nearer. */
function toStations(bridges: Bridges, facts: ForwardingFacts): ForwardingLink[] {
  const candidates = new Map<number, { bridge: Bridge; port: number; device: string }[]>();
  for (const bridge of bridges.values()) {
    for (const [port, macs] of bridge.ports) {
      const [mac] = macs;
      const device = mac === undefined ? null : facts.owner(mac);
      if (mac === undefined || device === null || device === bridge.id || bridges.has(device)) continue;
      if (facts.spokenFor(bridge.id, port) || facts.linked(bridge.id, device)) continue;
      if (!aloneOn(bridge, port, device, facts)) continue;
      for (const each of macs)
        candidates.set(each, [...(candidates.get(each) ?? []), { bridge, port, device }]);
    }
  }
  const links: ForwardingLink[] = [];
  const found = new Set<string>();
  for (const [mac, places] of candidates) {
    const left = places.filter(({ bridge }) => !hasNearer(bridge, mac, bridges));
    const [place] = left;
    if (!place || left.length > 1) continue;
    const key = `${place.bridge.id} ${place.port} ${place.device}`;
    if (found.has(key)) continue;
    found.add(key);
    links.push({
      deviceId: place.bridge.id,
      ifIndex: place.port,
      remoteId: place.device,
      remoteIfIndex: null,
      mac,
    });
  }
  return links;
}

/** Another bridge that sees the station on one port and this bridge on another lies between them. */
function hasNearer(bridge: Bridge, mac: number, bridges: Bridges): boolean {
  for (const other of bridges.values()) {
    if (other === bridge) continue;
    const here = other.portOf(mac);
    if (here === undefined) continue;
    const back = other.toward(bridge);
    if (back !== undefined && back !== here) return true;
  }
  return false;
}
