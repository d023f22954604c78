import { stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';

/** Free space on the disk is measured again after so long, or so many bytes. */
const FRESH_MS = 1000;
const FRESH_BYTES = 1024 * 1024;

/** Whether the disk of an outbox has room for more. */
export class Disk {
  readonly #folder: string;
  readonly #minFreeBytes: number;
  readonly #clock: Clock;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #writtenSince = 0;
  #short = false;

  constructor(folder: string, minFreeBytes: number, clock: Clock) {
    this.#folder = folder;
    this.#minFreeBytes = minFreeBytes;
    this.#clock = clock;
  }

  written(bytes: number): void {
    this.#writtenSince += bytes;
  }

  /** A store of which `used` bytes are in use takes more without growing while its file is half empty. */
  async isShort(used: number): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (now - this.#lookedAt < FRESH_MS && this.#writtenSince < FRESH_BYTES) return this.#short;
    this.#lookedAt = now;
    this.#writtenSince = 0;
    try {
      const { bavail, bsize } = await statfs(this.#folder);
      const { size } = await stat(join(this.#folder, 'data.mdb'));
      this.#short = bavail * bsize < this.#minFreeBytes && used > size / 2;
    } catch {
      this.#short = false; // The commit will report what is wrong.
    }
    return this.#short;
  }
}
