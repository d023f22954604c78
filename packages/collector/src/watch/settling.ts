/**
 * Says until when reported silences may be judged: once every other address has answered since, or is reported silent
 * itself. What a device lies behind may be found down much later than the device, and later still on a busy host.
 */
import type { Target } from './target.ts';

/** How often is looked whether all have answered, at most: a list may be long. */
const LOOK_MS = 1_000;

type Asked = Pick<Target, 'pinged' | 'askedElsewhere'>;

/** Since when all that are not known to be silent have answered, monotonic milliseconds. */
function heardSince(targets: Iterable<Asked>, now: number): number {
  let since = now;
  for (const { pinged, askedElsewhere } of targets) {
    // Silent to ping, while its agent is asked: not reported yet.
    const isKnown = pinged?.liveness.state === 'down' && askedElsewhere === null;
    if (pinged && !isKnown) since = Math.min(since, pinged.heardAt);
  }
  return since;
}

export class Settling {
  readonly #targets: () => Iterable<Asked>;
  /** Reported silences that are not settled: the first and the last, monotonic milliseconds. */
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #since = Number.NEGATIVE_INFINITY;

  constructor(targets: () => Iterable<Asked>) {
    this.#targets = targets;
  }

  /** A silence is reported now. @returns until when earlier ones are settled. */
  silent(now: number): number {
    this.#first = Math.min(this.#first, now);
    this.#last = now;
    return Math.min(this.#look(now), now);
  }

  /** @returns until when silences are settled, where that is news; the moment itself where all are. */
  news(now: number): number | null {
    if (this.#first > now) return null;
    const since = this.#look(now);
    if (since < this.#first) return null;
    const all = since >= this.#last;
    this.#first = all ? Number.POSITIVE_INFINITY : since + 1;
    return all ? now : since;
  }

  #look(now: number): number {
    if (now - this.#lookedAt < LOOK_MS) return this.#since;
    this.#lookedAt = now;
    this.#since = heardSince(this.#targets(), now);
    return this.#since;
  }
}
