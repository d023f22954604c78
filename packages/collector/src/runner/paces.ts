/**
 * How fast the sweeps of a collector may send. Sweeps of the same settings (the jobs of one scan, mostly) share one
 * pace, so that a scan never exceeds its profile's rate; all of them share the cap of the site's administrator. A pace
 * serves first come, first served and each sweep asks for one packet at a time, so that a small one gets its turn.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { SweepPace } from '../icmp/sweep.ts';
import { Pace, type Rate } from './pace.ts';

export interface Caps {
  rate: number;
  ratePerNet: number;
}

export class Paces {
  readonly #clock: Clock;
  readonly #shared = new Map<string, { pace: Pace; users: number }>();
  #cap: Pace;

  constructor(caps: Caps, clock: Clock) {
    this.#clock = clock;
    this.#cap = new Pace(caps, clock);
  }

  /** Changes the caps for what is sent from now on. */
  limit(caps: Caps): void {
    this.#cap = new Pace(caps, this.#clock);
  }

  /** A pace for one sweep; `done` gives it back. */
  take(settings: { rate: Rate; ratePerNet: Rate }): { pace: SweepPace; rate: () => Rate; done: () => void } {
    const key = `${settings.rate} ${settings.ratePerNet}`;
    const entry = this.#shared.get(key) ?? { pace: new Pace(settings, this.#clock), users: 0 };
    entry.users += 1;
    this.#shared.set(key, entry);
    const { pace } = entry;
    return {
      pace: {
        take: (count, address) => {
          const waits = [pace.take(count, address), this.#cap.take(count, address)];
          const [first, second] = waits.filter((wait) => wait !== undefined);
          return first && second ? Promise.all([first, second]).then(() => undefined) : first;
        },
        report: (answered, lost) => pace.report(answered, lost),
      },
      rate: () => pace.rate,
      done: () => {
        entry.users -= 1;
        if (entry.users === 0) this.#shared.delete(key);
      },
    };
  }
}
