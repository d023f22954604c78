/** Whether the collector works, for the watchdog of its host and for the server. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '@rollcall/shared/clock';
import type { Heartbeat } from './link/conversation.ts';
import { OwnAddresses } from './link/own-addresses.ts';
import type { LinkState } from './link/states.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Traps } from './traps/traps.ts';
import type { Watch } from './watch/watch.ts';

/** States of the link that end by themselves within seconds, whatever the server does. */
const BRIEF: readonly LinkState[] = ['connecting', 'challenged', 'greeting', 'draining'];
/** Longest that a brief state of the link or a write to the disk may last: twice what any of them may take. */
const STUCK_MS = 60_000;

/** Watches that the parts go on. A server that is away is no reason to restart, nor is a disk that reports its fault. */
export class Watchdog {
  readonly #clock: Clock;
  #state: LinkState = 'waiting';
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  entered(state: LinkState): void {
    this.#state = state;
    this.#since = this.#clock.monotonic();
  }

  unhealthyReason(outboxStalledMs: number): string | null {
    const linkMs = this.#clock.monotonic() - this.#since;
    if (BRIEF.includes(this.#state) && linkMs > STUCK_MS)
      return `the link is stuck: ${this.#state} since ${Math.round(linkMs / 1000)} s`;
    if (outboxStalledMs > STUCK_MS)
      return `the outbox is stuck: one commit takes ${Math.round(outboxStalledMs / 1000)} s`;
    return null;
  }
}

/** What a heartbeat reports. */
export class Health {
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #watch: Watch;
  readonly #traps: Traps;
  readonly #delay: IntervalHistogram;
  readonly #ownAddresses = new OwnAddresses();

  constructor(clock: Clock, outbox: Outbox, watch: Watch, traps: Traps) {
    this.#clock = clock;
    this.#outbox = outbox;
    this.#watch = watch;
    this.#traps = traps;
    this.#delay = monitorEventLoopDelay({ resolution: 20 });
    this.#delay.enable();
  }

  beat(): Heartbeat {
    const { depth, bytes, oldest, drops, paused } = this.#outbox.status();
    const loopDelayMs = Math.max(0, Math.round(this.#delay.max / 1e5) / 10 - 20);
    this.#delay.reset();
    const addresses = this.#ownAddresses.reported();
    return {
      time: this.#clock.now(),
      outbox: { depth, bytes, oldest: oldest === null ? null : Math.max(0, oldest) },
      drops: { ...drops, ...this.#traps.drops },
      ...(paused ? { paused: paused.slice(0, 300) } : {}),
      rssBytes: process.memoryUsage.rss(),
      loopDelayMs,
      watch: { ...this.#watch.status(), traps: this.#traps.status() },
      ...(addresses ? { addresses } : {}),
    };
  }

  async stop(): Promise<void> {
    this.#delay.disable();
  }
}
