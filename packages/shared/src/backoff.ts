import type { Clock } from './clock.ts';

export interface BackoffSettings {
  /** Upper bound of the first wait, milliseconds. */
  first: number;
  /** Upper bound of every wait, milliseconds. */
  most: number;
}

/**
 * Full-jitter exponential back-off: the n-th wait is uniform in [0, min(most, first × 2ⁿ)].
 * Full jitter spreads a crowd that lost its server at the same moment.
 */
export class Backoff {
  readonly #settings: BackoffSettings;
  readonly #random: () => number;
  #attempt = 0;
  constructor(settings: BackoffSettings, random: () => number = Math.random) {
    this.#settings = settings;
    this.#random = random;
  }
  /** The next wait in milliseconds; each call counts as one more failure. */
  next(): number {
    const ceiling = Math.min(this.#settings.most, this.#settings.first * 2 ** Math.min(this.#attempt, 30));
    this.#attempt += 1;
    return Math.floor(this.#random() * ceiling);
  }
  /** Waits the next interval. */
  wait(clock: Clock, signal?: AbortSignal): Promise<void> {
    return clock.sleep(this.next(), signal);
  }
  reset(): void {
    this.#attempt = 0;
  }
}
