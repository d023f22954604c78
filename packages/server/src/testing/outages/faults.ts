/** Outages from a grammar, and what is true of a network while they last. */
import { type Cable, type Network, randomOf, reachedIn, waysIn } from './network.ts';

export type FaultKind = 'cable' | 'blackhole' | 'box' | 'hall' | 'agent' | 'flapping' | 'slow' | 'partition';

export interface Fault {
  kind: FaultKind;
  /** What it is a fault of. */
  what: string;
  dead: string[];
  cut: Cable[];
  agents: string[];
  /** A cable that breaks without a loss of carrier. */
  silent: boolean;
  /** Seconds at which it begins and ends; several where it flaps. */
  spans: [from: number, to: number][];
  /** Box → seconds after its end until it is back: they return in any order. */
  returns: ReadonlyMap<string, number>;
}

/** Seconds of quiet before the first and after the last. */
const QUIET = 30;
export const TAIL = 220;

/** One to three outages; some overlap. */
export function faultsOf(seed: number, network: Network): { faults: Fault[]; end: number } {
  const random = randomOf(seed ^ 0x5eed);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const faults: Fault[] = [];
  let at = QUIET + below(60);
  for (let count = 1 + below(3); count > 0; count--) {
    const kind = pick<FaultKind>([
      ...(['cable', 'cable', 'blackhole', 'box', 'box', 'box', 'hall', 'hall', 'agent'] as const),
      ...(['flapping', 'slow', 'partition'] as const),
    ]);
    const lasts = kind === 'agent' ? 200 + below(100) : 70 + below(130);
    const fault = faultOf(kind, at, lasts, network, pick, below);
    if (fault) faults.push(fault);
    const last = fault?.spans.at(-1)?.[1] ?? at;
    // Some begin while the one before lasts, some soon after, some when it is long over.
    at =
      random() < 0.25 ? at + 60 + below(200) : last + (random() < 0.8 ? 130 + below(120) : 600 + below(200));
  }
  return { faults, end: Math.max(0, ...faults.flatMap(({ spans }) => spans.map(([, to]) => to))) + TAIL };
}

function faultOf(
  kind: FaultKind,
  at: number,
  lasts: number,
  network: Network,
  pick: <T>(list: readonly T[]) => T,
  below: (n: number) => number,
): Fault | null {
  const { boxes, cables, entry } = network;
  const others = boxes.filter(({ name }) => name !== entry || below(20) === 0);
  const base = {
    kind,
    dead: [] as string[],
    cut: [] as Cable[],
    agents: [] as string[],
    silent: kind === 'blackhole',
    spans: [[at, at + lasts]] as [number, number][],
    returns: new Map<string, number>(),
  };
  const forwarding = others.filter(({ role }) => role !== 'host');
  switch (kind) {
    case 'slow':
      return { ...base, what: 'slow' };
    case 'agent': {
      const { name } = pick(others.filter(({ snmp, ping }) => snmp && ping));
      return { ...base, what: `agent ${name}`, agents: [name] };
    }
    case 'cable':
    case 'blackhole': {
      const cable = pick(cables);
      return { ...base, what: `cable ${cable.a}-${cable.b}`, cut: [cable] };
    }
    case 'box': {
      const { name } = below(3) === 0 ? pick(others) : pick(forwarding);
      return { ...base, what: name, dead: [name] };
    }
    case 'flapping': {
      const { name } = pick(others);
      const spans = Array.from({ length: 3 + below(3) }, (_, i): [number, number] => [
        at + i * 110,
        at + i * 110 + 60,
      ]);
      return { ...base, what: name, dead: [name], spans };
    }
    case 'hall': {
      const { name } = pick(forwarding);
      // The box and what stands around it but does not lead to the collector.
      const near = cables.flatMap(({ a, b }) => (a === name ? [b] : b === name ? [a] : []));
      const rest = reachedIn(network, { dead: new Set([name]), cut: new Set() });
      const dead = [name, ...near.filter((each) => !rest.has(each))];
      const returns = new Map(dead.map((each) => [each, below(60)]));
      return { ...base, what: name, dead, returns };
    }
    case 'partition': {
      const { name } = pick(forwarding.filter((box) => box.name !== entry));
      const rest = reachedIn(network, { dead: new Set([name]), cut: new Set() });
      const cut = cables.filter(({ a, b }) => (a === name && rest.has(b)) || (b === name && rest.has(a)));
      return cut.length === 0 ? null : { ...base, what: name, cut };
    }
  }
}

/** What is true at one moment. */
export interface Truth {
  dead: Set<string>;
  cut: Set<Cable>;
  /** Cables that break without a loss of carrier, besides those of providers. */
  silent: Set<Cable>;
  agents: Set<string>;
  reached: Set<string>;
  /** Box that is reached → the cable that leads to it. */
  ways: ReadonlyMap<string, Cable | null>;
}

export function truthAt(network: Network, faults: readonly Fault[], at: number): Truth {
  const dead = new Set<string>();
  const cut = new Set<Cable>();
  const silent = new Set<Cable>();
  const agents = new Set<string>();
  for (const fault of faults)
    for (const [from, to] of fault.spans) {
      if (at < from) continue;
      for (const name of fault.dead) if (at < to + (fault.returns.get(name) ?? 0)) dead.add(name);
      if (at >= to) continue;
      for (const cable of fault.cut) (fault.silent ? silent : cut).add(cable);
      for (const name of fault.agents) agents.add(name);
    }
  const broken = new Set([...cut, ...silent]);
  const ways = waysIn(network, { dead, cut: broken });
  return { dead, cut, silent, agents, reached: new Set(ways.keys()), ways };
}
