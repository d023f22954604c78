/** Work that goes one after the other, in the order it came, so much of it and no more. */
export class BoundedQueue {
  readonly #most: number;
  #depth = 0;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(most: number) {
    this.#most = most;
  }

  /** Pieces that wait or run. */
  get depth(): number {
    return this.#depth;
  }

  /** Runs `work` after everything before it, whatever became of that; undefined when the lane is full. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined {
    if (this.#depth >= this.#most) return undefined;
    this.#depth += 1;
    const done = this.#tail.then(work).finally(() => {
      this.#depth -= 1;
    });
    this.#tail = done.catch(() => undefined);
    return done;
  }
}
