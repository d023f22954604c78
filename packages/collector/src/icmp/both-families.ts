import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import { type Echo, type EchoCounts, noCounts } from './echo.ts';

/** One Echo over several, by the family of each address. */
export class BothFamilies implements Echo {
  readonly batch: number;
  readonly #space: AddressSpace;
  readonly #echoes: ReadonlyMap<Family, Echo>;

  constructor(space: AddressSpace, echoes: ReadonlyMap<Family, Echo>) {
    this.#space = space;
    this.#echoes = echoes;
    this.batch = Math.min(...[...echoes.values()].map(({ batch }) => batch));
  }

  get counts(): EchoCounts {
    const sum = noCounts();
    for (const { counts } of this.#echoes.values()) {
      sum.sent += counts.sent;
      sum.received += counts.received;
      sum.overflow += counts.overflow;
      addTo(sum.failed, counts.failed);
      addTo(sum.wrong, counts.wrong);
    }
    return sum;
  }

  /** Sends runs of one family at a time, so that what is left over is always the tail of `indexes`. */
  send(indexes: Uint32Array, attempts: Uint8Array): number {
    let from = 0;
    while (from < indexes.length) {
      const family = this.#space.familyAt(indexes[from] ?? 0);
      let to = from + 1;
      while (to < indexes.length && this.#space.familyAt(indexes[to] ?? 0) === family) to += 1;
      const done =
        this.#echoes.get(family)?.send(indexes.subarray(from, to), attempts.subarray(from, to)) ?? 0;
      from += done;
      if (from < to) break;
    }
    return from;
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
