// What benchmarks of the whole server share: a database beside the one that is named, the server's own program on it.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '@rollcall/server/platform/db/db';
import { migrate } from '@rollcall/server/platform/db/migrate';
import { freePort } from './postgres.mjs';

const require = createRequire(fileURLToPath(new URL('../packages/server/package.json', import.meta.url)));
export const pg = require('pg');
export const { pino } = require('pino');
const UNIT = new URL(
  '../deploy/server/files/usr/lib/systemd/system/rollcall-server.service',
  import.meta.url,
);
const PROGRAM = fileURLToPath(new URL('../packages/server/bin/rollcall-server.js', import.meta.url));

const AUTOGROUP = '/proc/sys/kernel/sched_autogroup_enabled';

/**
 * Lets Linux schedule as it does services of systemd, until this process ends; answers a line that says so, or why not.
 * Those share a CPU cgroup below the root, where the nice value of each thread counts (sched(7), "The autogroup
 * feature"; docs/operations.md). What is started from a shell is weighed by session, and each process of PostgreSQL is one: what
 * the thread that stores takes would be held against the one that answers people.
 */
export function scheduleAsServices() {
  const write = (value) => writeFileSync(AUTOGROUP, value);
  try {
    const before = readFileSync(AUTOGROUP, 'utf8');
    if (before.trim() === '0') return 'scheduling: by nice values, as for services of systemd';
    write('0');
    process.on('exit', () => write(before));
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
    return 'scheduling: by nice values, as for services of systemd, until this ends (kernel.sched_autogroup_enabled was 1)';
  } catch ({ code }) {
    return code === 'ENOENT'
      ? 'scheduling: as this kernel does'
      : `scheduling: by session (kernel.sched_autogroup_enabled is 1, ${code}): the API takes longer than for services of systemd`;
  }
}

/**
 * An empty, migrated database called `name` beside that of `base`; `drop` closes and removes it. With `keep` it stays.
 * A database that an earlier run kept is used again (`kept`) when `finished` was called then with the same `stamp`.
 */
export async function freshDatabase(base, name, { keep = false, stamp = '' } = {}) {
  const admin = new pg.Client({ connectionString: base });
  await admin.connect();
  const { rows } = await admin.query(
    `SELECT shobj_description(oid, 'pg_database') AS stamp FROM pg_database WHERE datname = $1`,
    [name],
  );
  const kept = stamp !== '' && rows[0]?.stamp === stamp;
  if (!kept) {
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${name}`);
  }
  const url = Object.assign(new URL(base), { pathname: `/${name}` }).href;
  const db = await openDatabase({ url }, pino({ level: 'error' }));
  await migrate(db);
  return {
    url,
    db,
    kept,
    finished: () => admin.query(`COMMENT ON DATABASE ${name} IS '${stamp}'`),
    drop: async () => {
      await db.close();
      if (!keep) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

/** What an installed server tells Node.js. */
const flagsOfUnit = () => /^ExecStart=\S+\/node (.*?) ?\S+\.js serve$/m.exec(readFileSync(UNIT, 'utf8'))[1];

/** The server's program on a database as installed, with an administrator's token. */
export async function startProgram(databaseUrl, settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  const port = await freePort();
  const env = {
    ...process.env,
    ROLLCALL_DATA: folder,
    PORT: String(port),
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    ROLLCALL_RATE_LIMIT: '0',
    DATABASE_URL: databaseUrl,
    ...settings,
  };
  const run = (...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let out = '';
      child.stdout.on('data', (data) => (out += data));
      child.on('exit', (code) => (code === 0 ? resolve(out) : reject(new Error(`${args[0]}: exit ${code}`))));
    });
  await run('user', 'add', 'bench', '--role', 'admin', '--all-sites', '--json');
  const { token } = JSON.parse(await run('token', 'create', '--user', 'bench', '--json'));
  const flags = `${flagsOfUnit()} ${process.env.BENCH_NODE_FLAGS ?? ''}`.split(' ').filter(Boolean);
  const child = spawn(process.execPath, [...flags, PROGRAM, 'serve'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(`${url}/api/health/ready`).then(
      (r) => r.ok,
      () => false,
    );
  for (let tries = 0; !(await ready()); tries++) {
    if (tries > 300 || child.exitCode !== null) throw new Error('the server does not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    token,
    pid: child.pid,
    /** Resident bytes now, and at most so far. */
    memory: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
      return { now: of('VmRSS'), peak: of('VmHWM') };
    },
    /** Processor seconds so far. */
    cpuSeconds: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
    stop: () =>
      new Promise((resolve) => {
        child.on('exit', () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        child.kill('SIGTERM');
      }),
  };
}

export const percentile = (numbers, p) =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor((numbers.length * p) / 100))];
