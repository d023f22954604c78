/** What is reported of watched devices: their state, that they are silent, their interfaces, and when silences are settled. */
import { type Clock, wallTime } from '@rollcall/shared/clock';
import type { WatchObservation } from '@rollcall/shared/observation';
import { inObservations, type PortFact } from './ports.ts';
import type { ReportQueue } from './report-queue.ts';
import { Settling } from './settling.ts';
import type { Target } from './target.ts';

type More = Partial<WatchObservation>;

export class Reports {
  readonly #queue: Pick<ReportQueue, 'add'>;
  readonly #clock: Clock;
  readonly #targets: () => Iterable<Target>;
  readonly #settling: Settling;

  constructor(queue: Pick<ReportQueue, 'add'>, clock: Clock, targets: () => Iterable<Target>) {
    this.#queue = queue;
    this.#clock = clock;
    this.#targets = targets;
    this.#settling = new Settling(targets);
  }

  state(target: Target, more: More = {}): void {
    this.#queue.add(target.report(this.#clock.now(), more));
  }

  ports(target: Target, facts: readonly PortFact[], more: More): void {
    for (const interfaces of inObservations(facts))
      this.state(target, { ...more, ...(interfaces.length > 0 ? { interfaces } : {}) });
  }

  /** A device, or its agent, is silent by now. */
  silence(target: Target, more: More = {}): void {
    const until = this.#settling.silent(this.#clock.monotonic());
    this.state(target, { ...more, settledUntil: wallTime(this.#clock, until) });
  }

  /** Says until when silences are settled, where that is news: with a report of any device. */
  settle(now: number): void {
    const until = this.#settling.news(now);
    if (until === null) return;
    for (const target of this.#targets()) {
      this.state(target, { settledUntil: wallTime(this.#clock, until) });
      return;
    }
  }
}
