/** Whether what collectors send is stored, which is what a server is for: the sign of life says so. */
import type { Clock } from '@rollcall/shared/clock';
import { Problem } from '../platform/problem.ts';
import type { Stored, WaitingBatches } from '../ports.ts';

/** Nothing stored for so long, and refused since: a restart or a failover of the database is over by then. */
const REFUSED_MS = 30_000;
/** Collectors try again all the time: without a refusal for so long nobody wants anything stored. */
const FORGOTTEN_MS = 60_000;

export class Storing {
  readonly #clock: Clock;
  /** Since the last success: the first refusal, the last one, and why. */
  #refused: { first: number; last: number; why: string } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Stores by `take`, and notes what becomes of it. Where nothing is given to be stored, nothing was refused. */
  async watch(waiting: WaitingBatches, take: (waiting: WaitingBatches) => Promise<Stored>): Promise<Stored> {
    let given = true;
    const gather = () => {
      given = false;
      const batches = waiting.gather();
      given = true;
      return batches;
    };
    try {
      const stored = await take({ ...waiting, gather });
      this.#refused = null;
      return stored;
    } catch (error) {
      if (given && isOurs(error)) this.#note(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Why nothing can be stored, for longer than a failover takes; null when that is not so. */
  refusal(): string | null {
    const now = this.#clock.monotonic();
    if (this.#refused === null || now - this.#refused.last >= FORGOTTEN_MS) return null;
    const { first, why } = this.#refused;
    return now - first < REFUSED_MS ? null : `nothing is stored since ${seconds(now - first)} s: ${why}`;
  }

  #note(why: string): void {
    const now = this.#clock.monotonic();
    const before = this.#refused;
    const first = before !== null && now - before.last < FORGOTTEN_MS ? before.first : now;
    this.#refused = { first, last: now, why };
  }
}

/** A batch that cannot be read is its sender's fault. */
const isOurs = (error: unknown): boolean => !(error instanceof Problem) || error.code === 'unavailable';

const seconds = (ms: number): number => Math.round(ms / 1000);
