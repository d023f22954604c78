/**
 * When each chunk of a sweep is due for what. Chunks pass in order through the stages 0 … `last`: asked the first time
 * (0), the second (1), …, and the verdict (`last`, the number of tries); each enters its next stage a timeout after it
 * was last asked. Memory: one number per chunk.
 */
export class Stages {
  readonly last: number;
  readonly #chunks: number;
  readonly #timeoutMs: number;
  /** Next chunk of each stage; never beyond that of the stage before. */
  readonly #next: Uint32Array;
  readonly #askedAt: Float64Array;

  constructor(chunks: number, tries: number, timeoutMs: number) {
    this.last = tries;
    this.#chunks = chunks;
    this.#timeoutMs = timeoutMs;
    this.#next = new Uint32Array(tries + 1);
    this.#askedAt = new Float64Array(chunks);
  }

  /** The stage to work on now, the latest first so that what is begun is brought to an end; null when all wait. */
  due(now: number): number | null {
    for (let stage = this.last; stage > 0; stage -= 1) if (this.#dueAt(stage) <= now) return stage;
    return (this.#next[0] ?? 0) < this.#chunks ? 0 : null;
  }

  /** When the next chunk may enter a later stage; infinite when none is on its way. */
  nextDue(): number {
    let due = Number.POSITIVE_INFINITY;
    for (let stage = 1; stage <= this.last; stage += 1) due = Math.min(due, this.#dueAt(stage));
    return due;
  }

  /** Moves the next chunk of a stage on, and answers which it is. */
  enter(stage: number): number {
    const chunk = this.#next[stage] ?? 0;
    this.#next[stage] = chunk + 1;
    return chunk;
  }

  /** Notes that a chunk was asked. */
  asked(chunk: number, now: number): void {
    this.#askedAt[chunk] = now;
  }

  #dueAt(stage: number): number {
    const chunk = this.#next[stage] ?? 0;
    if (chunk >= (this.#next[stage - 1] ?? 0)) return Number.POSITIVE_INFINITY;
    return (this.#askedAt[chunk] ?? 0) + this.#timeoutMs;
  }
}
