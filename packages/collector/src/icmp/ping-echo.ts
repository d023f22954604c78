/**
 * Echo by the `ping` program, one process per request: the last resort, a hundred times slower than a socket. The npm
 * package `ping` builds the arguments and reads the output for every platform. Its own `probe` is not used: it throws
 * where nobody can catch it when the output is odd, changes this process's environment, and hides whose reply it saw.
 */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { platform } from 'node:os';
import type { AddressSpace } from '@rollcall/shared/address-space';
import { canonicalAddress, type Family } from '@rollcall/shared/ip';
import pLimit from 'p-limit';
import {
  type Echo,
  type EchoCounts,
  type EchoEvents,
  type EchoOptions,
  EchoRefused,
  noCounts,
} from './echo.ts';
import { refusalOf } from './refusal.ts';

/** Processes at once. */
const CONCURRENCY = 32;
/** How long `ping` waits for an answer, where nothing else is asked. */
const DEFAULT_TIMEOUT_MS = 1000;
/** Longest output of one ping that is read. */
const OUTPUT_BYTES = 16 * 1024;

interface PingConfig {
  numeric: boolean;
  timeout: number;
  min_reply: number;
  v6: boolean;
}
interface Builder {
  getCommandArguments(target: string, config: PingConfig): string[];
}
interface Parser {
  eat(line: string): void;
  getResult(): { alive: boolean; time: number | 'unknown' };
}
interface BuilderFactory {
  createBuilder(platform: string): Builder;
  getExecutablePath(platform: string, v6: boolean): string;
}
interface ParserFactory {
  createParser(address: string, platform: string, config: PingConfig): Parser;
}

const require = createRequire(import.meta.url);
// Its parts, not its entry: CommonJS without types.
const builders = (): BuilderFactory => require('ping/lib/builder/factory.js');
const parsers = (): ParserFactory => require('ping/lib/parser/factory.js');

/** What one run of the program said; a value for every outcome. */
export type PingOutcome = { alive: true; rttMs: number } | { alive: false } | { alive: false; code: string };

/** Reads the output of one ping of `address`. Never throws, whatever the text. */
export const readPing = (address: string, family: Family, output: string): PingOutcome => {
  const parser = parsers().createParser(address, platform(), configOf(family, 1));
  try {
    for (const line of output.split('\n')) parser.eat(line);
    const { alive, time } = parser.getResult();
    if (!alive || typeof time !== 'number' || !Number.isFinite(time)) return { alive: false };
    return repliesFrom(output).some((from) => from === address)
      ? { alive: true, rttMs: time }
      : { alive: false };
  } catch {
    return { alive: false, code: 'EOUTPUT' };
  }
};

/** Addresses that the output names as senders of replies: a ping program reports answers of other hosts too. */
const repliesFrom = (output: string): (string | null)[] =>
  [...output.matchAll(/ from ([0-9a-fA-F.:]+?)(%\w+)?:? .*time/g)].map((match) =>
    canonicalAddress(match[1] ?? ''),
  );

const configOf = (family: Family, seconds: number): PingConfig => ({
  numeric: true,
  timeout: seconds,
  min_reply: 1,
  v6: family === 6,
});

/** Runs ping once. The address is canonical text of a literal address, so it is no option and no name. */
export const pingOnce = (
  address: string,
  family: Family,
  timeoutMs: number,
  program?: string,
): Promise<PingOutcome> =>
  new Promise((resolve) => {
    if (canonicalAddress(address) !== address) return resolve({ alive: false, code: 'EADDRESS' });
    const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
    const executable = program ?? builders().getExecutablePath(platform(), family === 6);
    const args = builders().createBuilder(platform()).getCommandArguments(address, configOf(family, seconds));
    const { PATH = '/usr/bin:/bin:/usr/sbin:/sbin', SystemRoot } = process.env;
    const env = { PATH, LC_ALL: 'C', LANG: 'C', ...(SystemRoot && { SystemRoot }) };
    const limits = { timeout: (seconds + 2) * 1000, maxBuffer: OUTPUT_BYTES, killSignal: 'SIGKILL' as const };
    execFile(executable, args, { env, ...limits }, (error, stdout) => {
      // Exit status 1 means "no reply", 2 "could not even ask"; a string code is an error of ours to start or read it.
      if (error && typeof error.code === 'string') return resolve({ alive: false, code: error.code });
      if (error && Number(error.code) > 1) return resolve({ alive: false, code: `exit ${error.code}` });
      resolve(readPing(address, family, stdout));
    });
  });

/** Whether the program runs at all; throws the refusal. Asks the host's own loopback address. */
export const tryPing = async (family: Family): Promise<void> => {
  const outcome = await pingOnce(family === 4 ? '127.0.0.1' : '::1', family, 1000);
  if (!outcome.alive) {
    const code = 'code' in outcome ? outcome.code : 'ETIMEDOUT';
    throw new EchoRefused(refusalOf('ping', family, code, `ping of the own host failed (${code})`));
  }
};

export class PingEcho implements Echo {
  readonly counts: EchoCounts = noCounts();
  readonly batch = CONCURRENCY;
  readonly #limit = pLimit(CONCURRENCY);
  readonly #space: AddressSpace;
  readonly #events: EchoEvents;
  readonly #timeoutMs: number;
  #outcomes: { index: number; attempt: number; outcome: PingOutcome }[] = [];
  #open = true;

  constructor(space: AddressSpace, events: EchoEvents, options: EchoOptions = {}) {
    this.#space = space;
    this.#events = events;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  send(indexes: Uint32Array, attempts: Uint8Array): number {
    const free = CONCURRENCY - this.#limit.activeCount - this.#limit.pendingCount;
    const most = Math.max(0, Math.min(indexes.length, free));
    for (const [i, index] of indexes.subarray(0, most).entries()) {
      const attempt = attempts[i] ?? 1;
      const address = this.#space.at(index);
      const family = this.#space.familyAt(index);
      void this.#limit(async () => {
        const outcome = await pingOnce(address, family, this.#timeoutMs);
        if (this.#open) this.#outcomes.push({ index, attempt, outcome });
      });
    }
    this.counts.sent += most;
    return most;
  }

  receive(): boolean {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    for (const { index, attempt, outcome } of outcomes) {
      if (outcome.alive) {
        this.counts.received += 1;
        this.#events.heard(index, outcome.rttMs, attempt);
      } else if ('code' in outcome) {
        this.counts.failed[outcome.code] = (this.counts.failed[outcome.code] ?? 0) + 1;
        this.#events.failed(index, outcome.code);
      }
    }
    return false;
  }

  close(): void {
    this.#open = false;
    this.#limit.clearQueue();
  }
}
