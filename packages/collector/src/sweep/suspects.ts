/**
 * Devices whose reading ended the process: one that answers so that memory runs out, or that keeps the event loop until
 * the watchdog strikes. Which devices are being read stands in a file, so the next process knows who was in hand. Those
 * are read one at a time from then on, which tells the culprit from its neighbours, and who was in hand three times is
 * not read for a day.
 */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';
import pLimit from 'p-limit';

/** Times that the process may die over a device. */
const DEATHS = 3;
/** So long after its last one a device is as good as any other. */
const FORGIVEN_MS = 86_400_000;
const FILE = 'in-hand';
/** Bytes appended until the file is written anew. */
const ROOM = 64 * 1024;
/** A file is read no further: with this many devices in hand it is not ours. */
const LINES_MOST = 20_000;

interface Suspect {
  deaths: number;
  /** Of the last one, Unix milliseconds. */
  at: number;
}

export interface SuspectsDeps {
  stateFolder: string;
  clock: Clock;
  /** Names the time since this host started; what a power cut ended was not ended by a device. */
  boot: string;
}

export class Suspects {
  readonly #clock: Clock;
  readonly #file: string;
  readonly #boot: string;
  readonly #known: Map<string, Suspect>;
  readonly #inHand = new Set<string>();
  readonly #alone = pLimit(1);
  #descriptor: number | null = null;
  #written = 0;

  private constructor({ stateFolder, clock, boot }: SuspectsDeps, known: Map<string, Suspect>) {
    this.#clock = clock;
    this.#file = join(stateFolder, FILE);
    this.#boot = boot;
    this.#known = known;
  }

  /** Reads what the last process left; a file that cannot be read says nothing. */
  static open(deps: SuspectsDeps): Suspects {
    const left = readLeft(join(deps.stateFolder, FILE));
    const now = deps.clock.now();
    const known = new Map([...left.known].filter(([, { at }]) => Math.abs(now - at) < FORGIVEN_MS));
    if (left.boot === deps.boot)
      for (const address of left.inHand)
        known.set(address, { deaths: (known.get(address)?.deaths ?? 0) + 1, at: now });
    const suspects = new Suspects(deps, known);
    suspects.#note('');
    return suspects;
  }

  /** Addresses in hand when the last process ended, with how many processes ended so. */
  get known(): ReadonlyMap<string, Readonly<Suspect>> {
    return this.#known;
  }

  /** Why a device is not read; null: it may be. */
  refusal(address: string): string | null {
    const suspect = this.#known.get(address);
    if (suspect === undefined || suspect.deaths < DEATHS) return null;
    const until = suspect.at + FORGIVEN_MS;
    return this.#clock.now() < until
      ? `reading it ended the collector ${suspect.deaths} times; not read until ${new Date(until).toISOString()}`
      : null;
  }

  /** Waits for the turn of a device: suspects come one at a time. */
  inTurn<T>(address: string, read: () => Promise<T>): Promise<T> {
    return this.#known.has(address) ? this.#alone(read) : read();
  }

  /** Reads a device that is known to be in hand meanwhile; one that is read to its end is no suspect any more. */
  async inHand<T>(address: string, read: () => Promise<T>): Promise<T> {
    this.#inHand.add(address);
    this.#note(`+${address}`);
    try {
      return await read();
    } finally {
      this.#inHand.delete(address);
      this.#known.delete(address);
      this.#note(`-${address}`);
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
  }

  /** Not flushed to the disk: it has to outlive this process, not the host. On a full disk devices are read unnoted. */
  #note(line: string): void {
    try {
      if (this.#descriptor === null || this.#written > ROOM) this.#writeAnew();
      else this.#written += writeSync(this.#descriptor, `${line}\n`);
    } catch {
      this.#written = ROOM + 1;
    }
  }

  #writeAnew(): void {
    const lines = [
      `boot ${this.#boot}`,
      ...[...this.#known].map(([address, { deaths, at }]) => `!${address} ${deaths} ${at}`),
      ...[...this.#inHand].map((address) => `+${address}`),
    ];
    const next = `${this.#file}.next`;
    const descriptor = openSync(next, 'w', 0o600);
    try {
      writeSync(descriptor, `${lines.join('\n')}\n`);
      renameSync(next, this.#file);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = descriptor;
    this.#written = 0;
  }
}

interface Left {
  boot: string | undefined;
  known: Map<string, Suspect>;
  inHand: Set<string>;
}

const SUSPECT = /^!(\S{2,45}) (\d{1,6}) (\d{1,16})$/;
const STEP = /^([+-])(\S{2,45})$/;

/** What a file says; lines that are none of ours, such as a torn last one, are passed over. */
function readLeft(file: string): Left {
  const left: Left = { boot: undefined, known: new Map(), inHand: new Set() };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return left;
  }
  const [head, ...lines] = text.split('\n', LINES_MOST);
  left.boot = /^boot (\S+)$/.exec(head ?? '')?.[1];
  for (const line of lines) {
    const [, address = '', deaths, at] = SUSPECT.exec(line) ?? [];
    if (address) left.known.set(address, { deaths: Number(deaths), at: Number(at) });
    const [, sign, subject = ''] = STEP.exec(line) ?? [];
    if (sign === '+') left.inHand.add(subject);
    if (sign === '-') {
      left.inHand.delete(subject);
      left.known.delete(subject);
    }
  }
  return left;
}

/** The boot id of Linux; elsewhere every start counts as one of the host. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `pid-${process.pid}`;
  }
}
