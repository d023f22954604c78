/**
 * One after the other: of those that wait, the one of the lowest rank is next, of equals whoever came first. Windows that
 * are stored beside each other rank by when they began. In the order in which they ask they would soon march in step, all
 * of them writing, then all of them deciding, and the database would rest while the thread works, and the reverse.
 */
export class Turns {
  readonly #waiting: { rank: number; begin: () => void }[] = [];
  #taken = false;

  async take<T>(rank: number, work: () => Promise<T>): Promise<T> {
    if (this.#taken) await new Promise<void>((begin) => this.#waiting.push({ rank, begin }));
    this.#taken = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** The turn goes from hand to hand: nobody who asks meanwhile gets in between. */
  #next(): void {
    const [first, ...others] = this.#waiting;
    const next = others.reduce((least, each) => (each.rank < (least?.rank ?? 0) ? each : least), first);
    if (!next) this.#taken = false;
    else {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.begin();
    }
  }
}
