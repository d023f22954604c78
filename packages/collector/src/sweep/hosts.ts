/**
 * Reports hosts that answered. A host is reported as soon as its SNMP result is known, or after HOLD_MS without one: the
 * first results of a scan show at once, and most hosts are still reported only once.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { HostObservation } from '@rollcall/shared/observation';

/**
 * How long the SNMP result is waited for: some credentials in a row take seconds. Reported too early, a further address of
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
  reported: boolean;
}

/** What is reported of a host besides that it answers. */
type HostDetails = Pick<HostObservation, 'hostname' | 'aliasOf' | 'unread'>;

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
  /** Held ones not reported yet, oldest first. */
  readonly #unreported = new Set<number>();
  #any = false;

  constructor(deps: HostDeps) {
    this.#deps = deps;
    this.#stop = deps.clock.every(LOOK_MS, () => this.#reportOverdue());
  }

  /** An address answered ICMP and will be asked by SNMP. The first of a sweep is reported at once. */
  answered(index: number, rttMs: number): void {
    const first = !this.#any;
    this.#any = true;
    this.#hold(index, { rttMs, snmp: 'not-asked', reported: first });
    if (first) this.#report(index, 'not-asked', rttMs);
  }

  /** An SNMP agent is there and is being read, which may take a while. */
  isAgent(index: number): void {
    const held = this.#held.get(index);
    if (held) held.snmp = 'answered';
    else this.#hold(index, { rttMs: undefined, snmp: 'answered', reported: false });
  }

  /** A device is reported instead. */
  becameDevice(index: number): void {
    this.#held.delete(index);
    this.#unreported.delete(index);
  }

  #hold(index: number, held: Omit<Held, 'since'>): void {
    this.#held.set(index, { ...held, since: this.#deps.clock.monotonic() });
    if (!held.reported) this.#unreported.add(index);
  }

  /** Round trip of an address that answered ICMP and is not finished yet. */
  rttOf(index: number): number | undefined {
    return this.#held.get(index)?.rttMs;
  }

  /** The SNMP result is known; the host is reported unless exactly that was reported already. */
  finish(
    index: number,
    snmp: HostObservation['snmp'],
    rttMs: number | undefined,
    more: HostDetails = {},
  ): void {
    const held = this.#held.get(index);
    this.becameDevice(index);
    if (held?.reported && snmp === 'not-asked' && more.hostname === undefined) return;
    this.#report(index, snmp, held?.rttMs ?? rttMs, more);
  }

  #report(
    index: number,
    snmp: HostObservation['snmp'],
    rttMs: number | undefined,
    { hostname, aliasOf, unread }: HostDetails = {},
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

  #reportOverdue(): void {
    const before = this.#deps.clock.monotonic() - HOLD_MS;
    for (const index of this.#unreported) {
      const held = this.#held.get(index);
      if (held && held.since > before) break;
      this.#unreported.delete(index);
      if (!held) continue;
      held.reported = true;
      this.#report(index, held.snmp, held.rttMs);
    }
  }
}
