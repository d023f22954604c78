/** Items that end when a signal aborts, with one listener per signal however many they are. */
export class Aborts<Item> {
  readonly #end: (item: Item) => void;
  readonly #groups = new Map<AbortSignal, { items: Set<Item>; abort: () => void }>();

  constructor(end: (item: Item) => void) {
    this.#end = end;
  }

  follow(signal: AbortSignal, item: Item): void {
    let group = this.#groups.get(signal);
    if (!group) {
      const items = new Set<Item>();
      const abort = () => {
        for (const each of [...items]) this.#end(each);
      };
      group = { items, abort };
      this.#groups.set(signal, group);
      signal.addEventListener('abort', abort, { once: true });
    }
    group.items.add(item);
  }

  forget(signal: AbortSignal, item: Item): void {
    const group = this.#groups.get(signal);
    group?.items.delete(item);
    if (!group || group.items.size > 0) return;
    this.#groups.delete(signal);
    signal.removeEventListener('abort', group.abort);
  }
}
