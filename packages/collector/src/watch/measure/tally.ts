/** The pings of one interval. A request counts when it is decided, so that none is lost that was not sent. */
import type { Samples } from '@rollcall/shared/samples';

export class PingTally {
  #sent = 0;
  #lost = 0;
  #sumMs = 0;
  #minMs = Number.POSITIVE_INFINITY;
  #maxMs = 0;

  answered(rttMs: number): void {
    this.#sent += 1;
    this.#sumMs += rttMs;
    this.#minMs = Math.min(this.#minMs, rttMs);
    this.#maxMs = Math.max(this.#maxMs, rttMs);
  }

  missed(): void {
    this.#sent += 1;
    this.#lost += 1;
  }

  /** What was counted since the last time; undefined where nothing was asked. */
  take(): Samples['ping'] {
    const [sent, lost, answered] = [this.#sent, this.#lost, this.#sent - this.#lost];
    if (sent === 0) return undefined;
    const times =
      answered > 0
        ? { minMs: ms(this.#minMs), avgMs: ms(this.#sumMs / answered), maxMs: ms(this.#maxMs) }
        : {};
    [this.#sent, this.#lost, this.#sumMs, this.#minMs, this.#maxMs] = [0, 0, 0, Number.POSITIVE_INFINITY, 0];
    return { sent, lost, ...times };
  }
}

/** To the microsecond. */
const ms = (value: number): number => Math.round(value * 1000) / 1000;
