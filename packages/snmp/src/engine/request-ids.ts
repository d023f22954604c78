import { randomFillSync } from 'node:crypto';

const BATCH = 1024;
const HIGHEST = 0x7fff_ffff;
/** Below this a positive integer takes fewer than four octets of BER. */
const LOWEST = 0x0080_0000;

/**
 * Request and message ids from the system's random generator: nobody can guess the next one. All take four octets of
 * BER, and none is negative: SNMPv3 forbids it for message ids (RFC 3412 section 6.2), and some agents cannot send
 * negative ids back.
 */
export class RequestIds {
  readonly #batch = new Uint32Array(BATCH);
  #left = 0;

  next(): number {
    for (;;) {
      if (this.#left === 0) {
        randomFillSync(this.#batch);
        this.#left = BATCH;
      }
      this.#left -= 1;
      const id = (this.#batch[this.#left] ?? 0) & HIGHEST;
      if (id >= LOWEST) return id;
    }
  }
}
