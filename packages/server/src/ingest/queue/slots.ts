/**
 * So many pieces of work at once. Next is what waits longest among those of whose site the fewest are at work: two windows of
 * one site would hold two slots, and the second waits for the first all the time.
 */
export class Slots {
  readonly #most: number;
  readonly #waiting: { site: string; begin: () => void }[] = [];
  /** Site → pieces at work, of those that have any. */
  readonly #atWork = new Map<string, number>();
  #busy = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async take<T>(site: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ site, begin });
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#count(site, -1);
      this.#next();
    }
  }

  #next(): void {
    if (this.#busy >= this.#most) return;
    let [first, least] = [0, Number.POSITIVE_INFINITY];
    for (const [i, { site }] of this.#waiting.entries()) {
      const load = this.#atWork.get(site) ?? 0;
      if (load < least) [first, least] = [i, load];
      if (load === 0) break;
    }
    const [next] = this.#waiting.splice(first, 1);
    if (!next) return;
    this.#count(next.site, 1);
    next.begin();
  }

  #count(site: string, by: number): void {
    this.#busy += by;
    const left = (this.#atWork.get(site) ?? 0) + by;
    if (left > 0) this.#atWork.set(site, left);
    else this.#atWork.delete(site);
  }
}
