/**
 * Devices whose reading ended the process: one that answers so that memory runs out, or that keeps the event loop until
 * the watchdog ends the process. A file lists the devices that are being read, so the next process knows them. It reads
 * these one at a time, which separates the cause from its neighbours. A device that was being read at three crashes is
 * not read for a day.
 */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';
import pLimit from 'p-limit';

/** Crashes during readings of a device, until it is left alone. */
const MOST_CRASHES = 3;
/** Crashes of a device are forgotten this long after its last one. */
const FORGIVEN_MS = 86_400_000;
/** The name is part of the format: a collector of an older version wrote it. */
const FILE = 'in-hand';
/** Bytes appended until the file is written anew. */
const ROOM = 64 * 1024;
/** A file is read no further: no collector reads so many devices at once. */
const LINES_MOST = 20_000;

interface Crashes {
  count: number;
  /** Of the last one, Unix milliseconds. */
  at: number;
}

export interface CrashQuarantineDeps {
  stateFolder: string;
  clock: Clock;
  /** Names the time since this host started; what a power cut ended was not ended by a device. */
  boot: string;
}

export class CrashQuarantine {
  readonly #clock: Clock;
  readonly #file: string;
  readonly #boot: string;
  readonly #known: Map<string, Crashes>;
  readonly #reading = new Set<string>();
  readonly #alone = pLimit(1);
  #descriptor: number | null = null;
  #written = 0;

  private constructor({ stateFolder, clock, boot }: CrashQuarantineDeps, known: Map<string, Crashes>) {
    this.#clock = clock;
    this.#file = join(stateFolder, FILE);
    this.#boot = boot;
    this.#known = known;
  }

  /** Reads what the last process left; a file that cannot be read says nothing. */
  static open(deps: CrashQuarantineDeps): CrashQuarantine {
    const left = readLeft(join(deps.stateFolder, FILE));
    const now = deps.clock.now();
    const known = new Map([...left.known].filter(([, { at }]) => Math.abs(now - at) < FORGIVEN_MS));
    if (left.boot === deps.boot)
      for (const address of left.reading)
        known.set(address, { count: (known.get(address)?.count ?? 0) + 1, at: now });
    const quarantine = new CrashQuarantine(deps, known);
    quarantine.#note('');
    return quarantine;
  }

  /** Addresses that were being read when a process ended, and how often that happened. */
  get known(): ReadonlyMap<string, Readonly<Crashes>> {
    return this.#known;
  }

  /** Why a device is not read; null: it may be. */
  refusal(address: string): string | null {
    const crashes = this.#known.get(address);
    if (crashes === undefined || crashes.count < MOST_CRASHES) return null;
    const until = crashes.at + FORGIVEN_MS;
    return this.#clock.now() < until
      ? `reading it ended the collector ${crashes.count} times; not read until ${new Date(until).toISOString()}`
      : null;
  }

  /** Reads a device; those that were being read at a crash one at a time. */
  inTurn<T>(address: string, read: () => Promise<T>): Promise<T> {
    return this.#known.has(address) ? this.#alone(read) : read();
  }

  /** Reads a device, and lists it in the file meanwhile. Once it was read to its end its crashes are forgotten. */
  async whileReading<T>(address: string, read: () => Promise<T>): Promise<T> {
    this.#reading.add(address);
    this.#note(`+${address}`);
    try {
      return await read();
    } finally {
      this.#reading.delete(address);
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
      ...[...this.#known].map(([address, { count, at }]) => `!${address} ${count} ${at}`),
      ...[...this.#reading].map((address) => `+${address}`),
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
  known: Map<string, Crashes>;
  reading: Set<string>;
}

const CRASHES = /^!(\S{2,45}) (\d{1,6}) (\d{1,16})$/;
const STEP = /^([+-])(\S{2,45})$/;

/** What a file says; lines that are none of ours, such as a torn last one, are passed over. */
function readLeft(file: string): Left {
  const left: Left = { boot: undefined, known: new Map(), reading: new Set() };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return left;
  }
  const [head, ...lines] = text.split('\n', LINES_MOST);
  left.boot = /^boot (\S+)$/.exec(head ?? '')?.[1];
  for (const line of lines) {
    const [, address = '', count, at] = CRASHES.exec(line) ?? [];
    if (address) left.known.set(address, { count: Number(count), at: Number(at) });
    const [, sign, subject = ''] = STEP.exec(line) ?? [];
    if (sign === '+') left.reading.add(subject);
    if (sign === '-') {
      left.reading.delete(subject);
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
