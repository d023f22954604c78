/** A process that is started, frozen and killed on purpose. Its output goes to a file; nothing of it outlives the harness. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { systemClock } from '@rollcall/shared/clock';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  at: string;
}

export interface Command {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Standard output and error are appended here. */
  logFile: string;
  /** Opens a channel for messages between the two. */
  channel?: boolean;
}

/** What has to be done before this process is gone, however it goes. */
const lastDeeds = new Set<() => void>();
export function atExit(deed: () => void): () => void {
  lastDeeds.add(deed);
  return () => lastDeeds.delete(deed);
}
process.on('exit', () => {
  for (const deed of lastDeeds) deed();
});

export class Child {
  readonly #process: ChildProcess;
  readonly #forget: () => void;
  readonly ended: Promise<Ended>;
  over: Ended | undefined;

  constructor({ command, args, env, cwd, logFile, channel }: Command) {
    const log = openSync(logFile, 'a', 0o644);
    // Killed with this process even where that has no time for last deeds.
    this.#process = spawn('setpriv', ['--pdeathsig', 'KILL', '--', command, ...args], {
      env: { ...process.env, ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stdio: channel ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
      // A group of its own: what a wrapper (strace, a shell) started is killed with it.
      detached: true,
    });
    closeSync(log);
    this.#forget = atExit(() => this.signal('SIGKILL'));
    this.#process.on('error', () => undefined);
    this.ended = once(this.#process, 'exit').then(
      ([code, signal]) => this.#end({ code, signal, at: new Date().toISOString() }),
      () => this.#end({ code: null, signal: null, at: '' }),
    );
  }

  #end(ended: Ended): Ended {
    this.over = ended;
    this.#forget();
    return ended;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** To the process and all it started. */
  signal(signal: NodeJS.Signals): void {
    if (this.over || !this.pid) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // It ended just now.
    }
  }

  /** kill -9. */
  async kill(): Promise<Ended> {
    this.signal('SIGKILL');
    return this.ended;
  }

  /** SIGTERM; after `patienceMs` kill -9, which the answer tells. */
  async stop(patienceMs: number): Promise<Ended> {
    this.signal('SIGTERM');
    const gaveUp = new AbortController();
    systemClock.sleep(patienceMs, gaveUp.signal).then(
      () => this.signal('SIGKILL'),
      () => undefined,
    );
    const ended = await this.ended;
    gaveUp.abort();
    return ended;
  }

  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#process.on('message', listener);
  }
}

/** Runs a command to its end and answers its standard output; throws with what it said when it fails. */
export async function output(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (data) => out.push(data));
  child.stderr.on('data', (data) => err.push(data));
  const [code] = await once(child, 'close');
  if (code === 0) return Buffer.concat(out).toString();
  throw new Error(`${command} ${args.join(' ')}: ${code}: ${Buffer.concat(err).toString().trim()}`);
}

/** Last lines of a log, for a report of what went wrong. */
export function tail(file: string, lines = 15): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

/** Polls until `holds` answers something; undefined after `forMs`. */
export async function eventually<T>(
  holds: () => T | undefined | false | Promise<T | undefined | false>,
  forMs: number,
  everyMs = 50,
): Promise<T | undefined> {
  const until = systemClock.monotonic() + forMs;
  for (;;) {
    const value = await holds();
    if (value !== undefined && value !== false) return value;
    if (systemClock.monotonic() >= until) return undefined;
    await systemClock.sleep(everyMs);
  }
}
