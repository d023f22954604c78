/** At once at first, and never fewer than LEAST: below it the process would wait for the network. */
const FIRST = 64;
const LEAST = 32;
/** What waits for a slow agent costs a timer and some memory, so the most is bounded by memory. */
const MOST = 256;
/** Loss is judged once so many requests have been accounted for. */
const JUDGE_AFTER = 50;
const LOSS_LIMIT = 0.15;
/** From this part of its time spent working, the process itself is what is waited for. */
const BUSY = 0.9;

/**
 * How many agents are read at once. Grows by half while the process waits for the network (latency is what it
 * costs), shrinks by a fifth while the process is the slowest part (more at once would only hold more in memory), and
 * halves when a seventh of the requests is lost.
 */
export class AdaptiveConcurrency {
  #present = FIRST;
  #answered = 0;
  #lost = 0;

  get present(): number {
    return this.#present;
  }

  /** Requests answered, and requests known to be lost. */
  report(answered: number, lost: number): void {
    this.#answered += answered;
    this.#lost += lost;
  }

  /** Judges the time since the last call, in which the process worked this part (0–1); answers the concurrency from now on. */
  judge(busy: number): number {
    const total = this.#answered + this.#lost;
    if (total >= JUDGE_AFTER && this.#lost / total >= LOSS_LIMIT) this.#present /= 2;
    else this.#present *= busy >= BUSY ? 0.8 : 1.5;
    if (total >= JUDGE_AFTER) {
      this.#answered = 0;
      this.#lost = 0;
    }
    this.#present = Math.min(MOST, Math.max(LEAST, Math.round(this.#present)));
    return this.#present;
  }
}
