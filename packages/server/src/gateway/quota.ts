import type { Clock } from '@rollcall/shared/clock';

export interface QuotaRule {
  /** At once. */
  burst: number;
  /** From then on. */
  perSecond: number;
}

/** How much may come how fast: a bucket that holds `burst` and fills with `perSecond`. */
export class Quota {
  readonly #rule: QuotaRule;
  readonly #clock: Clock;
  #left: number;
  #at: number;

  constructor(rule: QuotaRule, clock: Clock) {
    this.#rule = rule;
    this.#clock = clock;
    this.#left = rule.burst;
    this.#at = clock.monotonic();
  }

  /** Takes one if there is one. */
  take(): boolean {
    this.#fill();
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Puts one back: it did not count after all. */
  give(): void {
    this.#left = Math.min(this.#rule.burst, this.#left + 1);
  }

  /** Seconds until there is one again. */
  get wait(): number {
    return Math.max(0, (1 - this.#left) / this.#rule.perSecond);
  }

  /** Whether nothing was taken for so long that it might as well be a new one. */
  get full(): boolean {
    this.#fill();
    return this.#left >= this.#rule.burst;
  }

  #fill(): void {
    const now = this.#clock.monotonic();
    const { burst, perSecond } = this.#rule;
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
  }
}

const KEYS_MOST = 10_000;

/** A quota per key, for so many keys; beyond, full ones are forgotten first, then the oldest. */
export class KeyedQuota {
  readonly #rule: QuotaRule;
  readonly #clock: Clock;
  readonly #quotas = new Map<string, Quota>();

  constructor(rule: QuotaRule, clock: Clock) {
    this.#rule = rule;
    this.#clock = clock;
  }

  /** Takes one of the key's; answers 0, or the seconds to wait. */
  take(key: string): number {
    const quota = this.#quotas.get(key) ?? this.#add(key);
    return quota.take() ? 0 : Math.max(quota.wait, 0.001);
  }

  give(key: string): void {
    this.#quotas.get(key)?.give();
  }

  #add(key: string): Quota {
    if (this.#quotas.size >= KEYS_MOST) this.#forget();
    const quota = new Quota(this.#rule, this.#clock);
    this.#quotas.set(key, quota);
    return quota;
  }

  #forget(): void {
    for (const [key, quota] of this.#quotas) if (quota.full) this.#quotas.delete(key);
    for (const key of this.#quotas.keys()) {
      if (this.#quotas.size < KEYS_MOST) return;
      this.#quotas.delete(key);
    }
  }
}
