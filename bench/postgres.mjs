// The PostgreSQL that benchmarks measure on. Where none is named, it is a cluster in the temporary folder.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSIONS = '/usr/lib/postgresql';

/** The PostgreSQL to measure on: the one that is named, or else a temporary one. Answers its URL and `stop`. */
export async function postgresOf(option) {
  const url = option ?? process.env.DATABASE_URL ?? process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: () => undefined };
  const own = await ownPostgres(join(tmpdir(), 'rollcall-bench-postgres'));
  console.error(`no database was named: ${own.what}`);
  return own;
}

/** Starts it, after `initdb` where the folder is new. Answers its URL, what it is, and `stop`. */
async function ownPostgres(folder) {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const [newest] = versions.sort((a, b) => Number(b) - Number(a));
  if (newest === undefined)
    throw new Error(
      'name a PostgreSQL (--database URL, DATABASE_URL or TEST_DATABASE_URL), or install one: apt-get install postgresql',
    );
  mkdirSync(folder, { recursive: true });
  const root = process.getuid?.() === 0;
  const [uid, gid] = root ? ['-u', '-g'].map((flag) => Number(output('id', [flag, 'postgres']))) : [];
  if (root) chownSync(folder, uid, gid);
  // PostgreSQL does not run as root.
  const run = (program, ...args) => {
    const path = join(VERSIONS, newest, 'bin', program);
    const as = ['--reuid=postgres', '--regid=postgres', '--clear-groups', 'env', `HOME=${folder}`];
    return root ? output('setpriv', [...as, path, ...args]) : output(path, args);
  };
  const data = join(folder, 'data');
  if (!existsSync(data))
    run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8');
  const port = await freePort();
  // A quarter of the memory for its cache is what its manual advises; loading wants few checkpoints.
  const buffers = `${Math.max(128, Math.min(2048, Math.floor(freemem() / 4 / 1024 / 1024)))}MB`;
  const settings = [
    `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c shared_buffers=${buffers}`,
    '-c max_wal_size=16GB -c checkpoint_timeout=30min',
  ].join(' ');
  run('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start');
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    what: `PostgreSQL ${newest} of its own in ${folder}, shared_buffers ${buffers}`,
    stop: ({ keep }) => {
      run('pg_ctl', '-D', data, '-w', '-m', 'fast', 'stop');
      if (!keep) rmSync(folder, { recursive: true });
    },
  };
}

function output(command, args) {
  // No pipe for stderr and stdout of the server that stays: it would keep them open.
  const { status, stdout, error } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', args.includes('start') ? 'ignore' : 'pipe', 'inherit'],
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
  return stdout ?? '';
}

export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
