import type { Clock } from '@rollcall/shared/clock';
import { parseAddress } from '@rollcall/shared/ip';

/** Packets per second, or no limit at all (laboratory). */
export type Rate = number | 'max';

export interface PaceSettings {
  /** Ceiling of the whole collector, from the profile. */
  rate: Rate;
  /** Ceiling into one /24 (IPv6: /64). */
  ratePerNet: Rate;
  /** The site administrator's cap; nothing exceeds it, `max` included. */
  cap?: number;
}

/** Longest burst after a pause: what would have been sent in this time. Covers the jitter of timers. */
const BURST_MS = 25;
/** Waits below this are not worth a timer: the debt stays in the bucket and is waited for later. */
const LEAST_WAIT_MS = 1;
/** Networks remembered; those idle for a burst are as good as new and are forgotten first. */
const MAX_NETS = 8192;

/** Loss is judged once so many requests have been accounted for. */
const JUDGE_AFTER = 50;
/** Loss is judged this often at most. */
const JUDGE_MS = 1000;
const LOSS_LIMIT = 0.15;
/** Growth per judgement without loss, as part of the ceiling. */
const GROWTH = 0.05;
/** Loss that does not go away with the rate is the network's own: never slower than this part of the ceiling. */
const FLOOR = 1 / 8;

/**
 * How fast packets may leave: a token bucket for the collector and one for each /24 (IPv6: /64), shared by all sweeps
 * so that they run fairly beside each other. Follows loss: halves when a seventh of the requests or more is lost, grows
 * back by a twentieth of the ceiling a second. Buckets are kept as the time until which they are spoken for (GCRA,
 * ITU-T I.371): one number each.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #ceiling: number;
  readonly #perNet: number;
  readonly #nets = new Map<string, number>();
  #rate: number;
  #until = Number.NEGATIVE_INFINITY;
  #answered = 0;
  #lost = 0;
  #judgedAt: number;

  constructor(settings: PaceSettings, clock: Clock) {
    const cap = settings.cap ?? Number.POSITIVE_INFINITY;
    this.#ceiling = Math.min(perSecond(settings.rate), cap);
    this.#perNet = Math.min(perSecond(settings.ratePerNet), this.#ceiling);
    if (!(this.#ceiling >= 1 && this.#perNet >= 1)) {
      throw new RangeError('a rate is at least one packet per second');
    }
    this.#rate = this.#ceiling;
    this.#clock = clock;
    this.#judgedAt = clock.monotonic();
  }

  /** True when nothing is ever waited for, so that `take` need not be asked. */
  get free(): boolean {
    return this.#ceiling === Number.POSITIVE_INFINITY && this.#perNet === Number.POSITIVE_INFINITY;
  }

  /** The present rate, packets per second. */
  get rate(): Rate {
    return this.#rate === Number.POSITIVE_INFINITY ? 'max' : this.#rate;
  }

  /** Reserves `count` packets to an address; a promise when they have to wait. First come, first served. */
  take(count: number, address: string): Promise<void> | void {
    if (this.free) return;
    const now = this.#clock.monotonic();
    this.#until = reserve(this.#until, now, count, this.#rate);
    let wait = this.#until - BURST_MS - now;
    if (this.#perNet < Number.POSITIVE_INFINITY) {
      const net = netOf(address);
      const until = reserve(this.#nets.get(net) ?? Number.NEGATIVE_INFINITY, now, count, this.#perNet);
      if (!this.#nets.has(net) && this.#nets.size >= MAX_NETS) this.#forget(now);
      this.#nets.set(net, until);
      wait = Math.max(wait, until - BURST_MS - now);
    }
    if (wait >= LEAST_WAIT_MS) return this.#clock.sleep(wait);
  }

  /** Reports what became of requests: answered, or known to be lost (a later attempt was answered, a buffer ran over). */
  report(answered: number, lost: number): void {
    this.#answered += answered;
    this.#lost += lost;
    const total = this.#answered + this.#lost;
    const now = this.#clock.monotonic();
    if (this.#ceiling === Number.POSITIVE_INFINITY || total < JUDGE_AFTER || now - this.#judgedAt < JUDGE_MS)
      return;
    if (this.#lost / total >= LOSS_LIMIT) {
      this.#rate = Math.max(this.#rate / 2, this.#ceiling * FLOOR, 1);
      this.#answered = 0;
      this.#lost = 0;
    } else {
      this.#rate = Math.min(this.#rate + this.#ceiling * GROWTH, this.#ceiling);
      // A loss shows a timeout later than the answers sent beside it: they still count, half as much each time.
      this.#answered /= 2;
      this.#lost /= 2;
    }
    this.#judgedAt = now;
  }

  #forget(now: number): void {
    for (const [net, until] of this.#nets) if (until <= now) this.#nets.delete(net);
    // All of them are busy: the oldest entries lose their debt rather than memory its bound.
    for (const net of this.#nets.keys()) {
      if (this.#nets.size < MAX_NETS) break;
      this.#nets.delete(net);
    }
  }
}

const perSecond = (rate: Rate): number => (rate === 'max' ? Number.POSITIVE_INFINITY : rate);

/** Time until which a bucket is spoken for after `count` more packets. */
const reserve = (until: number, now: number, count: number, rate: number): number =>
  Math.max(until, now) + (count * 1000) / rate;

/** The /24 or /64 of canonical address text. */
const netOf = (address: string): string => {
  if (!address.includes(':')) return address.slice(0, address.lastIndexOf('.'));
  const parsed = parseAddress(address);
  return parsed.ok ? (parsed.value.value >> 64n).toString(36) : address;
};
