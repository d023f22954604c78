/**
 * What a collector reports of a network while outages are played, second by second: pings at staggered moments, three
 * misses, the agent as second opinion, readings of ports, traps. Times are those of `docs/monitoring.md`.
 */
import type { WatchObservation } from '@rollcall/shared/observation';
import { type Fault, type Truth, truthAt } from './faults.ts';
import { type Box, type Cable, type Network, randomOf } from './network.ts';

const PING = 15;
const READ = 60;
const RETRY = 5;
/** An answer that does not come ends a reading. */
const TIMEOUT = 3;
/** What just went down is asked so often, for so long. */
const EAGER = 5;
const EAGER_FOR = 60;
const MISSES = 3;
/** On every other collector, which is busy, pings are late by up to so much. */
const LATE = 2;
/** Routes, and boxes that come back, take up to so long. */
const REROUTE = 8;
const RETURN = 15;

export type Seen =
  | { box: string; report: Partial<WatchObservation> }
  | { box: string; port: Cable; up: boolean }
  | { box: string; rebooted: true }
  /** Silences reported until this second are settled. */
  | { settled: number };

interface Watched {
  box: Box;
  up: boolean;
  missed: number;
  pingAt: number;
  downAt: number;
  phase: number;
  agent: 'ok' | 'timeout';
  agentMissed: number;
  readAt: number;
  /** A reading without an answer ends then. */
  failsAt: number | null;
  /** The agent is asked because ping got no answer. */
  opinion: boolean;
  ports: Map<Cable, boolean>;
  /** It is silent until then, while its ways or itself come back. */
  backAt: number;
  /** It was asked then what it answered last. */
  heardAt: number;
  agentBackAt: number;
  rebooted: boolean;
}

export class Watcher {
  readonly #network: Network;
  readonly #faults: readonly Fault[];
  readonly #random: () => number;
  readonly #watched: Watched[];
  readonly #late: number;
  /** Silences that were reported and are not settled: the first and the last. */
  #unsettled: { first: number; last: number } | null = null;
  #truth: Truth;
  #seen: Seen[] = [];

  constructor(seed: number, network: Network, faults: readonly Fault[]) {
    this.#network = network;
    this.#faults = faults;
    this.#random = randomOf(seed ^ 0xca11);
    this.#truth = truthAt(network, faults, 0);
    this.#late = seed % 2 === 0 ? LATE : 0;
    this.#watched = network.boxes.map((box) => ({
      box,
      up: true,
      missed: 0,
      phase: this.#below(READ),
      pingAt: this.#below(PING),
      downAt: 0,
      agent: 'ok',
      agentMissed: 0,
      readAt: this.#below(READ),
      failsAt: null,
      opinion: false,
      ports: new Map(
        network.cables.filter(({ a, b }) => a === box.name || b === box.name).map((cable) => [cable, true]),
      ),
      backAt: 0,
      heardAt: 0,
      agentBackAt: 0,
      rebooted: false,
    }));
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  /** What is reported in this second. */
  tick(at: number): Seen[] {
    this.#seen = [];
    this.#follow(at);
    for (const each of this.#watched) {
      if (each.box.ping && at >= each.pingAt) this.#ping(each, at);
      if (!each.box.snmp) continue;
      if (each.failsAt !== null && at >= each.failsAt) this.#unread(each, at);
      else if (each.failsAt === null && at >= each.readAt) this.#read(each, at);
    }
    this.#settle(at);
    return this.#seen;
  }

  /** As `Settling` of the collector. */
  #settle(at: number): void {
    if (!this.#unsettled) return;
    const waited = this.#watched.filter(({ box, up, opinion }) => box.ping && (up || opinion));
    const since = Math.min(at, ...waited.map(({ heardAt }) => heardAt));
    const { first, last } = this.#unsettled;
    if (since < first) return;
    this.#unsettled = since >= last ? null : { first: since + 1, last };
    this.#seen.push({ settled: since >= last ? at : since });
  }

  /** Whether a box can be heard. */
  answers(name: string, at: number): boolean {
    const each = this.#watched.find(({ box }) => box.name === name);
    return each !== undefined && this.#answers(each, at);
  }
  #answers({ box, backAt }: Watched, at: number): boolean {
    return this.#truth.reached.has(box.name) && at >= backAt;
  }
  portUp(box: string, cable: Cable): boolean {
    const { dead, cut } = this.#truth;
    return !cable.carrier || !(cut.has(cable) || dead.has(cable.a === box ? cable.b : cable.a));
  }

  /** Takes over what is true from now on. */
  #follow(at: number): void {
    const before = this.#truth;
    this.#truth = truthAt(this.#network, this.#faults, at);
    const { dead, cut, silent, reached, ways } = this.#truth;
    const same = (a: ReadonlySet<unknown>, b: ReadonlySet<unknown>) =>
      a.size === b.size && [...a].every((each) => b.has(each));
    if (same(before.dead, dead) && same(before.cut, cut) && same(before.silent, silent)) return;
    const near = (name: string, { a, b }: Cable) => (a === name ? b : a);
    /** Whether the way by which a box was reached broke. */
    const moved = (name: string): boolean => {
      const cable = before.ways.get(name);
      if (!cable) return false;
      const broken = cut.has(cable) || silent.has(cable) || !reached.has(near(name, cable));
      return broken || ways.get(name) !== cable || moved(near(name, cable));
    };
    const detour = this.#random() < 0.5;
    for (const each of this.#watched) {
      const { name } = each.box;
      if (before.dead.has(name) && !dead.has(name)) {
        each.agentBackAt = at + this.#below(20) + RETURN;
        each.rebooted = true;
      }
      if (!reached.has(name)) continue;
      if (!before.reached.has(name)) each.backAt = at + 1 + this.#below(RETURN);
      else if (detour && moved(name)) each.backAt = at + 1 + this.#below(REROUTE);
    }
    for (const each of this.#watched)
      for (const [cable, told] of each.ports)
        if (each.box.traps && this.portUp(each.box.name, cable) !== told && this.#answers(each, at))
          each.readAt = Math.min(each.readAt, at + 1);
  }

  #report(each: Watched, at: number): void {
    const { box, up, agent, agentMissed } = each;
    const snmp = agent === 'timeout' ? 'timeout' : agentMissed > 0 ? undefined : 'ok';
    if (!(box.ping && up) && (!box.snmp || snmp !== 'ok'))
      this.#unsettled = { first: this.#unsettled?.first ?? at, last: at };
    this.#seen.push({
      box: box.name,
      report: {
        icmp: box.ping && up ? 'up' : 'down',
        ...(box.snmp && snmp ? { snmp } : {}),
      },
    });
  }

  #ping(each: Watched, at: number): void {
    const noise = this.#random() < (this.#faults.some(({ kind }) => kind === 'slow') ? 0.05 : 0.002);
    const usual = () => onGrid(at, PING, each.phase) + this.#below(this.#late + 1);
    if (this.#answers(each, at) && !noise) {
      each.missed = 0;
      each.heardAt = at;
      each.pingAt = usual();
      if (each.up) return;
      each.up = true;
      this.#report(each, at);
      if (each.agentMissed > 0) each.readAt = at;
      return;
    }
    each.missed += 1;
    if (each.missed < MISSES) {
      each.pingAt = at + 1;
      return;
    }
    each.pingAt = at - each.downAt < EAGER_FOR || each.up ? at + EAGER : usual();
    if (!each.up) return;
    each.up = false;
    each.downAt = at;
    if (!each.box.snmp) this.#report(each, at);
    else {
      each.opinion = true;
      if (each.failsAt === null) this.#read(each, at);
    }
  }

  #read(each: Watched, at: number): void {
    const { agents } = this.#truth;
    if (!this.#answers(each, at) || agents.has(each.box.name) || at < each.agentBackAt) {
      each.failsAt = at + TIMEOUT;
      return;
    }
    const turned = each.agent !== 'ok' || each.opinion;
    each.agent = 'ok';
    each.agentMissed = 0;
    each.opinion = false;
    if (turned) this.#report(each, at);
    if (each.rebooted) this.#seen.push({ box: each.box.name, rebooted: true });
    each.rebooted = false;
    for (const [cable, told] of each.ports) {
      const up = this.portUp(each.box.name, cable);
      if (up === told) continue;
      each.ports.set(cable, up);
      this.#seen.push({ box: each.box.name, port: cable, up });
    }
    each.readAt = onGrid(at, READ, each.phase);
  }

  #unread(each: Watched, at: number): void {
    each.failsAt = null;
    each.agentMissed += 1;
    const turned = each.agentMissed === MISSES;
    if (turned) each.agent = 'timeout';
    if (turned || each.opinion) this.#report(each, at);
    each.opinion = false;
    const usual = onGrid(at, READ, each.phase);
    each.readAt = each.agentMissed < MISSES ? Math.min(usual, at + RETRY) : usual;
  }
}

/** The next second after `at` on a grid of `every` seconds that begins at `phase`. */
const onGrid = (at: number, every: number, phase: number): number =>
  Math.floor((at - phase) / every + 1) * every + phase;
