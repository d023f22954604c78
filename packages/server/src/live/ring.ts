/** The last changes, each with an id that a client can come back with. Bounded; what fell out is a resync. */
import type { LiveChange } from '@rollcall/shared/api/service';

export interface Entry {
  id: string;
  change: LiveChange;
  /** As every client is sent it, with the id. */
  text: string;
}

export class Ring {
  readonly #epoch: string;
  readonly #most: number;
  #entries: Entry[] = [];
  #weight = 0;
  /** Number of the last entry; ids are `epoch-number`. */
  #last = 0;
  /** Changes up to this number cannot be told again: they fell out, or may never have come. */
  #lost = 0;

  /**
   * @param epoch names this ring among those of other processes and earlier starts.
   * @param most bound of what is kept: each change weighs 1 and 1 for each id it names.
   */
  constructor(epoch: string, most: number) {
    this.#epoch = epoch;
    this.#most = most;
  }

  push(change: LiveChange): Entry {
    this.#last += 1;
    const id = this.lastId;
    const entry = { id, change, text: `id: ${id}\nevent: change\ndata: ${JSON.stringify(change)}\n\n` };
    this.#entries.push(entry);
    this.#weight += weightOf(change);
    while (this.#weight > this.#most) {
      const oldest = this.#entries.shift();
      if (!oldest) break;
      this.#weight -= weightOf(oldest.change);
      this.#lost += 1;
    }
    return entry;
  }

  /** Something may have been missed: nobody can resume from before now. */
  break(): void {
    this.#entries = [];
    this.#weight = 0;
    this.#last += 1;
    this.#lost = this.#last;
  }

  /** Id of now. */
  get lastId(): string {
    return `${this.#epoch}-${this.#last}`;
  }

  /** What came after an id, or null where that cannot be said. */
  since(id: string): Entry[] | null {
    const [epoch, number] = id.split('-');
    if (epoch !== this.#epoch || number === undefined || !/^\d{1,15}$/.test(number)) return null;
    const from = Number(number);
    if (from < this.#lost || from > this.#last) return null;
    return this.#entries.slice(this.#entries.length - (this.#last - from));
  }
}

const weightOf = ({ ids }: LiveChange): number => 1 + (ids?.length ?? 0);
