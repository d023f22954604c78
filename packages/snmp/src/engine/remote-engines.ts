import { RemoteEngine } from '../message/usm.ts';

/** The SNMPv3 engines met so far, by address and port; the one met longest ago is forgotten first. */
export class RemoteEngines {
  readonly #most: number;
  readonly #engines = new Map<string, RemoteEngine>();

  constructor(most: number) {
    this.#most = most;
  }

  get(address: string, port: number): RemoteEngine | null {
    return this.#engines.get(`${address}|${port}`) ?? null;
  }

  /** Notes what an agent claims of itself. A known engine keeps the clock of authentic messages. */
  learn(address: string, port: number, id: Buffer, boots: number, time: number, now: number): RemoteEngine {
    const key = `${address}|${port}`;
    const known = this.#engines.get(key);
    if (known?.id.equals(id)) {
      known.hint(boots, time, now);
      return known;
    }
    const engine = new RemoteEngine(id, boots, time, now);
    this.#engines.delete(key);
    this.#engines.set(key, engine);
    if (this.#engines.size > this.#most) {
      const [oldest] = this.#engines.keys();
      if (oldest !== undefined) this.#engines.delete(oldest);
    }
    return engine;
  }
}
