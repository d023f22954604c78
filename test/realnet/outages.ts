/** Outages from a small grammar, and what must be said of each: from the graph of the network, none of it from the product. */
import type { Network } from './network.ts';
import { type Plan, type PlannedCable, randomOf, reached } from './plan.ts';

export const KINDS = [
  ...(['cable', 'silent', 'one-way', 'box', 'hall', 'agent', 'partition', 'renumber'] as const),
  ...(['slow', 'swap', 'upgrade', 'virtual', 'flapping', 'clone'] as const),
] as const;
export type OutageKind = (typeof KINDS)[number];

export interface Outage {
  kind: OutageKind;
  what: string;
  /** Boxes without power, in the order in which they return. */
  off: readonly string[];
  cut: readonly PlannedCable[];
  agent: string | null;
  /** A host that gets another address. */
  moved: { name: string; address: string } | null;
  /** An address that one box has, then another. */
  virtual: { address: string; from: string; to: string } | null;
  /** A host of which a copy appears at an address, and what both are cabled to. */
  copied: { name: string; address: string; beside: string } | null;
}

/** What is known of it only by a scan. */
export const isFoundByScan = ({ kind }: Outage): boolean =>
  ['renumber', 'swap', 'upgrade', 'virtual', 'clone'].includes(kind);

/** What the one on call must be told. */
export interface Story {
  /** Where it begins: the silent box beside one that is heard. Null where all are heard. */
  root: string | null;
  /** Silent because of the root. */
  behind: readonly string[];
  agent: string | null;
  /** Ports that lost carrier and can tell it: box, and the far end. */
  ports: readonly (readonly [name: string, far: string])[];
  /** What is told besides when it is over, which wakes nobody: kind of event, box (`?` is not in the plan). */
  noted: readonly (readonly [kind: string, name: string])[];
  /** What may be told as well, once each: it depends on which box a scan reads first. */
  perhaps: readonly (readonly [kind: string, name: string])[];
}

/** What a line that is slow loses each way. */
const SLOW_PERCENT = 5;

const farOf = ({ a, b }: PlannedCable, name: string): string => (a === name ? b : a);
const cablesOf = (plan: Plan, name: string): PlannedCable[] =>
  plan.cables.filter(({ a, b }) => a === name || b === name);

const heardIn = (plan: Plan, { kind, off, cut, moved }: Outage): Set<string> =>
  reached(plan, {
    boxes: [...off, ...(moved ? [moved.name] : [])],
    cables: kind === 'slow' ? [] : [...cut],
  });

/** A cable breaks at the end that is silent then: a port that is shut is no alarm. */
const brokenEnd = (heard: ReadonlySet<string>, { a, b }: PlannedCable): string =>
  heard.has(b) ? (heard.has(a) ? b : a) : b;

const losesCarrier = (kind: OutageKind): boolean => ['cable', 'partition', 'flapping'].includes(kind);

/** Boxes that have ports shut by it, as the kernel sees it: their agents may tell so when they are read at that moment. */
export const shutBy = (plan: Plan, outage: Outage): string[] => {
  const heard = heardIn(plan, outage);
  return [
    ...outage.off,
    ...(losesCarrier(outage.kind) ? outage.cut.map((cable) => brokenEnd(heard, cable)) : []),
  ];
};

export function storyOf(plan: Plan, outage: Outage): Story {
  const { kind, off, cut, agent } = outage;
  const heard = heardIn(plan, outage);
  const broken = new Set([...cut, ...off.flatMap((name) => cablesOf(plan, name))]);
  const carrier = losesCarrier(kind) || off.length > 0;
  const silent = plan.boxes.map(({ name }) => name).filter((name) => !heard.has(name));
  const roots = silent.filter(
    (name) =>
      plan.entries.join() === name || cablesOf(plan, name).some((cable) => heard.has(farOf(cable, name))),
  );
  if (roots.length > 1) throw new Error(`${kind} begins at ${roots.join(' and ')}`);
  return {
    root: roots[0] ?? null,
    behind: silent.filter((name) => name !== roots[0]),
    agent,
    ports: carrier
      ? [...broken].flatMap((cable) =>
          [cable.a, cable.b].flatMap((name) =>
            heard.has(name) && !(cut.includes(cable) && brokenEnd(heard, cable) === name)
              ? [[name, farOf(cable, name)] as const]
              : [],
          ),
        )
      : [],
    noted: notedOf(plan, outage),
    // Its address went before another box had it, and not with it; it was found before the agent listed it.
    perhaps: outage.virtual
      ? ['device.addresses', 'device.merged'].map((kind) => [kind, outage.virtual?.from ?? ''] as const)
      : [],
  };
}

function notedOf(plan: Plan, { kind, off, moved, virtual, copied }: Outage): Story['noted'] {
  const [first = ''] = off;
  switch (kind) {
    case 'swap':
      // What it is cabled to hears another chassis.
      return [
        ...['rebooted', 'swapped'].map((each) => [`device.${each}`, first] as const),
        ['interface.changed', first],
        ...cablesOf(plan, first).map((cable) => ['neighbour.changed', farOf(cable, first)] as const),
      ];
    case 'upgrade':
      return [
        ['device.rebooted', first],
        ['device.upgraded', first],
      ];
    case 'renumber':
      return ['device.addresses', 'device.renumbered'].map((each) => [each, moved?.name ?? ''] as const);
    case 'virtual':
      return [
        ...[virtual?.from, virtual?.to].map((name = '') => ['device.addresses', name] as const),
        ['address.moved', virtual?.to ?? ''],
      ];
    case 'clone':
      // What both are cabled to has another port, and hears another chassis on it.
      return [
        ...['device.new', 'identity.conflict'].map((each) => [each, '?'] as const),
        ...['interface.added', 'neighbour.changed'].map((each) => [each, copied?.beside ?? ''] as const),
      ];
    default:
      return off.map((name) => ['device.rebooted', name] as const);
  }
}

/** One outage of each kind. No two have a box or a port in common, so that none repeats what another told. */
export function outagesOf(seed: number, plan: Plan, kinds: readonly OutageKind[]): Outage[] {
  const random = randomOf(seed ^ 0x5eed);
  const outages: Outage[] = [];
  const used = new Set<string>();
  for (const kind of kinds)
    for (let tries = 0; tries < 50; tries++) {
      const outage = outageOf(kind, plan, random);
      if (!outage) continue;
      const { root, agent, ports, noted } = storyOf(plan, outage);
      const touched = [...new Set(noted.map(([, name]) => name)), ...ports.map((port) => port.join('>'))];
      for (const name of [root, agent]) if (name !== null) touched.push(name);
      if (touched.some((each) => used.has(each))) continue;
      for (const each of touched) used.add(each);
      outages.push(outage);
      break;
    }
  return outages;
}

function outageOf(kind: OutageKind, plan: Plan, random: () => number): Outage | null {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const none = { kind, off: [], cut: [], agent: null, moved: null, virtual: null, copied: null };
  const others = plan.boxes.filter(({ name }) => plan.entries.join() !== name);
  const { name, role, net } = pick(others);
  const rest = reached(plan, { boxes: [name] });
  const near = cablesOf(plan, name);
  switch (kind) {
    case 'cable':
    case 'silent':
    case 'slow':
    case 'one-way': {
      const cable = pick(plan.cables);
      return { ...none, what: `${cable.a}-${cable.b}`, cut: [cable] };
    }
    case 'box': {
      // Where there are two ways to the collector, one of them.
      const off = plan.entries.length > 1 ? pick(plan.entries) : name;
      return { ...none, what: off, off: [off] };
    }
    case 'swap':
    case 'upgrade':
      return role === 'host' ? { ...none, what: name, off: [name] } : null;
    case 'flapping':
      return role === 'host' ? { ...none, what: name, cut: near } : null;
    case 'virtual': {
      const other = others.find((each) => each.net === net && each.role === 'host' && each.name !== name);
      if (role === 'router' || !other) return null;
      return {
        ...none,
        what: `${name} to ${other.name}`,
        virtual: { address: `10.${net}.0.9`, from: name, to: other.name },
      };
    }
    case 'agent':
      // ospfd waits for an agent that hangs (AgentX), and the ways through its router are gone.
      if (role === 'router') return null;
      return { ...none, what: name, agent: name };
    case 'partition': {
      // Of a box with what is behind it, which is whole.
      if (rest.size >= plan.boxes.length - 1) return null;
      return { ...none, what: name, cut: near.filter((cable) => rest.has(farOf(cable, name))) };
    }
    case 'hall': {
      // A box and what stands around it, but what leads to the collector.
      const off = [name, ...near.map((cable) => farOf(cable, name)).filter((each) => !rest.has(each))];
      if (off.length < 2) return null;
      return {
        ...none,
        what: name,
        off: off
          .map((each) => [random(), each] as const)
          .sort()
          .map(([, each]) => each),
      };
    }
    case 'clone': {
      const [cable] = near;
      if (role !== 'host' || !cable) return null;
      const address = `10.${net}.0.${20 + Math.floor(random() * 5)}`;
      return { ...none, what: name, copied: { name, address, beside: farOf(cable, name) } };
    }
    case 'renumber':
      if (role !== 'host') return null;
      return {
        ...none,
        what: name,
        moved: { name, address: `10.${net}.0.${26 + Math.floor(random() * 5)}` },
      };
  }
}

/** Breaks what an outage breaks. */
export async function begin(network: Network, outage: Outage): Promise<void> {
  const { off, agent, moved, virtual, copied } = outage;
  for (const name of off) network.power(name, false);
  setCables(network, outage, true);
  if (agent !== null) network.hang(agent, true);
  if (moved) network.renumber(moved.name, moved.address);
  if (virtual) network.hold(virtual.from, virtual.address, true);
  if (copied) await network.copy(copied.name, copied.address);
}

/** Mends it; the boxes return one after the other. What was renumbered stays so, and a copy stays there. */
export async function end(network: Network, outage: Outage, pause: () => Promise<unknown>): Promise<void> {
  const { kind, off, agent, virtual } = outage;
  for (const [i, name] of off.entries()) {
    if (i > 0) await pause();
    if (kind === 'swap') network.swap(name);
    if (kind === 'upgrade') network.upgrade(name);
    network.power(name, true);
  }
  setCables(network, outage, false);
  if (agent !== null) network.hang(agent, false);
  if (!virtual) return;
  network.hold(virtual.from, virtual.address, false);
  network.hold(virtual.to, virtual.address, true);
}

function setCables(network: Network, outage: Outage, broken: boolean): void {
  const heard = heardIn(network.plan, outage);
  for (const cable of outage.cut) {
    const near = brokenEnd(heard, cable);
    const far = farOf(cable, near);
    if (losesCarrier(outage.kind)) {
      network.shut(near, far, broken);
      continue;
    }
    const percent = outage.kind === 'slow' ? SLOW_PERCENT : 100;
    network.deafen(near, far, broken, percent);
    if (outage.kind !== 'one-way') network.deafen(far, near, broken, percent);
  }
}
