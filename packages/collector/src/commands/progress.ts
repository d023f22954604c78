/** The bar of a sweep on a terminal, and its summary everywhere. */
import { ALIVE_CODES, type OutcomeCode } from '@rollcall/shared/model';
import type { MultiBar, SingleBar } from 'cli-progress';
import type { Screen } from './terminal.ts';

/** In the order of the summary; null: not counted there by itself. */
const WORDS: Record<OutcomeCode, string | null> = {
  s: 'read by SNMP',
  b: 'cut short by a limit',
  '=': 'further addresses of those',
  a: 'refused our credentials',
  t: 'silent to SNMP',
  _: 'silent',
  x: 'excluded',
  e: 'errors',
  i: null,
  '.': null,
};
/** Silent, or an error. */
const DEAD = '_e';
/** Reasons that are summed up. */
const MOST_REASONS = 5;

export class Progress {
  readonly #stream: Screen;
  readonly #total: number;
  readonly #counts = new Map<OutcomeCode, number>();
  /** Why nothing came from addresses, in as many words as there are. */
  readonly #reasons = new Map<string, number>();
  #probed = 0;
  #bars: MultiBar | null = null;
  #bar: SingleBar | null = null;

  constructor(stream: Screen, total: number) {
    this.#stream = stream;
    this.#total = total;
    if (stream.isTTY) void this.#show();
  }

  /** Loaded while the sweep is under way already. */
  async #show(): Promise<void> {
    const { default: library } = await import('cli-progress');
    this.#bars = new library.MultiBar(
      {
        stream: this.#stream,
        format: '{bar} {percentage}% · {value}/{total} addresses · {live} alive · {eta_formatted} left',
        barsize: 24,
        hideCursor: true,
        clearOnComplete: true,
        etaBuffer: 1000,
        fps: 8,
      },
      library.Presets.shades_classic,
    );
    this.#bar = this.#bars.create(this.#total, this.#probed, { live: this.#live() });
  }

  count(code: OutcomeCode, note?: string): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    if (
      note !== undefined &&
      DEAD.includes(code) &&
      (this.#reasons.has(note) || this.#reasons.size < MOST_REASONS)
    )
      this.#reasons.set(note, (this.#reasons.get(note) ?? 0) + 1);
    this.#probed += 1;
    this.#bar?.update(this.#probed, { live: this.#live() });
  }

  /** Whether lines on that stream would run through the bar. */
  shares(stream: Screen): boolean {
    return this.#bars !== null && stream.isTTY === true;
  }

  /** Prints a line above the bar. */
  above(text: string): void {
    if (this.#bars) this.#bars.log(`${text}\n`);
    else this.#stream.write(`${text}\n`);
  }

  stop(): void {
    this.#bars?.stop();
    this.#bars = null;
    this.#bar = null;
  }

  #of(codes: string): number {
    return [...codes].reduce((sum, code) => sum + (this.#counts.get(code as OutcomeCode) ?? 0), 0);
  }

  #live(): number {
    return this.#of(ALIVE_CODES);
  }

  /** How many addresses in which time, and how they ended; a line for each reason why nothing came from some. */
  summary(seconds: number): string {
    const reasons = [...this.#reasons].map(([reason, count]) => `${count} of them: ${reason}`);
    return [this.#sum(seconds), ...reasons].join('\n');
  }

  #sum(seconds: number): string {
    const rest = Object.entries(WORDS).flatMap(([code, words]) => {
      const count = this.#of(code);
      return words !== null && count > 0 ? [`${count} ${words}`] : [];
    });
    const swept =
      this.#probed === this.#total
        ? `${this.#total} addresses`
        : `${this.#probed} of ${this.#total} addresses`;
    return `${swept} in ${seconds.toFixed(2)} s: ${[`${this.#live()} alive`, ...rest].join(', ')}`;
  }
}
