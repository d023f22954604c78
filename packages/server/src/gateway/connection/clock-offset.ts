/**
 * How far a collector's clock is from ours. A sample is a time of theirs that was named somewhere within a round trip
 * that we measured; the tightest recent one counts, until one that contradicts it shows that a clock was set.
 */

interface Sample {
  offsetMs: number;
  /** The true offset lies within ± this. */
  errorMs: number;
}

const KEPT = 8;
/** Two samples this far apart still agree: clocks drift a little between them. */
const DRIFT_MS = 250;

export class ClockOffset {
  #samples: Sample[] = [];

  /** @param theirs named by them, @param received when it came here, @param roundTripMs the exchange took at most. */
  add(theirs: number, received: number, roundTripMs: number): void {
    const errorMs = Math.max(0, roundTripMs) / 2;
    const sample = { offsetMs: received - errorMs - theirs, errorMs };
    const best = this.#best();
    if (best && Math.abs(best.offsetMs - sample.offsetMs) > best.errorMs + errorMs + DRIFT_MS)
      this.#samples = [];
    this.#samples = [...this.#samples.slice(1 - KEPT), sample];
  }

  /** Our clock minus theirs, milliseconds; 0 before the first sample. */
  get offsetMs(): number {
    return Math.round(this.#best()?.offsetMs ?? 0);
  }

  #best(): Sample | undefined {
    return this.#samples.toSorted((a, b) => a.errorMs - b.errorMs)[0];
  }
}
