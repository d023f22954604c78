import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import { type Echo, type EchoCounts, noCounts } from './echo.ts';

/** One Echo over several, by the family of each address. */
export class BothFamilies implements Echo {
  readonly batch: number;
  readonly #space: AddressSpace;
  readonly #echoes: ReadonlyMap<Family, Echo>;
  readonly #run: Uint32Array;

  constructor(space: AddressSpace, echoes: ReadonlyMap<Family, Echo>) {
    this.#space = space;
    this.#echoes = echoes;
    this.batch = Math.min(...[...echoes.values()].map(({ batch }) => batch));
    this.#run = new Uint32Array(this.batch);
  }

  get counts(): EchoCounts {
    const sum = noCounts();
    for (const { counts } of this.#echoes.values()) {
      sum.sent += counts.sent;
      sum.received += counts.received;
      sum.overflow += counts.overflow;
      addTo(sum.failed, counts.failed);
      addTo(sum.wrong, counts.wrong);
      addTo(sum.errors, counts.errors);
    }
    return sum;
  }

  /** Sends runs of one family at a time, so that what is left over is always the tail of `indexes`. */
  send(indexes: Uint32Array, count: number, attempt: number): number {
    for (let from = 0; from < count; ) {
      const family = this.#space.familyAt(indexes[from] ?? 0);
      let length = 0;
      while (length < this.batch && from + length < count) {
        const index = indexes[from + length] ?? 0;
        if (this.#space.familyAt(index) !== family) break;
        this.#run[length] = index;
        length += 1;
      }
      const done = this.#echoes.get(family)?.send(this.#run, length, attempt) ?? 0;
      from += done;
      if (done < length) return from;
    }
    return count;
  }

  receive(): boolean {
    let more = false;
    for (const echo of this.#echoes.values()) more = echo.receive() || more;
    return more;
  }

  close(): void {
    for (const echo of this.#echoes.values()) echo.close();
  }
}

const addTo = (sum: Record<string, number>, part: Record<string, number>) => {
  for (const [key, value] of Object.entries(part)) sum[key] = (sum[key] ?? 0) + value;
};
