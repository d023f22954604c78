/**
 * Writes down what a job's sweep reports. Facts go to the outbox at once, outcomes behind the facts they speak of: a
 * job that is resumed never skips an address whose facts were lost.
 */
import type { Clock } from '@rollcall/shared/clock';
import { ALIVE_CODES, DEVICE_CODES, type OutcomeCode } from '@rollcall/shared/model';
import type { JobEndObservation, Observation, OutcomesObservation } from '@rollcall/shared/observation';
import type { Outbox } from '../outbox/outbox.ts';

/** Outcomes wait for company this long, or until there are so many. */
const OUTCOMES_MS = 1000;
const OUTCOMES_AT_ONCE = 256;
/** Notes of one observation, bytes of JSON. */
const NOTES_BYTES = 48 * 1024;
/** Observations that may wait for the disk before the sweep is held up. */
const WAITING_MOST = 1000;

export interface Counts {
  probed: number;
  alive: number;
  devices: number;
}

export interface RecorderDeps {
  job: string;
  fence: number;
  /** Addresses of the job. */
  size: number;
  /** Finished before this sweep. */
  before: number;
  outbox: Pick<Outbox, 'append'>;
  clock: Clock;
  /** The sweep is over: nobody is held up any more. */
  signal: AbortSignal;
  /** The outbox was closed: nothing that is found from now on can be kept. */
  onLost: (error: Error) => void;
}

export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #stop: () => void;
  readonly counts: Counts;
  /** Grows when the job is leased to us anew while we work on it. */
  fence: number;
  #facts: Observation[] = [];
  #flushing = false;
  #waiting = 0;
  #room: (() => void)[] = [];
  #lost = false;
  /** Settles when everything appended so far is on disk, or cannot be. */
  #written: Promise<unknown> = Promise.resolve();
  /** Outcomes not yet written: index → code. */
  #codes = new Map<number, OutcomeCode>();
  #notes = new Map<number, string>();

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.fence = deps.fence;
    this.counts = { probed: deps.before, alive: 0, devices: 0 };
    this.#stop = deps.clock.every(OUTCOMES_MS, () => this.#flushOutcomes());
    deps.signal.addEventListener('abort', () => this.#release(), { once: true });
  }

  observe(fact: Observation): void {
    this.#facts.push(fact);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => this.#flushFacts());
  }

  outcome(index: number, code: OutcomeCode, note?: string): void {
    this.#codes.set(index, code);
    if (note !== undefined) this.#notes.set(index, note);
    this.counts.probed += 1;
    if (ALIVE_CODES.includes(code)) this.counts.alive += 1;
    if (DEVICE_CODES.includes(code)) this.counts.devices += 1;
    if (this.#codes.size >= OUTCOMES_AT_ONCE) this.#flushOutcomes();
  }

  /** A promise while enough waits for the disk. */
  ready(): Promise<void> | undefined {
    if (this.#waiting < WAITING_MOST || this.#lost || this.#deps.signal.aborted) return undefined;
    return new Promise((resolve) => this.#room.push(resolve));
  }

  /** Writes everything, then the end of the job where it has one; resolves when it is on disk. */
  async end(end: Pick<JobEndObservation, 'result' | 'reason'> | null): Promise<void> {
    this.#stop();
    this.#flushOutcomes();
    const { job, clock } = this.#deps;
    const last: Observation[] = end
      ? [{ kind: 'job-end', job, fence: this.fence, at: clock.now(), ...end, counts: { ...this.counts } }]
      : [];
    await this.#append(last);
    await this.#written;
  }

  #flushFacts(): void {
    this.#flushing = false;
    void this.#append(this.#facts.splice(0));
  }

  #flushOutcomes(): void {
    // Appended in this order, they lie in this order.
    this.#flushFacts();
    if (this.#codes.size > 0) void this.#append(this.#outcomes());
  }

  #outcomes(): OutcomesObservation[] {
    const { job, clock } = this.#deps;
    const indexes = [...this.#codes.keys()].sort((a, b) => a - b);
    const from = indexes[0] ?? 0;
    const codes = Array<OutcomeCode>((indexes.at(-1) ?? 0) - from + 1).fill('.');
    for (const [index, code] of this.#codes) codes[index - from] = code;
    const base = { kind: 'outcomes', job, fence: this.fence, at: clock.now(), from } as const;
    const [first, ...rest] = portions(this.#notes);
    this.#codes = new Map();
    this.#notes = new Map();
    return [
      { ...base, codes: codes.join(''), ...(first ? { notes: first } : {}) },
      ...rest.map((notes): OutcomesObservation => ({ ...base, codes: '.', notes })),
    ];
  }

  async #append(observations: readonly Observation[]): Promise<void> {
    if (observations.length === 0 || this.#lost) return;
    this.#waiting += observations.length;
    const appended = this.#deps.outbox.append(observations).catch((error: Error) => {
      this.#lost = true;
      this.#deps.onLost(error);
    });
    this.#written = Promise.all([this.#written, appended]);
    await appended;
    this.#waiting -= observations.length;
    if (this.#waiting < WAITING_MOST || this.#lost) this.#release();
  }

  #release(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }
}

/** Notes in pieces of bounded size. */
function portions(notes: ReadonlyMap<number, string>): Record<string, string>[] {
  const pieces: Record<string, string>[] = [];
  let bytes = NOTES_BYTES;
  for (const [index, note] of notes) {
    const size = Buffer.byteLength(note) + 16;
    if (bytes + size > NOTES_BYTES) {
      pieces.push({});
      bytes = 0;
    }
    const piece = pieces.at(-1);
    if (piece) piece[index] = note;
    bytes += size;
  }
  return pieces;
}
