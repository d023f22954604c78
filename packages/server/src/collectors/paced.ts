import type { Clock } from '@rollcall/shared/clock';

/** Runs a task when asked to, but not more often than every `ms`: what is asked for in between is done once, later. */
export class Paced {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #task: () => void;
  #ranAt = Number.NEGATIVE_INFINITY;
  #waiting = false;

  constructor(ms: number, clock: Clock, signal: AbortSignal, task: () => void) {
    this.#ms = ms;
    this.#clock = clock;
    this.#signal = signal;
    this.#task = task;
  }

  run(): void {
    if (this.#waiting) return;
    const wait = this.#ranAt + this.#ms - this.#clock.monotonic();
    if (wait <= 0) {
      this.#go();
      return;
    }
    this.#waiting = true;
    this.#clock.sleep(wait, this.#signal).then(
      () => this.#go(),
      () => undefined,
    );
  }

  #go(): void {
    this.#waiting = false;
    this.#ranAt = this.#clock.monotonic();
    this.#task();
  }
}
