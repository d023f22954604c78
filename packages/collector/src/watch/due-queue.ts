/** What is due when: a binary heap, because ten thousand devices keep three appointments each. */
export class DueQueue<Item> {
  readonly #times: number[] = [];
  readonly #items: Item[] = [];

  get size(): number {
    return this.#times.length;
  }

  /** When the earliest is due; Infinity when there is none. */
  get next(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  add(time: number, item: Item): void {
    let at = this.#times.length;
    this.#times.push(time);
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#times[parent] as number) <= time) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Takes the earliest one that is due by now; undefined when none is. */
  take(now: number): { time: number; item: Item } | undefined {
    const time = this.#times[0];
    const item = this.#items[0];
    if (time === undefined || item === undefined || time > now) return undefined;
    const last = this.#times.length - 1;
    this.#swap(0, last);
    this.#times.pop();
    this.#items.pop();
    this.#sink();
    return { time, item };
  }

  #sink(): void {
    const times = this.#times;
    for (let at = 0; ; ) {
      const left = at * 2 + 1;
      if (left >= times.length) return;
      const right = left + 1;
      const child = right < times.length && (times[right] as number) < (times[left] as number) ? right : left;
      if ((times[at] as number) <= (times[child] as number)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #swap(a: number, b: number): void {
    const [time, item] = [this.#times[a] as number, this.#items[a] as Item];
    this.#times[a] = this.#times[b] as number;
    this.#items[a] = this.#items[b] as Item;
    this.#times[b] = time;
    this.#items[b] = item;
  }
}

/** The first moment after `now` on a grid of `interval` that begins at `phase` (0 … 1) of it: spreads by hash. */
export function onGrid(now: number, interval: number, phase: number): number {
  const offset = phase * interval;
  return Math.floor((now - offset) / interval + 1) * interval + offset;
}

/** A number of 0 … 1 that is always the same for a text. */
export function phaseOf(text: string): number {
  let value = 0x811c_9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x0100_0193);
  value = Math.imul(value ^ (value >>> 15), 0x85eb_ca6b);
  return ((value ^ (value >>> 13)) >>> 0) / 2 ** 32;
}
