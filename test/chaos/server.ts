/** The server as a process of its own, reached as anybody reaches it: environment, command line, REST. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@rollcall/shared/clock';
import { Child, type Ended, eventually, output, tail } from './child.ts';

/** Root of the project, from the sources and from dist/ alike. */
export const ROOT = (() => {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return here.slice(0, here.lastIndexOf('/test/chaos/'));
})();
/** Of a checkout that was built. */
export const programOf = (root: string): string => join(root, 'packages/server/bin/rollcall-server.js');

export interface ServerOptions {
  /** Data folder, logs beside it. */
  folder: string;
  port: number;
  /** PostgreSQL; absent: the embedded database. */
  databaseUrl?: string | undefined;
  /** Checkout whose program runs; absent: this one. */
  checkout?: string | undefined;
  /** Modules loaded into the process before the server: clocks and failpoints of the harness. */
  preload?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export class Server {
  readonly #options: ServerOptions;
  #child: Child | undefined;
  /** Counts from the next start. */
  program: string;
  token = '';
  /** Milliseconds from each start until it was ready. */
  readonly startTimes: number[] = [];

  constructor(options: ServerOptions) {
    this.#options = options;
    this.program = programOf(options.checkout ?? ROOT);
    mkdirSync(options.folder, { recursive: true });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#options.port}`;
  }
  get port(): number {
    return this.#options.port;
  }
  get databaseUrl(): string | undefined {
    return this.#options.databaseUrl;
  }
  get logFile(): string {
    return join(this.#options.folder, '..', 'server.log');
  }
  get running(): boolean {
    return this.#child !== undefined && this.#child.over === undefined;
  }
  get child(): Child | undefined {
    return this.#child;
  }

  /** An administrator and a token of its own, by the command line, before the first start. */
  async prepare(): Promise<void> {
    await this.command('user', 'add', 'chaos', '--role', 'admin', '--all-sites', '--json');
    const made = JSON.parse(await this.command('token', 'create', '--user', 'chaos', '--json'));
    this.token = made.token;
  }

  command(...args: string[]): Promise<string> {
    return output(process.execPath, [this.program, ...args], this.#env);
  }

  start(): void {
    if (this.running) throw new Error('the server runs already');
    const preload = (this.#options.preload ?? []).flatMap((file) => ['--import', file]);
    this.#child = new Child({
      command: process.execPath,
      args: [...preload, this.program, 'serve'],
      env: this.#env,
      logFile: this.logFile,
    });
  }

  /** Starts and waits until it is ready; throws with its last words when it ends instead. */
  async startReady(forMs = 180_000): Promise<number> {
    const begun = systemClock.monotonic();
    this.start();
    if (!(await this.ready(forMs))) throw new Error(`the server does not start:\n${tail(this.logFile)}`);
    const took = systemClock.monotonic() - begun;
    this.startTimes.push(took);
    return took;
  }

  async ready(forMs: number): Promise<boolean> {
    const ready = await eventually(
      async () => (this.running ? (await this.status('/api/health/ready')) === 200 : 'ended'),
      forMs,
    );
    return ready === true;
  }

  async kill(): Promise<void> {
    await this.#child?.kill();
  }
  async stop(patienceMs = 20_000): Promise<Ended | undefined> {
    return this.#child?.stop(patienceMs);
  }
  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** HTTP status, or 0 when there is no answer in time. */
  async status(path: string, forMs = 3_000): Promise<number> {
    try {
      const response = await fetch(this.url + path, { signal: AbortSignal.timeout(forMs) });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }

  /** One operation as the administrator; answers the envelope, throws what the server says. */
  async api<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const answer = (await response.json()) as { success?: boolean; error?: { message?: string } };
    if (!answer.success)
      throw new Error(`${method} ${path}: ${response.status} ${answer.error?.message ?? ''}`);
    return answer as T;
  }

  get #env(): Record<string, string> {
    const { folder, port, databaseUrl, env } = this.#options;
    return {
      ROLLCALL_DATA: folder,
      PORT: String(port),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      ROLLCALL_RATE_LIMIT: '0',
      DATABASE_URL: databaseUrl ?? '',
      ...env,
    };
  }
}
