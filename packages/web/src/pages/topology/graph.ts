/** The network of a site as layers: what stands in its middle, what distributes, what gives access, and what hangs on these. Pure. */

export interface MapNode {
  id: string;
  siteId: string;
  name: string;
  class: string;
}
export interface MapLink {
  a: { deviceId: string };
  b: { deviceId: string };
}

/** Classes that carry the traffic of others, by how likely they stand in the middle. */
const CARRIES: Record<string, number> = { router: 3, firewall: 3, switch: 4, 'load-balancer': 2 };
export const carries = (name: string): boolean => name in CARRIES;
/** What people call the middle of a network: links alone do not tell a core from the one pair that distributes below it. */
const CALLED_CORE = /core/i;
/** Classes that give access: without anything behind them they are no layer of their own. */
const GIVES_ACCESS = 'switch';

export const LAYERS = ['core', 'distribution', 'access'] as const;
export type Layer = (typeof LAYERS)[number];

/** A device that carries others, and those that hang on it alone. */
export interface Group {
  id: string;
  layer: Layer;
  hosts: string[];
}

export interface Layers {
  /** In the order of their layer; beside each other what hangs on the same device. */
  groups: Group[];
  /** Devices without any link. */
  unlinked: string[];
}

type Neighbours = ReadonlyMap<string, ReadonlySet<string>>;

export function neighboursOf(nodes: readonly MapNode[], links: readonly MapLink[]): Neighbours {
  const near = new Map<string, Set<string>>(nodes.map((node) => [node.id, new Set()]));
  for (const { a, b } of links) {
    if (a.deviceId === b.deviceId || !near.has(a.deviceId) || !near.has(b.deviceId)) continue;
    near.get(a.deviceId)?.add(b.deviceId);
    near.get(b.deviceId)?.add(a.deviceId);
  }
  return near;
}

const collator = new Intl.Collator('en', { numeric: true });

/** Devices in the order in which they are met, each with the device it was met from and how far away it is. */
interface Walk {
  order: string[];
  from: Map<string, string | undefined>;
  depth: Map<string, number>;
}
function walkFrom(starts: readonly string[], next: (id: string) => readonly string[]): Walk {
  const from = new Map<string, string | undefined>(starts.map((id) => [id, undefined]));
  const depth = new Map(starts.map((id) => [id, 0]));
  const order = [...starts];
  for (let i = 0; i < order.length; i += 1) {
    const id = order[i] as string;
    for (const other of next(id)) {
      if (from.has(other)) continue;
      from.set(other, id);
      depth.set(other, (depth.get(id) ?? 0) + 1);
      order.push(other);
    }
  }
  return { order, from, depth };
}

/** The layers of one site. */
export function layersOf(nodes: readonly MapNode[], links: readonly MapLink[]): Layers {
  const near = neighboursOf(nodes, links);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const classOf = (id: string) => byId.get(id)?.class ?? '';
  const around = (id: string) => near.get(id) ?? new Set<string>();
  const byName = (a: string, b: string) =>
    collator.compare(byId.get(a)?.name ?? '', byId.get(b)?.name ?? '') || (a < b ? -1 : 1);
  const weights = new Map(
    nodes.map(({ id, name, class: kind }) => {
      const inner = [...around(id)].filter((other) => around(other).size > 1).length;
      const called = kind in CARRIES && CALLED_CORE.test(name) ? 10_000 : 0;
      return [id, called + inner * 10 + (CARRIES[kind] ?? 0) * 5 + Math.min(9, around(id).size)];
    }),
  );
  const heaviestFirst = (a: string, b: string) =>
    (weights.get(b) ?? 0) - (weights.get(a) ?? 0) || byName(a, b);
  const sorted = new Map(nodes.map(({ id }) => [id, [...around(id)].sort(byName)]));
  const next = (id: string) => sorted.get(id) ?? [];

  const unlinked = nodes.filter(({ id }) => around(id).size === 0).map(({ id }) => id);
  const linked = nodes.filter(({ id }) => around(id).size > 0).map(({ id }) => id);
  const groups: Group[] = [];
  const networks = networksOf(linked.sort(heaviestFirst), next);
  for (const [i, members] of networks.entries()) {
    const carriers = members.filter((id) => carries(classOf(id)));
    // Of hosts alone the heaviest stands for what they hang on.
    const inner = new Set(carriers.length > 0 ? carriers : members.slice(0, 1));
    const roots = [...inner]
      .slice(0, 1)
      .flatMap((root) => [
        root,
        ...twinsOf(root, inner, around, (id) => CALLED_CORE.test(byId.get(id)?.name ?? '')),
      ]);
    const { order, depth } = walkFrom(roots, next);
    const owners = walkFrom([...inner], (id) => next(id).filter((other) => !inner.has(other)));
    const ownerOf = (id: string): string => {
      let at = id;
      for (let up = owners.from.get(at); up !== undefined; up = owners.from.get(at)) at = up;
      return at;
    };
    const hosts = new Map<string, string[]>();
    for (const id of members)
      if (!inner.has(id)) hosts.set(ownerOf(id), [...(hosts.get(ownerOf(id)) ?? []), id]);
    const depthOf = (id: string) => depth.get(id) ?? 0;
    const leads = (id: string) => next(id).some((other) => inner.has(other) && depthOf(other) > depthOf(id));
    const layerOf = (id: string): Layer => {
      if (i > 0) return 'access';
      if (roots.includes(id)) return 'core';
      return depthOf(id) === 1 && (leads(id) || classOf(id) !== GIVES_ACCESS) ? 'distribution' : 'access';
    };
    for (const id of order)
      if (inner.has(id)) groups.push({ id, layer: layerOf(id), hosts: (hosts.get(id) ?? []).sort(byName) });
  }
  return {
    groups: LAYERS.flatMap((layer) => groups.filter((group) => group.layer === layer)),
    unlinked: unlinked.sort(byName),
  };
}

/** Devices that links join, the largest network first; in each the order of `ids` is kept. */
function networksOf(ids: readonly string[], next: (id: string) => readonly string[]): string[][] {
  const network = new Map<string, number>();
  let count = 0;
  for (const id of ids) {
    if (network.has(id)) continue;
    for (const member of walkFrom([id], next).order) network.set(member, count);
    count += 1;
  }
  const networks: string[][] = Array.from({ length: count }, () => []);
  for (const id of ids) networks[network.get(id) ?? 0]?.push(id);
  return networks.sort((a, b) => b.length - a.length);
}

/** Devices beside the root that do the same: linked to it, or called so, and to most of what it is linked to, and to as much. */
function twinsOf(
  root: string,
  inner: ReadonlySet<string>,
  around: (id: string) => ReadonlySet<string>,
  isCalledCore: (id: string) => boolean,
): string[] {
  const innerOf = (id: string) => [...around(id)].filter((other) => inner.has(other));
  const own = new Set(innerOf(root));
  return [...inner].filter((id) => {
    if (id === root || !(own.has(id) || isCalledCore(id))) return false;
    if (own.has(id) && isCalledCore(id)) return true;
    const theirs = innerOf(id).filter((other) => other !== root);
    const shared = theirs.filter((other) => own.has(other)).length;
    const fewest = Math.min(own.size, theirs.length);
    return fewest >= 2 && shared * 2 > fewest && theirs.length * 2 >= own.size;
  });
}

/** Devices of its network that can be reached through this device alone, seen from the middle of the network. */
export function devicesBehind<Node extends MapNode>(
  nodes: readonly Node[],
  links: readonly MapLink[],
  id: string,
): Node[] {
  const near = neighboursOf(nodes, links);
  const network = walkFrom([id], (one) => [...(near.get(one) ?? [])]).order;
  const members = new Set(network);
  const [core] = layersOf(
    nodes.filter((node) => members.has(node.id)),
    links,
  ).groups;
  const reached = new Set<string>([id]);
  if (core && core.id !== id)
    for (const one of walkFrom([core.id], (at) => [...(near.get(at) ?? [])].filter((other) => other !== id))
      .order)
      reached.add(one);
  return nodes.filter((node) => members.has(node.id) && !reached.has(node.id));
}
