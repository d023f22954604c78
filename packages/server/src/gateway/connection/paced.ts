import type { Clock } from '@rollcall/shared/clock';

/** Runs a task when asked to, once at a time and not more often than every `ms`: what is asked for in between is done once, later. */
export class Paced {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #task: () => Promise<void>;
  #ranAt = Number.NEGATIVE_INFINITY;
  #waiting = false;
  #running: Promise<void> | undefined;

  constructor(ms: number, clock: Clock, signal: AbortSignal, task: () => Promise<void>) {
    this.#ms = ms;
    this.#clock = clock;
    this.#signal = signal;
    this.#task = task;
  }

  run(): void {
    if (this.#waiting) return;
    const wait = this.#ranAt + this.#ms - this.#clock.monotonic();
    if (wait <= 0 && !this.#running) {
      this.#go();
      return;
    }
    this.#waiting = true;
    Promise.all([this.#clock.sleep(Math.max(0, wait), this.#signal), this.#running]).then(
      () => this.#go(),
      () => undefined,
    );
  }

  #go(): void {
    this.#waiting = false;
    this.#ranAt = this.#clock.monotonic();
    this.#running = this.#task().finally(() => {
      this.#running = undefined;
    });
  }
}
