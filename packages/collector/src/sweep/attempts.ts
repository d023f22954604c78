import type { Clock } from '@rollcall/shared/clock';
import type { Attempts } from '@rollcall/snmp/discover';

const DAY_MS = 86_400_000;
/** Addresses remembered; beyond it those that failed longest ago are forgotten. */
const REMEMBERED = 100_000;

/**
 * Failed authentications per address within a day and since the last that was accepted, over all jobs: no device is to lock
 * the scanner out, or to be woken by it again and again.
 */
export class AttemptBook {
  readonly #clock: Clock;
  readonly #spent = new Map<string, { since: number; count: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The view of a sweep that may spend `most` a day on an address. */
  within(most: number): Attempts {
    return {
      left: (address) => most - (this.#current(address)?.count ?? 0),
      spend: (address) => this.#spend(address),
      accepted: (address) => void this.#spent.delete(address),
    };
  }

  #current(address: string): { since: number; count: number } | undefined {
    const entry = this.#spent.get(address);
    return entry && this.#clock.monotonic() - entry.since < DAY_MS ? entry : undefined;
  }

  #spend(address: string): void {
    const entry = this.#current(address) ?? { since: this.#clock.monotonic(), count: 0 };
    this.#spent.delete(address);
    this.#spent.set(address, { since: entry.since, count: entry.count + 1 });
    for (const oldest of this.#spent.keys()) {
      if (this.#spent.size <= REMEMBERED) break;
      this.#spent.delete(oldest);
    }
  }
}
