/**
 * A network as a plan, and what must be said of it when something breaks: all from the graph, none of it from the
 * product. A seed makes the plan; the same seed makes the same.
 *
 * Routers speak OSPF. Each has a switch behind it with hosts, of which some are behind a second switch. The collector is
 * beside the first router, or the first two. Addresses: loopback of router N 10.255.0.N, cable K 10.254.K.0/30, network behind router N
 * 10.N.0.0/24.
 */

export type Role = 'router' | 'switch' | 'host';
export interface PlannedBox {
  name: string;
  role: Role;
  /** The address at which it must be managed. */
  address: string;
  /** The network behind a router that a switch or host is in; a router's own number. */
  net: number;
  /** OSPF area that a router and what is behind it is in; 0 by default. */
  area?: number;
}
export interface PlannedCable {
  a: string;
  b: string;
  area?: number;
}
export interface Plan {
  boxes: PlannedBox[];
  cables: PlannedCable[];
  /** Boxes beside the collector, which has a cable to each. */
  entries: readonly string[];
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** By shape, the routers before it that a router is cabled to; `below(n)` picks one of n. */
const SHAPES = {
  tree: (n, below) => [1 + below(n - 1)],
  ring: (n) => [n - 1],
  star: () => [1],
  'dual-homed': (n) => (n === 2 ? [1] : [1, 2]),
  'hub and spoke': (n) => [n % 2 === 0 ? 1 : n - 1],
  // A ring of three borders; the others are in the area of one of them.
  areas: (n) => (n === 3 ? [1, 2] : n < 3 ? [1] : [n - 3 + 1]),
  // The first two lead to the collector.
  'two exits': (n) => (n === 2 ? [1] : [1, 2]),
} satisfies Record<string, (n: number, below: (n: number) => number) => number[]>;
export type Shape = keyof typeof SHAPES;

export function planNetwork(options: { seed: number; routers: number; hosts: number; shape: Shape }): Plan {
  const random = randomOf(options.seed);
  const below = (n: number) => Math.floor(random() * n);
  const boxes: PlannedBox[] = [];
  const cables: PlannedCable[] = [];
  for (let n = 1; n <= options.routers; n++) {
    const before = n === 1 ? [] : SHAPES[options.shape](n, below);
    const area = options.shape === 'areas' && n > 3 ? (before[0] ?? 0) : 0;
    boxes.push({ name: `r${n}`, role: 'router', address: `10.255.0.${n}`, net: n, area });
    for (const far of before) cables.push({ a: `r${far}`, b: `r${n}`, area });
    boxes.push({ name: `s${n}`, role: 'switch', address: `10.${n}.0.2`, net: n });
    cables.push({ a: `r${n}`, b: `s${n}` });
  }
  if (options.shape === 'ring' && options.routers > 2) cables.push({ a: `r${options.routers}`, b: 'r1' });
  for (let i = 1; i <= options.hosts; i++) {
    const net = 1 + below(options.routers);
    boxes.push({ name: `h${i}`, role: 'host', address: `10.${net}.0.${9 + i}`, net });
    cables.push({ a: `s${net}`, b: `h${i}` });
  }
  return { boxes, cables, entries: options.shape === 'two exits' ? ['r1', 'r2'] : ['r1'] };
}

/** A small network of a seed; seven seeds in a row have the seven shapes. */
export function smallNetwork(seed: number): Plan & { shape: Shape } {
  const shapes = Object.keys(SHAPES) as Shape[];
  const shape = shapes[seed % shapes.length] as Shape;
  const random = randomOf(seed ^ 0x5a11);
  const below = (n: number) => Math.floor(random() * n);
  const plan = planNetwork({
    seed,
    shape,
    routers: 3 + below(2) + (shape === 'areas' ? 1 : 0),
    hosts: 3 + below(3),
  });
  // A second switch, with hosts that the first one had.
  const host = plan.boxes.find(({ role }) => role === 'host') as PlannedBox;
  const { net } = host;
  plan.boxes.push({ name: 't1', role: 'switch', address: `10.${net}.0.3`, net });
  for (const cable of plan.cables)
    if (cable.a === `s${net}` && cable.b.startsWith('h') && (cable.b === host.name || below(2) === 0))
      cable.a = 't1';
  plan.cables.push({ a: `s${net}`, b: 't1' });
  return { ...plan, shape };
}

/** Boxes that the collector reaches when these boxes and cables are broken. */
export function reached(plan: Plan, broken: { boxes?: string[]; cables?: PlannedCable[] }): Set<string> {
  const off = new Set(broken.boxes);
  const cut = new Set(broken.cables);
  const seen = new Set<string>();
  const next = plan.entries.filter((name) => !off.has(name));
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    seen.add(name);
    for (const cable of plan.cables) {
      if (cut.has(cable) || (cable.a !== name && cable.b !== name)) continue;
      const far = cable.a === name ? cable.b : cable.a;
      if (!seen.has(far) && !off.has(far)) next.push(far);
    }
  }
  return seen;
}
