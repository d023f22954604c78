/** Engines for time series as programs on a free port, for as long as a test needs them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipped } from '@rollcall/shared/testing/skipped';

export interface RunningEngine {
  write: string;
  query: string;
  /** Everything that it took is answered from now on. */
  settle(): Promise<unknown>;
  stop(): Promise<void>;
}

/** How a Debian package of the same name is started, and where it is asked. */
const ENGINES = {
  prometheus: {
    words: (folder: string, address: string) => {
      const file = join(folder, 'prometheus.yml');
      writeFileSync(file, 'storage:\n  tsdb:\n    out_of_order_time_window: 30d\n');
      return [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
        '--web.enable-remote-write-receiver',
        '--storage.tsdb.retention.time=100y',
      ];
    },
    ready: '/-/ready',
    settle: undefined,
  },
  'victoria-metrics': {
    words: (folder: string, address: string) => [
      `-storageDataPath=${folder}`,
      `-httpListenAddr=${address}`,
      '-retentionPeriod=100y',
    ],
    ready: '/health',
    settle: '/internal/force_flush',
  },
} as const;
export type EngineName = keyof typeof ENGINES;
export const ENGINE_NAMES = Object.keys(ENGINES) as EngineName[];

const START_MS = 60_000;
const AGAIN_MS = 100;

const programOf = (name: EngineName): string | undefined =>
  ['/usr/bin', ...(process.env.PATH ?? '').split(':')]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** Whether it is installed; says so in one line where it is not. */
export function hasEngine(name: EngineName): boolean {
  const found = programOf(name) !== undefined;
  if (!found) skipped(`${name} as an engine for time series: install ${name}`);
  return found;
}

export async function startEngine(name: EngineName): Promise<RunningEngine> {
  const { words, ready, settle } = ENGINES[name];
  const folder = mkdtempSync(join(tmpdir(), `rollcall-${name}-`));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(programOf(name) ?? name, words(folder, address), { stdio: 'ignore' });
  const stop = async () => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://${address}`;
  const until = Date.now() + START_MS;
  while (
    !(await fetch(`${url}${ready}`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (Date.now() > until || child.exitCode !== null) {
      await stop();
      throw new Error(`${name} did not start`);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  return {
    write: `${url}/api/v1/write`,
    query: url,
    settle: async () => settle && (await fetch(`${url}${settle}`)).text(),
    stop,
  };
}

function ended(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  const end = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  return end;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
