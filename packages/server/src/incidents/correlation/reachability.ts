/** Which devices lie behind dead routers, by the networks that devices and collectors stand in. Pure. */
import { type Address, bitsOf, classifyAddress, type Family, parseAddress, Range } from '@rollcall/shared/ip';

/** An address of a device. */
export interface Place {
  address: string;
  prefixLength: number | null;
  /** False: others have it too (anycast, VRRP, the bridge of every container host), or it is a VRF's: it joins nothing. */
  own: boolean;
}

/** A device that joins networks. */
export interface Router {
  deviceId: string;
  places: readonly Place[];
  /** When it answered, at least, Unix milliseconds; null: it is not known to be up. */
  answeredAt: number | null;
}

/** A device that answers no more. */
export interface Lost {
  deviceId: string;
  /** Unix milliseconds. */
  since: number;
  /** Where it is watched. */
  address: string | null;
  places: readonly Place[];
}

export interface Topology {
  /** Addresses of collectors that watch the site, as `address/length`. */
  collectors: readonly string[];
  routers: readonly Router[];
  /** Addresses of watched devices that are up, and when they answered, at least. */
  answering: readonly { address: string; at: number }[];
}

/** Why a device cannot be reached: all known ways into its network begin with these, the nearest to a collector first. */
export interface CutOff {
  routers: readonly [string, ...string[]];
  network: string;
}

/** What routers say of devices that are down. Of those that are in neither nothing is known. */
export interface Reach {
  /** Device → the dead routers that cut it off. */
  cutOff: ReadonlyMap<string, CutOff>;
  /** Devices in a network that is reached. */
  reached: ReadonlySet<string>;
}

/**
 * A network is reached when a collector stands in it, a watched device in it answers, or a router that is not known to be
 * dead joins it to one that is reached. A network that no dead router joins to a reached one explains nothing.
 */
export function reachOf(lost: readonly Lost[], { collectors, routers, answering }: Topology): Reach {
  const networks = new Networks();
  const stands = collectors.flatMap((text) => {
    const [address = '', length] = text.split('/');
    return networks.add(address, Number(length)) ?? [];
  });
  const dead = new Map(lost.map((each) => [each.deviceId, each]));
  // A collector's host has its addresses by right, and stands in their networks anyway.
  const taken = new Set(collectors.map((text) => text.slice(0, text.indexOf('/'))));
  const isOwn = ({ own, address }: Place) => own && !taken.has(address);
  const legs = networks.join(routers, isOwn);
  const joints = new Map<string, string[]>();
  for (const [id, own] of legs)
    for (const network of own) {
      const ids = joints.get(network);
      if (ids) ids.push(id);
      else joints.set(network, [id]);
    }

  const distance = new Map<string, number>();
  const reach = (starts: readonly string[], from: number) => {
    const queue = starts.map((network) => ({ network, hops: from }));
    for (const { network, hops } of queue) {
      if (distance.has(network)) continue;
      distance.set(network, hops);
      for (const id of joints.get(network) ?? [])
        if (!dead.has(id))
          for (const next of legs.get(id) ?? []) queue.push({ network: next, hops: hops + 1 });
    }
  };
  const alive = routers.filter(({ deviceId }) => !dead.has(deviceId));
  // What answered before the last of the dead routers died proves nothing.
  const newest = Math.max(
    ...routers.map(({ deviceId }) => dead.get(deviceId)?.since ?? Number.NEGATIVE_INFINITY),
  );
  reach(stands, 0);
  // What answers is reached somehow; how far off that is, is not known. An address that is not its holder's own may be a
  // way in as well: where such a holder lives, nothing is claimed.
  reach(
    [
      ...answering.flatMap(({ address, at }) => (at >= newest ? (networks.of(address) ?? []) : [])),
      ...alive.flatMap(({ deviceId, answeredAt }) =>
        answeredAt !== null && answeredAt >= newest ? [...(legs.get(deviceId) ?? [])] : [],
      ),
      ...alive.flatMap(({ places }) =>
        places.flatMap((place) => (place.own ? [] : (networks.of(place.address) ?? []))),
      ),
    ],
    Number.POSITIVE_INFINITY,
  );

  const hops = (id: string) =>
    Math.min(...[...(legs.get(id) ?? [])].map((network) => distance.get(network) ?? Infinity));
  const touches = (id: string) => [...(legs.get(id) ?? [])].some((network) => distance.has(network));
  const gates = entrances(joints, legs, distance, touches);
  const nearestFirst = (ids: readonly string[]) =>
    ids
      .map((id) => ({ id, hops: hops(id), since: dead.get(id)?.since ?? 0 }))
      // Distances may both be infinite: their difference is no number then.
      .sort((a, b) => (a.hops === b.hops ? a.since - b.since || (a.id < b.id ? -1 : 1) : a.hops - b.hops))
      .map(({ id }) => id);
  const sorted = new Map([...new Set(gates.values())].map((ids) => [ids, nearestFirst([...ids])]));

  const cutOff = new Map<string, CutOff>();
  const reached = new Set<string>();
  for (const { deviceId, address, places } of lost) {
    const watched = address === null ? null : networks.of(address);
    // An address of no network (a loopback's) is reached by the others of its device.
    const loopback = places.some(
      (place) => place.address === address && place.prefixLength === (address.includes(':') ? 128 : 32),
    );
    if (watched === null && !loopback) continue;
    const others = places.flatMap((place) => (isOwn(place) ? (networks.of(place.address) ?? []) : []));
    const all = new Set([...(watched === null ? [] : [watched]), ...others, ...(legs.get(deviceId) ?? [])]);
    if ([...all].some((network) => distance.has(network))) {
      reached.add(deviceId);
      continue;
    }
    for (const network of watched === null ? all : [watched]) {
      const [first, ...rest] = sorted.get(gates.get(network) ?? NONE) ?? [];
      if (first === undefined) continue;
      cutOff.set(deviceId, { routers: [first, ...rest], network });
      break;
    }
  }
  return { cutOff, reached };
}

const NONE: ReadonlySet<string> = new Set();

/** Network that is not reached → the dead routers that stand between it and what is reached. */
function entrances(
  joints: ReadonlyMap<string, readonly string[]>,
  legs: ReadonlyMap<string, ReadonlySet<string>>,
  reached: ReadonlyMap<string, unknown>,
  touches: (router: string) => boolean,
): Map<string, ReadonlySet<string>> {
  const gates = new Map<string, ReadonlySet<string>>();
  for (const start of joints.keys()) {
    if (reached.has(start) || gates.has(start)) continue;
    const own = new Set<string>();
    gates.set(start, own);
    const part = [start];
    for (const network of part) {
      for (const id of joints.get(network) ?? []) {
        if (touches(id)) {
          own.add(id);
          continue;
        }
        for (const next of legs.get(id) ?? []) {
          if (gates.has(next)) continue;
          gates.set(next, own);
          part.push(next);
        }
      }
    }
  }
  return gates;
}

/** The networks that are known, as text, and which of them an address is in: that of the longest prefix. */
class Networks {
  readonly #known: Record<Family, Map<number, Map<bigint, string>>> = { 4: new Map(), 6: new Map() };
  /** Longest first. */
  readonly #lengths: Record<Family, number[]> = { 4: [], 6: [] };

  /** Null: no network of its own. */
  add(text: string, length: number): string | null {
    const parsed = parseAddress(text);
    if (!parsed.ok) return null;
    const { family, value } = parsed.value;
    if (!(length > 0 && length < bitsOf(family)) || !LEADS_SOMEWHERE.includes(classifyAddress(parsed.value)))
      return null;
    const spare = BigInt(bitsOf(family) - length);
    const first = (value >> spare) << spare;
    const network = new Range(family, first, first + (1n << spare) - 1n).toString();
    let known = this.#known[family].get(length);
    if (!known) {
      known = new Map();
      this.#known[family].set(length, known);
      this.#lengths[family] = [...this.#known[family].keys()].sort((a, b) => b - a);
    }
    known.set(value >> spare, network);
    return network;
  }

  /** Null: in none that is known. */
  of(text: string): string | null {
    const parsed = parseAddress(text);
    return parsed.ok ? this.#find(parsed.value) : null;
  }

  #find({ family, value }: Address): string | null {
    for (const length of this.#lengths[family]) {
      const network = this.#known[family].get(length)?.get(value >> BigInt(bitsOf(family) - length));
      if (network !== undefined) return network;
    }
    return null;
  }

  /** Router → the networks that it joins: those of its interfaces, also where its mask is another than its neighbours'. */
  join(routers: readonly Router[], isOwn: (place: Place) => boolean): Map<string, Set<string>> {
    const own = routers.map(({ deviceId, places }) => ({ deviceId, places: places.filter(isOwn) }));
    const legs = new Map(
      own.map(({ deviceId, places }) => [
        deviceId,
        new Set(places.flatMap(({ address, prefixLength }) => this.add(address, prefixLength ?? 0) ?? [])),
      ]),
    );
    for (const { deviceId, places } of own)
      for (const { address } of places) {
        const network = this.of(address);
        if (network !== null) legs.get(deviceId)?.add(network);
      }
    return legs;
  }
}

/** Classes of addresses that packets are routed by. */
const LEADS_SOMEWHERE: readonly string[] = ['private', 'shared', 'reserved', 'global'];
