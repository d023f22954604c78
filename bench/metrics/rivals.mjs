// Engines for time series that are fed by remote write: how long their processors work, and what they leave on the disk.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../postgres.mjs';

const HERTZ = 100;
/** It merges behind its answer. */
const MERGE_MS = 5_000;
/** Processor seconds of a process; with those of its children that ended. */
export function cpuOf(pid, ended = false) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  const own = fields[11] + fields[12];
  return (ended ? own + fields[13] + fields[14] : own) / HERTZ;
}

export const sizeOf = (folder) =>
  Number(spawnSync('du', ['-sb', folder], { encoding: 'utf8' }).stdout.split('\t')[0]);

const ENGINES = {
  'victoria-metrics': {
    words: (folder, address) => [
      `-storageDataPath=${folder}/data`,
      `-httpListenAddr=${address}`,
      '-retentionPeriod=100y',
      '-search.disableCache',
    ],
    ready: '/health',
    /** Everything is answered, and merged as it will be later. */
    settle: async (url) => {
      await fetch(`${url}/internal/force_flush`);
      await fetch(`${url}/internal/force_merge`);
      await sleep(MERGE_MS);
    },
    /** Without the index there is no data: both count. */
    kept: (folder) => sizeOf(`${folder}/data/data`) + sizeOf(`${folder}/data/indexdb`),
  },
  prometheus: {
    words: (folder, address) => {
      writeFileSync(join(folder, 'prometheus.yml'), 'global: {}\n');
      return [
        ...[
          `--config.file=${folder}/prometheus.yml`,
          `--storage.tsdb.path=${folder}/data`,
          `--web.listen-address=${address}`,
        ],
        ...[
          '--web.enable-remote-write-receiver',
          '--web.enable-admin-api',
          '--storage.tsdb.retention.time=100y',
        ],
      ];
    },
    ready: '/-/ready',
    settle: async (url) => void (await fetch(`${url}/api/v1/admin/tsdb/snapshot`, { method: 'POST' })),
    /** The blocks as they are written after two hours, not the log of what came. */
    kept: (folder) => sizeOf(`${folder}/data/snapshots`),
  },
};

export const rivals = () => Object.keys(ENGINES).filter((name) => existsSync(`/usr/bin/${name}`));

/** Started on loopback with an empty folder. */
export async function startRival(name) {
  const { words, ready, settle, kept } = ENGINES[name];
  const folder = mkdtempSync(join(tmpdir(), `rollcall-bench-${name}-`));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(`/usr/bin/${name}`, words(folder, address), { stdio: 'ignore' });
  const url = `http://${address}`;
  for (
    let tries = 0;
    !(await fetch(url + ready).then(
      ({ ok }) => ok,
      () => false,
    ));
    tries++
  ) {
    if (tries > 300 || child.exitCode !== null) throw new Error(`${name} does not start`);
    await sleep(100);
  }
  return {
    name,
    cpu: () => cpuOf(child.pid),
    write: async (body) => {
      const headers = {
        'Content-Encoding': 'snappy',
        'Content-Type': 'application/x-protobuf',
        'X-Prometheus-Remote-Write-Version': '0.1.0',
      };
      const answer = await fetch(`${url}/api/v1/write`, { method: 'POST', body, headers });
      if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    },
    ask: async (path, parameters) => {
      const answer = await fetch(`${url}/api/v1/${path}`, {
        method: 'POST',
        body: new URLSearchParams(parameters),
      });
      const { data } = await answer.json();
      if (!answer.ok || data.result.length === 0)
        throw new Error(`${name} answers nothing: ${answer.status}`);
      return data.result;
    },
    settle: () => settle(url),
    kept: () => kept(folder),
    stop: async () => {
      const end = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await end;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
