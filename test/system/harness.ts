/** A whole installation for tests: a real server, collectors as processes of their own, simulated sites. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Server, type StartOptions, startServer } from '@rollcall/server/app';
import { type Config, readConfig } from '@rollcall/server/platform/ops/config';
import { openLog } from '@rollcall/server/platform/ops/log';
import { createPostgres } from '@rollcall/server/testing/database';

const COLLECTOR = fileURLToPath(
  new URL('../../packages/collector/bin/rollcall-collector.js', import.meta.url),
);

export interface Answer<T = unknown> {
  success: boolean;
  data: T;
  totalCount: number;
  scanId: string;
  token: string;
  error?: { code: string; message: string };
}

export interface RunningCollector {
  name: string;
  /** kill -9. */
  kill(): Promise<void>;
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>;
  /** Runs it again on the same state folder. */
  start(): void;
}

const postgres = process.env.TEST_DATABASE_URL;
/**
 * The databases that a whole installation is tried on, for `describe.each(databases)('…on %s', (name, url) => …)`; `url`
 * makes an empty one for `Installation.start({ databaseUrl: await url() })`.
 */
export const databases: [name: string, url: () => Promise<string | undefined>][] = [
  ['PGlite', async () => undefined],
  ...(postgres ? [['PostgreSQL', anyDatabase] as (typeof databases)[number]] : []),
];
/** For what does not concern the database: PostgreSQL where there is one. Each statement is tried on both elsewhere. */
export const oneDatabase = databases.slice(-1);

/**
 * Of `oneDatabase`; a browser's tests took a quarter longer on the embedded one. A network of its own does not reach PostgreSQL.
 */
export async function anyDatabase(): Promise<string | undefined> {
  return postgres ? emptyDatabase(postgres) : undefined;
}

/** A database without anything in it: the server brings its schema. */
async function emptyDatabase(server: string): Promise<string> {
  const { db, url } = await createPostgres(server);
  await db.close();
  return url;
}

export class Installation {
  readonly server: Server;
  readonly folder: string;
  /** The admin's. */
  readonly token: string;
  readonly #stops: (() => unknown)[] = [];

  private constructor(server: Server, folder: string, token: string) {
    this.server = server;
    this.folder = folder;
    this.token = token;
  }

  /** Starts a server on the embedded database, or on `databaseUrl`; every answer is checked against its schema. */
  static async start({
    databaseUrl,
    settings,
    ...options
  }: StartOptions & {
    databaseUrl?: string | undefined;
    /** By the names of their environment variables. */
    settings?: Record<string, string>;
  } = {}): Promise<Installation> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-test-'));
    const env = {
      ...settings,
      ...{ PORT: '0', ROLLCALL_DATA: folder },
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    };
    const log = openLog({ logLevel: (process.env.TEST_LOG ?? 'silent') as Config['logLevel'] });
    const server = await startServer(readConfig(env), { log, checkResponses: true, ...options });
    if (!server.firstAdmin) throw new Error('not a fresh database');
    const signIn = await fetch(`${server.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: server.url },
      body: JSON.stringify(server.firstAdmin),
    });
    const cookie = signIn.headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ');
    const made = await fetch(`${server.url}/api/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: server.url, Cookie: cookie },
      body: JSON.stringify({ name: 'test' }),
    });
    const { token } = (await made.json()) as Answer;
    return new Installation(server, folder, token);
  }

  /** One request with the admin's token; throws what the server refused. */
  async api<T = Record<string, unknown>[]>(
    method: string,
    path: string,
    body?: unknown,
    token = this.token,
  ): Promise<Answer<T>> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer<T>;
    if (!answer.success) throw new Error(`${method} ${path}: ${response.status} ${answer.error?.message}`);
    return answer;
  }

  /** A site that may be scanned on loopback, where nothing is monitored unless the test says so. @returns its id. */
  async site(name: string, snmpPort: number, credentials: readonly object[]): Promise<string> {
    const { data } = await this.api<{ id: string }>('POST', '/api/sites', {
      name,
      allowLoopback: true,
      networks: [],
      exclude: [],
      // Nobody outside of this host is asked.
      settings: { snmpPort, watchNamesSeconds: 0, monitorFound: 'none' },
    });
    for (const credential of credentials) {
      await this.api('POST', '/api/credentials', {
        ...credential,
        name: `${name}: ${(credential as { name: string }).name}`,
        allSites: false,
        siteIds: [data.id],
      });
    }
    return data.id;
  }

  /** Enrols a collector through its command line and runs it as a process; resolves when it is online. */
  async collector(siteId: string, name: string): Promise<RunningCollector> {
    const { token } = await this.api('POST', '/api/collectors/join-tokens', { siteId });
    return this.collectorBy(token, name);
  }

  /** The same with a join token that somebody has. */
  async collectorBy(token: string, name: string): Promise<RunningCollector> {
    const state = join(this.folder, `collector-${name}`);
    const joining = spawn(process.execPath, [
      COLLECTOR,
      'join',
      this.server.url,
      token,
      '--state',
      state,
      '--name',
      name,
    ]);
    let said = '';
    joining.stderr.on('data', (chunk) => {
      said += String(chunk);
    });
    const [code] = await once(joining, 'exit');
    if (code !== 0) throw new Error(`join ended with ${code}: ${said}`);
    let child: ChildProcess;
    const start = () => {
      child = spawn(process.execPath, [COLLECTOR, 'run', '--state', state], {
        stdio: process.env.TEST_LOG ? 'inherit' : 'ignore',
      });
    };
    const end = async (signal: NodeJS.Signals) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exited = once(child, 'exit');
      child.kill(signal);
      const [exitCode] = await exited;
      return exitCode as number | null;
    };
    start();
    this.#stops.push(() => end('SIGKILL'));
    await this.online(name, true);
    return { name, start, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM') };
  }

  /** Waits until a collector is online, or is not. */
  async online(name: string, wanted: boolean, withinMs = 120_000): Promise<void> {
    await until(withinMs, `${name} ${wanted ? 'online' : 'offline'}`, async () => {
      const { data } = await this.api<{ name: string; online: boolean }[]>(
        'GET',
        '/api/collectors?pageSize=100',
      );
      return data.find((each) => each.name === name)?.online === wanted;
    });
  }

  /** Waits for the end of a scan. */
  async scanEnd(scanId: string, withinMs = 180_000): Promise<ScanFacts> {
    let scan: ScanFacts | undefined;
    await until(withinMs, `end of scan ${scanId}`, async () => {
      scan = (await this.api<ScanFacts>('GET', `/api/discovery/scans/${scanId}`)).data;
      return !['queued', 'running'].includes(scan.status);
    });
    return scan as ScanFacts;
  }

  /** All pages of a list. */
  async all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let page = 1; ; page++) {
      const sign = path.includes('?') ? '&' : '?';
      const { data, totalCount } = await this.api<T[]>('GET', `${path}${sign}pageSize=500&page=${page}`);
      items.push(...data);
      if (data.length === 0 || items.length >= totalCount) return items;
    }
  }

  onStop(stop: () => unknown): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
    await this.server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface ScanFacts {
  id: string;
  status: string;
  statusReason: string;
  addressesTotal: number;
  addressesProbed: number;
  hostsAlive: number;
  devicesFound: number;
  devicesNew: number;
  jobs: { status: string; attempt: number; collector: string | null }[];
}

/** A limit that ends a hang: what is meant to come soon comes later on a busy machine. */
export async function until(withinMs: number, what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + withinMs;
  while (Date.now() < end) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`not within ${withinMs / 1000} s: ${what}`);
}
