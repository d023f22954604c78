/** Answers may grow to about this many octets: beyond it they are many fragments, and slow to make. */
const ENOUGH_OCTETS = 12_000;
/** An answer that takes longer than this is not asked to be bigger, milliseconds. */
const SLOW_MS = 500;
const MOST_REPETITIONS = 100;
/** First requests aim at this many varbinds. */
const FIRST_VARBINDS = 100;
const FIRST_REPETITIONS = 25;
/** Good answers before a size that failed is tried again; doubles with every failure. */
const PROBATION = 4;

/**
 * How many rows and columns the next request asks for. Grows while answers come whole, fast and small; shrinks when
 * the agent says tooBig, cuts its answer or is silent, because agents and paths that lose large answers do so silently.
 */
export class RequestSize {
  readonly #allColumns: number;
  readonly #most: number;
  #columns: number;
  #repetitions: number;
  #ceiling: number;
  #good = 0;
  #probation = PROBATION;

  /** `bulk` false: one row at a time, whatever happens. `rows`: how many are expected, if anybody knows. */
  constructor(columns: number, bulk: boolean, rows?: number) {
    this.#allColumns = columns;
    this.#columns = columns;
    this.#most = bulk ? MOST_REPETITIONS : 1;
    this.#ceiling = this.#most;
    const first = Math.min(
      FIRST_REPETITIONS,
      rows === undefined ? Math.floor(FIRST_VARBINDS / columns) : rows + 1,
    );
    this.#repetitions = Math.min(this.#most, Math.max(1, first));
  }

  get repetitions(): number {
    return this.#repetitions;
  }

  get columns(): number {
    return this.#columns;
  }

  /** Every row that was asked for came. */
  whole(octets: number, rttMs: number): void {
    this.#good += 1;
    if (this.#good >= this.#probation) {
      this.#good = 0;
      this.#ceiling = Math.min(this.#most, this.#ceiling * 2);
      this.#columns = Math.min(this.#allColumns, this.#columns * 2);
    }
    const affordable = Math.max(1, Math.floor((this.#repetitions * ENOUGH_OCTETS) / Math.max(1, octets)));
    const grown = rttMs > SLOW_MS ? this.#repetitions : this.#repetitions * 2;
    this.#repetitions = Math.min(grown, affordable, this.#ceiling);
  }

  /** The agent cut its answer in the `rows`-th row: that is what it can carry. */
  cut(rows: number): void {
    this.#limit(Math.max(1, rows));
  }

  /** The answer was too big, did not come, or made no sense. False when less cannot be asked for. */
  shrink(): boolean {
    if (this.#repetitions > 1) this.#limit(this.#repetitions >> 1);
    else if (this.#columns > 1) this.#columns = Math.ceil(this.#columns / 2);
    else return false;
    this.#probation *= 2;
    return true;
  }

  #limit(repetitions: number): void {
    this.#repetitions = Math.min(repetitions, this.#most);
    this.#ceiling = this.#repetitions;
    this.#good = 0;
  }
}
