/**
 * Networks from a seed: boxes, the cables between them, and what discovery knows of both. The truth of a story
 * (`story.ts`) is computed from this graph, never from the product.
 */

export type Role = 'router' | 'switch' | 'host';
export interface Box {
  name: string;
  role: Role;
  /** `address/length`; it is watched at the first. */
  addresses: string[];
  /** It answers ping, its agent answers. */
  ping: boolean;
  snmp: boolean;
  /** It sends linkDown and linkUp. */
  traps: boolean;
}
export interface Cable {
  a: string;
  b: string;
  /** Discovery found it. */
  known: boolean;
  /** Both ends lose carrier when it breaks; false: a line of a provider. */
  carrier: boolean;
}
export interface Network {
  shape: string;
  boxes: Box[];
  cables: Cable[];
  /** The box beside the collector, and the collector's address. */
  entry: string;
  collector: string;
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

class Plan {
  readonly boxes: Box[] = [];
  readonly cables: Cable[] = [];
  readonly random: () => number;
  #lans = 0;

  constructor(random: () => number) {
    this.random = random;
  }
  below(n: number): number {
    return Math.floor(this.random() * n);
  }
  chance(p: number): boolean {
    return this.random() < p;
  }
  box(role: Role, name: string, addresses: string[]): Box {
    const host = role === 'host';
    const snmp = !host || this.chance(0.5);
    // Few are watched by their agent alone.
    const ping = role === 'router' || !snmp || this.chance(0.96);
    const box = { name, role, addresses, snmp, ping, traps: !host && this.chance(0.5) };
    this.boxes.push(box);
    return box;
  }
  router(): Box {
    const n = this.boxes.filter(({ role }) => role === 'router').length + 1;
    return this.box('router', `r${n}`, [`10.255.0.${n}/32`]);
  }
  cable(a: Box, b: Box, more: Partial<Cable> = {}): void {
    this.cables.push({ a: a.name, b: b.name, known: true, carrier: true, ...more });
  }
  /** Two routers over a network of their own. */
  line(a: Box, b: Box, carrier = true): void {
    const k = this.cables.length;
    const net = `10.254.${k >> 6}.${(k & 63) * 4}`.split('.');
    const at = (i: number) => `${net.slice(0, 3).join('.')}.${Number(net[3]) + i}/30`;
    a.addresses.push(at(1));
    b.addresses.push(at(2));
    this.cable(a, b, { carrier });
  }
  /** An access switch behind routers, with hosts. */
  access(routers: Box[], hosts: number): Box {
    const n = ++this.#lans;
    for (const [i, router] of routers.entries()) router.addresses.push(`10.${n}.0.${1 + i}/24`);
    const access = this.box('switch', `s${n}`, [`10.${n}.0.9/24`]);
    for (const router of routers) this.cable(router, access);
    for (let i = 1; i <= hosts; i++) {
      const host = this.box('host', `h${n}-${i}`, [`10.${n}.0.${9 + i}/24`]);
      this.cable(access, host, { known: this.chance(0.95) });
    }
    return access;
  }
}

const SHAPES: Readonly<Record<string, (plan: Plan) => Box>> = {
  ring: (plan) => {
    const routers = Array.from({ length: 3 + plan.below(5) }, () => plan.router());
    for (const [i, router] of routers.entries()) plan.line(router, routers[(i + 1) % routers.length] as Box);
    for (const router of routers) plan.access([router], plan.below(5));
    return routers[0] as Box;
  },
  star: (plan) => {
    const hub = plan.router();
    for (let i = 3 + plan.below(5); i > 0; i--) {
      const spoke = plan.router();
      plan.line(hub, spoke);
      plan.access([spoke], 1 + plan.below(6));
    }
    return hub;
  },
  'hub and spoke': (plan) => {
    const hub = plan.router();
    plan.access([hub], plan.below(4));
    for (let i = 2 + plan.below(4); i > 0; i--) {
      const spoke = plan.router();
      plan.line(hub, spoke, false);
      plan.access([spoke], 1 + plan.below(4));
      if (!plan.chance(0.5)) continue;
      const beyond = plan.router();
      plan.line(spoke, beyond, false);
      plan.access([beyond], 1 + plan.below(3));
    }
    return hub;
  },
  'dual-homed': (plan) => {
    const cores = [plan.router(), plan.router()];
    plan.line(cores[0] as Box, cores[1] as Box);
    const first = plan.access(cores, 1);
    for (let i = 2 + plan.below(5); i > 0; i--) plan.access(cores, 1 + plan.below(6));
    return first;
  },
  'two WAN exits': (plan) => {
    const exits = [plan.router(), plan.router()];
    plan.line(exits[0] as Box, exits[1] as Box);
    const first = plan.access(exits, plan.below(4));
    for (let i = 2 + plan.below(4); i > 0; i--) {
      const branch = plan.router();
      for (const exit of exits) plan.line(exit, branch, false);
      plan.access([branch], 1 + plan.below(4));
    }
    return first;
  },
  areas: (plan) => {
    const borders = Array.from({ length: 3 + plan.below(2) }, () => plan.router());
    for (const [i, border] of borders.entries()) plan.line(border, borders[(i + 1) % borders.length] as Box);
    for (const border of borders) {
      let above = border;
      for (let i = plan.below(3); i > 0; i--) {
        const inner = plan.router();
        plan.line(above, inner);
        plan.access([inner], 1 + plan.below(4));
        if (plan.chance(0.5)) above = inner;
      }
      plan.access([border], plan.below(3));
    }
    return borders[0] as Box;
  },
};

export function networkOf(seed: number): Network {
  const plan = new Plan(randomOf(seed));
  const shapes = Object.keys(SHAPES);
  const shape = shapes[seed % shapes.length] as string;
  const entry = (SHAPES[shape] as (plan: Plan) => Box)(plan);
  // A collector behind a router has a network with it.
  if (entry.role === 'router') entry.addresses.push('10.250.0.1/24');
  const collector =
    entry.role === 'router' ? '10.250.0.5/24' : `${entry.addresses[0]?.replace(/\.9\/24$/, '.200')}/24`;
  return { shape, boxes: plan.boxes, cables: plan.cables, entry: entry.name, collector };
}

export interface Broken {
  dead: ReadonlySet<string>;
  cut: ReadonlySet<Cable>;
}

/** Boxes with a way to the collector, each with the cable that it is reached by. Hosts forward nothing. */
export function waysIn({ boxes, cables, entry }: Network, { dead, cut }: Broken): Map<string, Cable | null> {
  const roles = new Map(boxes.map(({ name, role }) => [name, role]));
  const ways = new Map<string, Cable | null>(dead.has(entry) ? [] : [[entry, null]]);
  for (const name of ways.keys()) {
    if (roles.get(name) === 'host') continue;
    for (const cable of cables) {
      if (cut.has(cable) || (cable.a !== name && cable.b !== name)) continue;
      const far = cable.a === name ? cable.b : cable.a;
      if (!dead.has(far) && !ways.has(far)) ways.set(far, cable);
    }
  }
  return ways;
}

export const reachedIn = (network: Network, broken: Broken): Set<string> =>
  new Set(waysIn(network, broken).keys());
