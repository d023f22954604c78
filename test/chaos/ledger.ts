/**
 * The source's own book of what it observed: a line is written before the observation is handed over, and another one
 * when the outbox said that it is on disk. Between the two nobody may claim anything, so such an observation may be
 * there once or not at all; all others exactly once.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';

export interface Entry {
  /** Number within its source, counted over all its lives. */
  n: number;
  kind: string;
  /** What the database knows it by: the trap's OID, the host's address, the device's serial number and version. */
  key: string;
  /** SHA-256 over everything of it that is stored. */
  hash: string;
}

export class LedgerWriter {
  readonly #fd: number;

  constructor(file: string) {
    if (existsSync(file)) cutTornLine(file);
    else appendFileSync(file, '');
    this.#fd = openSync(file, 'a');
  }

  /** Before the hand-over. One write, so that a killed source leaves whole lines or a torn last one. */
  observed(entries: readonly Entry[]): void {
    writeSync(this.#fd, entries.map(({ n, kind, key, hash }) => `+${n} ${kind} ${key} ${hash}\n`).join(''));
  }

  /** The outbox has them on disk: from the first to the last, both included. */
  kept(first: number, last: number): void {
    writeSync(this.#fd, `=${first} ${last}\n`);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function cutTornLine(file: string): void {
  const text = readFileSync(file);
  truncateSync(file, text.lastIndexOf(0x0a) + 1);
}

export interface Ledger {
  entries: (Entry & { kept: boolean })[];
}

export function readLedger(file: string): Ledger {
  const entries = new Map<number, Entry & { kept: boolean }>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.startsWith('+')) {
      const [n = '', kind = '', key = '', hash = ''] = line.slice(1).split(' ');
      if (hash.length > 0) entries.set(Number(n), { n: Number(n), kind, key, hash, kept: false });
    } else if (line.startsWith('=')) {
      const [first = 0, last = -1] = line.slice(1).split(' ').map(Number);
      for (let n = first; n <= last; n++) {
        const entry = entries.get(n);
        if (entry) entry.kept = true;
      }
    }
  }
  return { entries: [...entries.values()] };
}
