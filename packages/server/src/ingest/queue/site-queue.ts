import { ofStreams, type Stream } from '@rollcall/shared/observation';

/** Of one site: one window that is stored, and one that is read meanwhile. */
const OF_A_SITE = 2;
/**
 * Windows of each stream at once. Each has a connection while it is stored, also while it waits for a lock. Samples wait for
 * no lock and keep the thread busy by themselves, which an event shares with them: with six of them at once, ten collectors
 * that bring an hour of samples delayed events by 1.7 s (95th percentile), and stored no more in a second than with three.
 */
export const WINDOWS: Record<Stream, number> = { event: 6, state: 6, sample: 3 };

/**
 * The one queue of ingest: so many pieces of work at once, of which a site has two at most. Next is what waits longest
 * among those of whose site the fewest are at work, so that a site that sends much, or that waits for a lock, takes its
 * own places and nobody else's.
 */
export class SiteQueue {
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
    let [first, least] = [-1, OF_A_SITE];
    for (const [i, { site }] of this.#waiting.entries()) {
      const load = this.#atWork.get(site) ?? 0;
      if (load < least) [first, least] = [i, load];
      if (load === 0) break;
    }
    if (first < 0) return;
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

/**
 * The queue in front of what stores: so many windows of each stream at once, because an event waits for no backlog of
 * state, whosever, and neither for one of samples.
 */
export function openSiteQueue(windows: Record<Stream, number>) {
  const queues = ofStreams((stream) => new SiteQueue(windows[stream]));
  return <T>({ stream, siteId }: { stream: Stream; siteId: string }, work: () => Promise<T>): Promise<T> =>
    queues[stream].take(siteId, work);
}
