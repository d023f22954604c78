/**
 * A campus network out of a seed, and what its forwarding tables say: a core and distribution layer of MLAG pairs, access
 * switches on them by aggregates or by one cable, some behind others, hypervisors that bridge, and stations in every way in
 * which they hang on ports. What is true is known, so that what is said of it can be judged.
 */
import { randomOf } from './outages/network.ts';

/** A port of a bridge. */
export interface At {
  bridge: string;
  port: number;
}
export interface Learnt extends At {
  mac: string;
  vlan: number;
  /** Of which reading: 1 before stations moved, 2 after; until: when it was first missing. */
  since: 1 | 2;
  until: 2 | null;
}
export interface Bridge {
  name: string;
  mac: string;
  class: 'switch' | 'hypervisor';
}
export interface Cable {
  a: At;
  b: At;
}
export interface Station {
  mac: string;
  kind: string;
  /** Where it enters: one port, or those of a pair. Before and after it moved. */
  was: At[];
  is: At[];
}

export interface Fabric {
  bridges: Bridge[];
  /** As LLDP tells them: by the members of aggregates. */
  cables: Cable[];
  stations: Station[];
  learnt: Learnt[];
}

interface Node extends Bridge {
  /** One, or the two of a pair; empty at the top. */
  parents: Node[];
  /** Its port towards them: an aggregate, or the one cable. */
  uplink: number;
  peer: Node | null;
  children: Map<Node, number>;
  nextPort: number;
  /** It is in no inventory: nobody reads it. */
  unread: boolean;
}

const PEER_LINK = 1100;
const UPLINK = 1000;
const GATEWAY_VLAN = 10;

export function fabricOf({
  seed,
  stations: wanted,
  moves,
}: {
  seed: number;
  stations: number;
  moves: number;
}) {
  return new Builder(seed).build(wanted, moves);
}

class Builder {
  readonly #random: () => number;
  readonly #nodes: Node[] = [];
  readonly #cables: Cable[] = [];
  readonly #stations: Station[] = [];
  readonly #learnt: Learnt[] = [];
  #macs = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  build(wanted: number, moves: number): Fabric {
    const core = this.#pair('core', []);
    const pairs = [1, 2, 3, 4].map((n) => this.#pair(`dist-${n}`, core));
    const access = this.#access(pairs, 50);
    const hypervisors = Array.from({ length: 6 }, (_, i) => {
      const on = this.#any(access.filter(({ unread }) => !unread));
      return this.#node(`esxi-${i + 1}`, [on], 'hypervisor');
    });
    const movable = this.#populate({ access, pairs, hypervisors }, wanted);
    for (const node of this.#nodes) this.#seen(node.mac, node, null, 1, 0.6);
    for (let moved = 0; moved < Math.min(moves, movable.length); )
      if (this.#move(movable, access)) moved += 1;
    const read = this.#nodes.filter(({ unread }) => !unread);
    return {
      bridges: read.map(({ name, mac, class: kind }) => ({ name, mac, class: kind })),
      cables: this.#cables,
      stations: this.#stations,
      learnt: this.#learnt.filter(({ bridge }) => read.some(({ name }) => name === bridge)),
    };
  }

  #any<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  #mac(): string {
    this.#macs += 1;
    const digits = (0x001b54000000 + this.#macs).toString(16).padStart(12, '0');
    return digits.replace(/(..)(?=.)/g, '$1:');
  }

  /** `aggregated`: the tables know the aggregate, LLDP its members. */
  #node(
    name: string,
    parents: Node[],
    kind: Bridge['class'] = 'switch',
    aggregated = parents.length > 1,
  ): Node {
    const node: Node = {
      ...{ name, mac: this.#mac(), class: kind, parents, peer: null, unread: false },
      ...{ uplink: aggregated ? UPLINK : 49, children: new Map(), nextPort: 1 },
    };
    this.#nodes.push(node);
    for (const [i, parent] of parents.entries()) {
      const port = parent.nextPort;
      parent.nextPort += 1;
      parent.children.set(node, aggregated ? UPLINK + port : port);
      // A hypervisor tells nobody that it is one.
      if (kind === 'switch')
        this.#cables.push({ a: { bridge: name, port: 49 + i }, b: { bridge: parent.name, port } });
    }
    return node;
  }

  #pair(name: string, parents: Node[]): Node[] {
    const pair = ['a', 'b'].map((side) => this.#node(`${name}${side}`, parents));
    const [a, b] = pair as [Node, Node];
    [a.peer, b.peer] = [b, a];
    this.#cables.push({ a: { bridge: a.name, port: 47 }, b: { bridge: b.name, port: 47 } });
    return pair;
  }

  /** Most on a pair, some on one switch by one cable, some behind another, of which one is read by nobody. */
  #access(pairs: readonly Node[][], count: number): Node[] {
    const access: Node[] = [];
    for (let i = 0; i < count; i += 1) {
      const pair = this.#any(pairs);
      const way = i < 10 ? 'pair' : this.#any(['pair', 'pair', 'pair', 'one', 'behind']);
      const parents =
        way === 'pair' ? pair : way === 'one' ? [this.#any(pair)] : [this.#any(access.slice(0, 10))];
      const node = this.#node(`access-${i + 1}`, parents);
      access.push(node);
      node.unread = i === count - 1;
    }
    return access;
  }

  #populate(
    { access, pairs, hypervisors }: { access: Node[]; pairs: Node[][]; hypervisors: Node[] },
    wanted: number,
  ): Station[] {
    const movable: Station[] = [];
    while (this.#stations.length < wanted) {
      const kind = this.#random();
      const on = this.#any(access);
      if (kind < 0.55) movable.push(this.#add('computer', on, this.#port(on)));
      else if (kind < 0.75) {
        const port = this.#port(on);
        const phone = this.#add('telephone', on, port, 200);
        // It speaks in the VLAN of the computer behind it before it knows its own.
        this.#seen(phone.mac, on, port, 1, 0.1);
        this.#add('computer behind a telephone', on, port);
      } else if (kind < 0.85) {
        const port = this.#port(on);
        for (let n = 0; n < 6; n += 1) this.#add('behind an unmanaged switch', on, port);
      } else if (kind < 0.92) {
        const host = this.#any(hypervisors);
        this.#add('virtual machine', host, this.#port(host) + 10);
      } else this.#onPair(this.#any(pairs));
    }
    return movable;
  }

  #port(node: Node): number {
    node.nextPort += 1;
    return node.nextPort - 1 + 100;
  }

  #add(kind: string, on: Node, port: number, vlan = GATEWAY_VLAN): Station {
    const is = [this.#entry(on, port)];
    const station: Station = { mac: this.#mac(), kind, was: is, is };
    this.#stations.push(station);
    // A few are silent: the switch that they hang on has forgotten them, others have not yet.
    const silent = this.#random() < 0.003;
    this.#seen(station.mac, on, silent ? null : port, 1, 0.1, vlan);
    return station;
  }

  /** Of a switch that nobody reads, the port towards it is where its stations enter. */
  #entry(on: Node, port: number): At {
    const [parent] = on.parents;
    return on.unread && parent
      ? { bridge: parent.name, port: parent.children.get(on) as number }
      : { bridge: on.name, port };
  }

  /** A server with one cable to each of a pair. */
  #onPair(pair: readonly Node[]): void {
    const mac = this.#mac();
    const is = pair.map((node) => ({ bridge: node.name, port: 2000 + this.#macs }));
    this.#stations.push({ mac, kind: 'server on a pair', was: is, is });
    const [first] = pair as [Node];
    this.#seen(mac, first, 2000 + this.#macs, 1, 0.1);
    const [, second] = is as [At, At];
    // The pair keeps one table: not over the link between them.
    for (const each of this.#learnt)
      if (each.mac === mac && each.bridge === second.bridge) each.port = second.port;
  }

  /** Every bridge on the way learns an address; of the others those that it was flooded to lately. */
  #seen(
    mac: string,
    on: Node,
    port: number | null,
    since: 1 | 2,
    flooded: number,
    vlan = GATEWAY_VLAN,
  ): void {
    const way = new Set(this.#above(on));
    for (const node of this.#nodes) {
      if (node !== on && !way.has(node) && node.peer !== on && this.#random() >= flooded) continue;
      const towards = node === on ? port : this.#towards(node, on);
      if (towards !== null)
        this.#learnt.push({ mac, vlan, bridge: node.name, port: towards, since, until: null });
    }
  }

  #above(node: Node): Node[] {
    return node.parents.flatMap((parent) => [
      parent,
      ...(parent.peer ? [parent.peer] : []),
      ...this.#above(parent),
    ]);
  }

  #towards(node: Node, to: Node): number {
    for (const [child, port] of node.children)
      if (child === to || this.#above(to).includes(child)) return port;
    const behindPeer = node.peer && (node.peer === to || this.#above(to).includes(node.peer));
    // The tops of the network have no other way.
    return behindPeer || node.parents.length === 0 ? PEER_LINK : node.uplink;
  }

  /** Some leave their old port in its table for a while. @returns false: it has moved already */
  #move(movable: readonly Station[], access: readonly Node[]): boolean {
    const station = this.#any(movable);
    if (station.was !== station.is) return false;
    const to = this.#any(access.filter(({ unread }) => !unread));
    const [old] = station.was as [At];
    const remembers = this.#random() < 0.3;
    for (const each of this.#learnt)
      if (each.mac === station.mac && !(remembers && each.bridge === old.bridge && each.port === old.port))
        each.until = 2;
    const port = this.#port(to);
    station.is = [{ bridge: to.name, port }];
    this.#seen(station.mac, to, port, 2, 0.1);
    return true;
  }
}
