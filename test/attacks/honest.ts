/** The other site's collector and user, who go on with their work; how long each had to wait. */
import { Agent } from 'node:http';
import { systemClock } from '@rollcall/shared/clock';
import type { SourceProcess } from '../chaos/collector.ts';
import { type Heard, send } from './scene.ts';

const EVERY_MS = 50;
/** Below these nobody notices a difference: a wait is compared with at least so much. */
const LEAST_MS = { user: 10, collector: 50 };
/** Most of what it takes when nobody attacks. */
export const SLOWER_MOST = 3;

export interface Waits {
  user: number;
  collector: number;
}

export class Honest {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #stop = new AbortController();
  readonly #working: Promise<void>;
  #user: number[] = [];
  #collector: number[] = [];
  requests = 0;
  /** Answers other than 200, by status. */
  readonly refused: Record<string, number> = {};

  constructor(url: string, token: string, source: SourceProcess) {
    source.onTold = ({ lateMs }) => void (lateMs > 0 && this.#collector.push(lateMs));
    this.#working = this.#work(url, { authorization: `Bearer ${token}` });
  }

  async #work(url: string, headers: Record<string, string>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const from = systemClock.monotonic();
      const heard = await send(
        url,
        { method: 'GET', path: '/api/devices?pageSize=20', headers },
        { agent: this.#agent },
      );
      this.#user.push(systemClock.monotonic() - from);
      this.requests += 1;
      this.#note(heard);
      await systemClock.sleep(EVERY_MS);
    }
  }

  #note(heard: Heard | 'cut'): void {
    const status = heard === 'cut' ? 'cut' : heard.status;
    if (status !== 200) this.refused[status] = (this.refused[status] ?? 0) + 1;
  }

  /** 95 of 100 waited no longer, milliseconds; since the last time that this was asked. */
  p95(): Waits {
    const waits = { user: p95(this.#user), collector: p95(this.#collector) };
    this.#user = [];
    this.#collector = [];
    return waits;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
    this.#agent.destroy();
  }
}

const p95 = (waits: readonly number[]): number =>
  Math.round([...waits].sort((a, b) => a - b)[Math.floor((waits.length - 1) * 0.95)] ?? 0);

/** Whose wait grew too much. Pure. */
export const tooSlow = (idle: Waits, attacked: Waits): (keyof Waits)[] =>
  (['user', 'collector'] as const).filter(
    (who) => attacked[who] > SLOWER_MOST * Math.max(idle[who], LEAST_MS[who]),
  );
