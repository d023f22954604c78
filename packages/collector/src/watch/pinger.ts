/**
 * Pings addresses for ever, each at its own moment of the interval. A miss is followed at once by the next request, so
 * that the third decides seconds after the first; who is newly down is asked more often for a while.
 */
import { AddressSpace } from '@rollcall/shared/address-space';
import type { Clock } from '@rollcall/shared/clock';
import { type Family, parseAddress, Range, unionOf } from '@rollcall/shared/ip';
import { type Echo, EchoRefused, MAX_ATTEMPTS, type OpenEcho } from '../icmp/echo.ts';
import type { SweepPace } from '../icmp/sweep.ts';
import { DueQueue, onGrid, phaseOf } from './due-queue.ts';
import { answered, isUnconfirmed, type Liveness, missed, newLiveness } from './liveness.ts';
import type { PingTally } from './measure/tally.ts';

/** How long an answer may take; also the pace at which a miss is confirmed. */
const WAIT_MS = 1000;
/** An address that is newly down is asked this often. */
const EAGER_MS = 5000;
/** How long a newly down address is asked so often. */
const EAGER_FOR_MS = 60_000;
/** How often is looked at what arrived and what is due; round trips come from the kernel's time stamps. */
const TICK_MS = 25;
/** A socket for a new list replaces the old one, which is listened to until its answers are in. */
const LINGER_MS = 2 * WAIT_MS;
/** Turns given to a full receive queue before anything is called missed. */
const DRAIN_TURNS = 64;

/** An address that is pinged. */
export interface Pinged {
  readonly address: string;
  readonly liveness: Liveness;
  /** When it was asked what it answered last, or was added: monotonic milliseconds. */
  readonly heardAt: number;
  /** Last round trip, milliseconds. */
  rttMs: number | null;
  /** Since they were last taken: requests, and those that nobody answered. */
  sent: number;
  lost: number;
  /** Each counts for itself. */
  readonly tallies: Set<PingTally>;
}

interface Host extends Pinged {
  readonly phase: number;
  heardAt: number;
  index: number;
  attempt: number;
  /** A request is out and waited for. */
  waiting: boolean;
  /** Stands in the queue of those to be asked now. */
  queued: boolean;
  askedAt: number;
  /** Its one appointment; others in the queue are out of date. */
  due: number;
  downSince: number;
  gone: boolean;
}

/** The socket of one family, and whose answers it takes. */
interface Ear {
  echo: Echo;
  space: AddressSpace;
  hosts: (Host | undefined)[];
  /** Listened to until then; null: the present one. */
  until: number | null;
}

export interface PingerDeps {
  echo: OpenEcho;
  clock: Clock;
  pace: Pick<SweepPace, 'take'>;
  /** An address answers now, or no longer does. */
  turned: (host: Pinged) => void;
  /** No request can be sent to a family: why. */
  refused: (family: Family, reason: string) => void;
}

export class Pinger {
  readonly #deps: PingerDeps;
  readonly #hosts = new Map<string, Host>();
  readonly #due = new DueQueue<Host>();
  readonly #ears = new Map<Family, Ear>();
  #old: Ear[] = [];
  /** Families whose addresses changed: their sockets are opened anew with the next tick. */
  readonly #stale = new Set<Family>();
  readonly #dumb = new Set<Family>();
  readonly #queue: Host[] = [];
  #sending = false;
  #intervalMs: number;
  readonly #stop: () => void;

  constructor(deps: PingerDeps, intervalMs: number) {
    this.#deps = deps;
    this.#intervalMs = intervalMs;
    this.#stop = deps.clock.every(TICK_MS, () => this.#tick());
  }

  get size(): number {
    return this.#hosts.size;
  }
  /** How long the most overdue has waited for its turn, milliseconds. */
  get lagMs(): number {
    const now = this.#deps.clock.monotonic();
    const first = this.#queue[0];
    return Math.max(0, now - this.#due.next, first ? now - first.due : 0);
  }

  add(address: string): Pinged | null {
    const known = this.#hosts.get(address);
    if (known) return known;
    const family = familyOf(address);
    if (family === null) return null;
    const host: Host = {
      address,
      phase: phaseOf(address),
      liveness: newLiveness(),
      heardAt: this.#deps.clock.monotonic(),
      rttMs: null,
      sent: 0,
      lost: 0,
      tallies: new Set(),
      index: -1,
      attempt: 0,
      waiting: false,
      queued: false,
      askedAt: 0,
      due: 0,
      downSince: 0,
      gone: false,
    };
    this.#hosts.set(address, host);
    this.#stale.add(family);
    this.#plan(host, onGrid(this.#deps.clock.monotonic(), this.#intervalMs, host.phase));
    return host;
  }

  remove(address: string): void {
    const host = this.#hosts.get(address);
    if (!host) return;
    host.gone = true;
    this.#hosts.delete(address);
  }

  interval(ms: number): void {
    if (ms === this.#intervalMs) return;
    this.#intervalMs = ms;
    const now = this.#deps.clock.monotonic();
    for (const host of this.#hosts.values()) if (!host.waiting) this.#plan(host, onGrid(now, ms, host.phase));
  }

  close(): void {
    this.#stop();
    for (const { echo } of [...this.#ears.values(), ...this.#old]) echo.close();
    this.#ears.clear();
    this.#old = [];
    this.#queue.length = 0;
    this.#hosts.clear();
  }

  #plan(host: Host, due: number): void {
    host.due = due;
    this.#due.add(due, host);
  }

  #tick(): void {
    for (const family of this.#stale) this.#listen(family);
    this.#stale.clear();
    const now = this.#deps.clock.monotonic();
    // After a stall the answers are in the sockets while their time is over: they are read first.
    for (const ear of [...this.#ears.values(), ...this.#old])
      for (let turn = 0; turn < DRAIN_TURNS && ear.echo.receive(); turn += 1);
    for (let next = this.#due.take(now); next; next = this.#due.take(now)) {
      const { time, item: host } = next;
      if (host.gone || host.due !== time) continue;
      if (host.waiting) this.#miss(host, now);
      else this.#ask(host);
    }
    this.#retire(now);
    if (!this.#sending && this.#queue.length > 0) void this.#send();
  }

  /** Opens the socket of a family for the addresses there are now; the old one is heard out. */
  #listen(family: Family): void {
    const old = this.#ears.get(family);
    if (old) this.#old.push({ ...old, until: this.#deps.clock.monotonic() + LINGER_MS });
    this.#ears.delete(family);
    const mine = [...this.#hosts.values()].filter(({ address }) => familyOf(address) === family);
    const ranges = mine.flatMap(({ address }) => {
      const parsed = parseAddress(address);
      return parsed.ok ? [Range.single(parsed.value)] : [];
    });
    const space = new AddressSpace(unionOf(ranges));
    const hosts: (Host | undefined)[] = new Array(space.size);
    try {
      const echo = this.#deps.echo(
        space,
        {
          heard: (index, rttMs) => this.#heard(hosts[index], rttMs),
          failed: (index) => this.#failed(hosts[index]),
        },
        { timeoutMs: WAIT_MS },
      );
      for (const host of mine) {
        host.index = space.indexOf(host.address);
        hosts[host.index] = host;
      }
      this.#ears.set(family, { echo, space, hosts, until: null });
      this.#dumb.delete(family);
    } catch (error) {
      if (!(error instanceof EchoRefused)) throw error;
      if (!this.#dumb.has(family)) this.#deps.refused(family, error.message);
      this.#dumb.add(family);
    }
  }

  #retire(now: number): void {
    if (this.#old.length === 0) return;
    for (const { echo, until } of this.#old) if (until !== null && until <= now) echo.close();
    this.#old = this.#old.filter(({ until }) => until !== null && until > now);
  }

  #ask(host: Host): void {
    if (host.queued) return;
    host.queued = true;
    this.#queue.push(host);
  }

  /** Sends to those in the queue as fast as the pace allows. */
  async #send(): Promise<void> {
    this.#sending = true;
    try {
      while (this.#queue.length > 0) {
        const batches = new Map<Family, Host[]>();
        // What the pace holds back stays at the front of the queue.
        for (let host = this.#queue[0]; host; host = this.#queue[0]) {
          const wait = this.#deps.pace.take(1, host.address);
          if (wait) {
            this.#flush(batches);
            batches.clear();
            await wait;
          }
          this.#queue.shift();
          host.queued = false;
          if (host.gone) continue;
          const family = familyOf(host.address) ?? 4;
          const batch = batches.get(family) ?? [];
          batch.push(host);
          batches.set(family, batch);
          if (batch.length >= (this.#ears.get(family)?.echo.batch ?? 64)) break;
        }
        this.#flush(batches);
      }
    } finally {
      this.#sending = false;
    }
  }

  #flush(batches: ReadonlyMap<Family, Host[]>): void {
    const now = this.#deps.clock.monotonic();
    for (const [family, hosts] of batches) {
      const ear = this.#ears.get(family);
      // Without a way to ask, nothing is found out: not that somebody is down, either.
      const asked = ear ? hosts : [];
      for (const host of ear ? [] : hosts) {
        host.heardAt = now;
        this.#plan(host, onGrid(now, this.#intervalMs, host.phase));
      }
      for (const host of asked) {
        host.attempt = (host.attempt % MAX_ATTEMPTS) + 1;
        host.waiting = true;
        host.askedAt = now;
        host.sent += 1;
        this.#plan(host, now + WAIT_MS);
      }
      if (!ear || asked.length === 0) continue;
      const indexes = Uint32Array.from(asked, ({ index }) => index);
      const attempts = Uint8Array.from(asked, ({ attempt }) => attempt);
      const sent = ear.echo.send(indexes, attempts);
      // The send queue is full: they were not asked, and are again in a moment.
      for (const host of asked.slice(sent)) {
        host.waiting = false;
        host.sent -= 1;
        this.#plan(host, now + TICK_MS);
      }
    }
  }

  #heard(host: Host | undefined, rttMs: number): void {
    if (!host || host.gone) return;
    host.rttMs = rttMs;
    // A late answer may be to the request before.
    host.heardAt = Math.min(host.askedAt, this.#deps.clock.monotonic() - rttMs);
    const turned = answered(host.liveness);
    if (host.waiting) {
      host.waiting = false;
      for (const tally of host.tallies) tally.answered(rttMs);
      this.#plan(host, onGrid(host.askedAt, this.#intervalMs, host.phase));
    }
    if (turned) this.#deps.turned(host);
  }

  /** The host refused to send: as good as no answer, at the same pace. */
  #failed(host: Host | undefined): void {
    if (host && !host.gone && host.due > host.askedAt + WAIT_MS) this.#plan(host, host.askedAt + WAIT_MS);
  }

  #miss(host: Host, now: number): void {
    host.waiting = false;
    host.lost += 1;
    for (const tally of host.tallies) tally.missed();
    const turned = missed(host.liveness);
    if (turned) host.downSince = now;
    if (isUnconfirmed(host.liveness)) this.#plan(host, now);
    else {
      const usual = onGrid(now, this.#intervalMs, host.phase);
      const eager = now - host.downSince < EAGER_FOR_MS;
      this.#plan(host, eager ? Math.min(usual, now + EAGER_MS - WAIT_MS) : usual);
    }
    if (host.due <= now) this.#ask(host);
    if (turned) this.#deps.turned(host);
  }
}

const familyOf = (address: string): Family | null => {
  const parsed = parseAddress(address);
  return parsed.ok ? parsed.value.family : null;
};
