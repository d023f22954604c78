/**
 * How many traps are taken: so many a second of each source, so many of all. What is dropped is counted, and the newest
 * one dropped is kept: it is reported when there is room again, with the count, so that the last state of a storm is known.
 */

export interface LimitSettings {
  /** Traps of one source, per second and at once. */
  perSecond: number;
  burst: number;
  /** Monitored devices that are counted separately. */
  sources: number;
  /** Other sources that are accepted at a time: anybody can send in any name, and each is an event. */
  unknownSources: number;
  /** Traps of all sources, per second and at once. */
  allPerSecond: number;
  allBurst: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

interface Source<Held> extends Bucket {
  dropped: number;
  held: Held | null;
}

export type Admission =
  /** `dropped` of this source since the last one that was let in. */
  { ok: true; dropped: number } | { ok: false; reason: 'source-rate' | 'rate' | 'sources' };

/** A source that was quiet for this long is forgotten when room is needed. */
const QUIET_MS = 60_000;

export class Limit<Held> {
  readonly #settings: LimitSettings;
  readonly #watched = new Map<string, Source<Held>>();
  readonly #unknown = new Map<string, Source<Held>>();
  readonly #all: Bucket;

  constructor(settings: LimitSettings, now: number) {
    this.#settings = settings;
    this.#all = { tokens: settings.allBurst, at: now };
  }

  /** `known`: a watched device, for which there is always a place. */
  admit(address: string, known: boolean, held: Held, now: number): Admission {
    const { perSecond, burst, allPerSecond, allBurst } = this.#settings;
    const source = this.#place(address, known, now);
    if (!source) return { ok: false, reason: 'sources' };
    const reason = !spend(source, perSecond, burst, now)
      ? 'source-rate'
      : !spend(this.#all, allPerSecond, allBurst, now)
        ? 'rate'
        : null;
    if (reason) {
      source.dropped += 1;
      source.held = held;
      return { ok: false, reason };
    }
    const { dropped } = source;
    source.dropped = 0;
    source.held = null;
    return { ok: true, dropped };
  }

  /** The newest dropped ones for which there is room by now, with how many were dropped besides. */
  due(now: number): { address: string; held: Held; dropped: number }[] {
    const { perSecond, burst, allPerSecond, allBurst } = this.#settings;
    const found: { address: string; held: Held; dropped: number }[] = [];
    for (const [address, source] of [...this.#watched, ...this.#unknown]) {
      if (source.held === null) continue;
      if (!spend(source, perSecond, burst, now)) continue;
      if (!spend(this.#all, allPerSecond, allBurst, now)) break;
      found.push({ address, held: source.held, dropped: source.dropped - 1 });
      source.held = null;
      source.dropped = 0;
    }
    return found;
  }

  get size(): number {
    return this.#watched.size + this.#unknown.size;
  }

  /** Its place, or a new one; null where there is none. In the order of use: the one quiet for longest stands first. */
  #place(address: string, known: boolean, now: number): Source<Held> | null {
    const [own, other] = known ? [this.#watched, this.#unknown] : [this.#unknown, this.#watched];
    const there = own.get(address);
    if (there) own.delete(address);
    else if (!this.#hasRoom(own, known, now)) return null;
    // What is monitored only now, or no more, keeps its count.
    const source = there ??
      other.get(address) ?? { tokens: this.#settings.burst, at: now, dropped: 0, held: null };
    other.delete(address);
    own.set(address, source);
    return source;
  }

  #hasRoom(own: Map<string, Source<Held>>, known: boolean, now: number): boolean {
    const { sources, unknownSources } = this.#settings;
    if (own.size < (known ? sources : unknownSources)) return true;
    const [oldest] = own;
    const quiet = oldest && now - oldest[1].at > QUIET_MS && oldest[1].held === null;
    if (!oldest || (!quiet && !known)) return false;
    own.delete(oldest[0]);
    return true;
  }
}

/** Takes one token; false when there is none. */
function spend(bucket: Bucket, perSecond: number, burst: number, now: number): boolean {
  const tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
  bucket.tokens = tokens >= 1 ? tokens - 1 : tokens;
  return tokens >= 1;
}
