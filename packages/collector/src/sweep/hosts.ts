/**
 * Hosts that answered and are told of. A host is told of as soon as what SNMP says of it is known, or after HOLD_MS
 * without that word: whoever waits for a scan sees life at once, and most hosts are still told of only once.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { HostObservation } from '@rollcall/shared/observation';

/**
 * How long the word of SNMP is waited for: some credentials in a row take seconds. Told too early, a further address of
 * a router would stand in the inventory as a device of its own until the router is read.
 */
const HOLD_MS = 10_000;
/** How often is looked for hosts whose wait is over. */
const LOOK_MS = 50;

interface Held {
  /** Absent: it did not answer ICMP, or was not asked. */
  rttMs: number | undefined;
  snmp: HostObservation['snmp'];
  since: number;
  told: boolean;
}

/** What is told of a host besides its life. */
type Told = Pick<HostObservation, 'hostname' | 'aliasOf' | 'unread'>;

export interface HostDeps {
  clock: Clock;
  job: string | undefined;
  addressOf: (index: number) => string;
  macOf: (address: string) => string | undefined;
  observe: (host: HostObservation) => void;
}

export class Hosts {
  readonly #deps: HostDeps;
  readonly #held = new Map<number, Held>();
  readonly #stop: () => void;
  /** Held ones not told of yet, oldest first. */
  readonly #untold = new Set<number>();
  #any = false;

  constructor(deps: HostDeps) {
    this.#deps = deps;
    this.#stop = deps.clock.every(LOOK_MS, () => this.#tellOverdue());
  }

  /** An address answered ICMP and will be asked by SNMP. The first of a sweep is told of at once. */
  answered(index: number, rttMs: number): void {
    const first = !this.#any;
    this.#any = true;
    this.#hold(index, { rttMs, snmp: 'not-asked', told: first });
    if (first) this.#tell(index, 'not-asked', rttMs);
  }

  /** An SNMP agent is there and is being read, which may take a while. */
  isAgent(index: number): void {
    const held = this.#held.get(index);
    if (held) held.snmp = 'answered';
    else this.#hold(index, { rttMs: undefined, snmp: 'answered', told: false });
  }

  /** A device is told of instead. */
  isTold(index: number): void {
    this.#held.delete(index);
    this.#untold.delete(index);
  }

  #hold(index: number, held: Omit<Held, 'since'>): void {
    this.#held.set(index, { ...held, since: this.#deps.clock.monotonic() });
    if (!held.told) this.#untold.add(index);
  }

  /** Round trip of an address that answered ICMP and is not settled yet. */
  rttOf(index: number): number | undefined {
    return this.#held.get(index)?.rttMs;
  }

  /** What SNMP says is known; the host is told of unless just that was told already. */
  settle(index: number, snmp: HostObservation['snmp'], rttMs: number | undefined, more: Told = {}): void {
    const held = this.#held.get(index);
    this.isTold(index);
    if (held?.told && snmp === 'not-asked' && more.hostname === undefined) return;
    this.#tell(index, snmp, held?.rttMs ?? rttMs, more);
  }

  #tell(
    index: number,
    snmp: HostObservation['snmp'],
    rttMs: number | undefined,
    { hostname, aliasOf, unread }: Told = {},
  ): void {
    const { clock, job, addressOf, macOf, observe } = this.#deps;
    const address = addressOf(index);
    const mac = macOf(address);
    observe({
      kind: 'host',
      ...(job === undefined ? {} : { job }),
      at: clock.now(),
      address,
      ...(rttMs === undefined ? {} : { rttMs }),
      snmp,
      ...(mac === undefined ? {} : { mac }),
      ...(hostname === undefined ? {} : { hostname }),
      ...(aliasOf === undefined ? {} : { aliasOf }),
      ...(unread === undefined ? {} : { unread }),
    });
  }

  stop(): void {
    this.#stop();
  }

  #tellOverdue(): void {
    const before = this.#deps.clock.monotonic() - HOLD_MS;
    for (const index of this.#untold) {
      const held = this.#held.get(index);
      if (held && held.since > before) break;
      this.#untold.delete(index);
      if (!held) continue;
      held.told = true;
      this.#tell(index, held.snmp, held.rttMs);
    }
  }
}
