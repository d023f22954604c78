/** A batch that the database refuses, taken apart until what it refuses stands alone: the stream goes on. */
import { sqlState } from '../../platform/db/db.ts';
import { Problem } from '../../platform/problem.ts';
import { toDeadLetter, type UnreadItem } from '../items.ts';

/** Transactions of one batch that may fail: enough for some odd items, not for a batch made of them. */
const FAILED_MOST = 64;

/**
 * Counts faults of our own code since anything was stored. One is the fault of an odd observation, which becomes a dead letter; so
 * many in a row are a fault of this build, and then nothing more is taken until it is mended.
 */
export class Faults {
  static readonly #most = 10;
  #inARow = 0;

  stored(): void {
    this.#inARow = 0;
  }
  mayReject(): boolean {
    this.#inARow += 1;
    return this.#inARow <= Faults.#most;
  }
}

/** Stores items in one transaction; `stored`: not all of them as dead letters. */
type Store = (items: readonly UnreadItem[]) => Promise<{ through: number; stored: boolean }>;

/**
 * Stores one batch in one transaction. Where the database refuses it, it is halved until what is refused stands alone, and that
 * is kept as a dead letter with the reason. After `FAILED_MOST` attempts what fails is kept so at once, so that a
 * batch of nothing but bad items holds the place of its site for seconds, not for minutes.
 */
export class Splitting {
  readonly #faults: Faults;
  readonly #storeInOne: Store;
  #failed = 0;
  #deadLettered = 0;

  constructor(faults: Faults, storeInOne: Store) {
    this.#faults = faults;
    this.#storeInOne = storeInOne;
  }

  /** Answers the highest sequence of the stream that is committed, and how many items became dead letters. */
  async store(items: readonly UnreadItem[]): Promise<{ through: number; deadLettered: number }> {
    return { through: await this.#storeOrSplit(items), deadLettered: this.#deadLettered };
  }

  async #storeOrSplit(items: readonly UnreadItem[]): Promise<number> {
    try {
      return await this.#store(items);
    } catch (error) {
      if (!isPoison(error)) throw error;
      this.#failed += 1;
      if (items.length === 1 || this.#failed > FAILED_MOST) return this.#deadLetter(items, error);
      const middle = items.length >> 1;
      await this.#storeOrSplit(items.slice(0, middle));
      return this.#storeOrSplit(items.slice(middle));
    }
  }

  async #store(items: readonly UnreadItem[]): Promise<number> {
    const { through, stored } = await this.#storeInOne(items);
    if (stored) this.#faults.stored();
    return through;
  }

  #deadLetter(items: readonly UnreadItem[], error: Error): Promise<number> {
    const living = items.filter(({ dead }) => !dead);
    if (living.length === 0 || (sqlState(error) === undefined && !this.#faults.mayReject())) throw error;
    this.#deadLettered += living.length;
    const among = living.length > 1 ? ` (one or more of ${living.length} items)` : '';
    const asDeadLetter = (item: UnreadItem): UnreadItem => ({
      ...item,
      dead: item.dead ?? toDeadLetter(item.body, `not stored: ${error.message}${among}`),
    });
    return this.#store(items.map(asDeadLetter));
  }
}

/**
 * Whether an error is about the rows rather than about the database: bad data (22), a constraint (23), a limit (54), or
 * a fault of ours. Everything else, a missing column as much as a full disk, is cured by the person who runs the server; until
 * then the collector keeps what it has.
 */
function isPoison(error: unknown): error is Error {
  if (error instanceof Problem || !(error instanceof Error)) return false;
  const state = sqlState(error);
  return state === undefined || /^(22|23|54)/.test(state);
}
