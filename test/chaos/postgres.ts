/** A PostgreSQL of our own, to be stopped, frozen and filled: a cluster in a temporary folder on a free port. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit, eventually, output } from './child.ts';
import { SmallDisk } from './disk.ts';

const VERSIONS = '/usr/lib/postgresql';

/** Folder of the newest PostgreSQL on this machine, or undefined. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  const [newest] = readdirSync(VERSIONS)
    .filter((version) => existsSync(join(VERSIONS, version, 'bin', 'initdb')))
    .sort((a, b) => Number(b) - Number(a));
  return newest === undefined ? undefined : join(VERSIONS, newest, 'bin');
}

/** Whether packets can be dropped here: root, and nftables. */
export const mayVanish = (): boolean =>
  spawnSync('nft', ['-c', '-f', '-'], { input: 'table inet rollcall_chaos_try { }' }).status === 0;

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

export class Postgres {
  readonly #programs: string;
  readonly #folder: string;
  readonly port: number;
  /** Where its data is, when that can be filled. */
  readonly disk: SmallDisk | undefined;
  readonly #durable: boolean;
  readonly #forget: () => void;
  /** The table of the packet filter that drops what it says. */
  #vanished: string | undefined;
  #back: (() => void) | undefined;

  private constructor(
    programs: string,
    folder: string,
    port: number,
    disk: SmallDisk | undefined,
    durable: boolean,
  ) {
    this.#durable = durable;
    this.#programs = programs;
    this.#folder = folder;
    this.port = port;
    this.disk = disk;
    this.#forget = atExit(() => {
      if (this.#parent !== undefined && this.running) process.kill(this.#parent, 'SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /**
   * Makes a cluster and starts it. Durable as in production: fsync and synchronous_commit are on, unless it is for tests
   * that kill no database. With `diskMegabytes` its data lies on a disk of its own of that size.
   */
  static async create({
    diskMegabytes,
    durable = true,
  }: {
    diskMegabytes?: number | undefined;
    durable?: boolean;
  } = {}): Promise<Postgres> {
    const programs = postgresPrograms();
    if (!programs) throw new Error('PostgreSQL is not installed');
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-chaos-pg-'));
    if (asRoot()) chownSync(folder, ...accountOf('postgres'));
    const data = join(folder, 'data');
    mkdirSync(data);
    const disk = diskMegabytes === undefined ? undefined : await SmallDisk.create(data, diskMegabytes);
    if (asRoot()) chownSync(disk?.outside ?? data, ...accountOf('postgres'));
    const cluster = new Postgres(programs, folder, await freePort(), disk, durable);
    await cluster.#run('initdb', [
      '-D',
      data,
      '-A',
      'trust',
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
    ]);
    await cluster.start();
    return cluster;
  }

  /**
   * A standby of this one, on `port` or a free one, which from now on has everything before this one says that it is stored
   * (streaming, `synchronous_standby_names`).
   */
  async standby(port?: number): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-chaos-pg-'));
    if (asRoot()) chownSync(folder, ...accountOf('postgres'));
    const standby = new Postgres(
      this.#programs,
      folder,
      port ?? (await freePort()),
      undefined,
      this.#durable,
    );
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres'];
    await standby.#run('pg_basebackup', [
      ...from,
      '-D',
      join(folder, 'data'),
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
    ]);
    // What the primary was told of its own standbys came along.
    await standby.#run('sed', [
      '-i',
      '/synchronous_standby_names/d',
      join(folder, 'data/postgresql.auto.conf'),
    ]);
    await standby.start();
    await this.sql(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.sql('SELECT pg_reload_conf()');
    const synchronous = async () => (await this.sql('SELECT sync_state FROM pg_stat_replication')) === 'sync';
    if (!(await eventually(synchronous, 30_000))) throw new Error('the standby does not follow');
    return standby;
  }

  /** A standby becomes a primary. */
  async promote(): Promise<void> {
    await this.#control('-w', '-t', '60', 'promote');
  }

  /** kill -9 of everything, as if the machine had lost its power; what the disk has remains. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await eventually(() => !this.running, 10_000);
  }

  /** Its host is gone without a word: packets to and from its port are dropped, so nobody is told that a connection ended. */
  vanish(): void {
    const table = `inet rollcall_chaos_${this.port}`;
    const rules = `table ${table} {
      chain in { type filter hook input priority 0; tcp dport ${this.port} drop; tcp sport ${this.port} drop; }
    }`;
    execFileSync('nft', ['-f', '-'], { input: rules });
    this.#back = atExit(() => void spawnSync('nft', ['delete', 'table', ...table.split(' ')]));
    this.#vanished = table;
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    const options = [
      `-p ${this.port}`,
      `-k ${this.#folder}`,
      '-c listen_addresses=127.0.0.1',
      '-c max_connections=200',
      '-c shared_buffers=256MB',
      ...(this.#durable ? [] : ['-c fsync=off', '-c synchronous_commit=off', '-c full_page_writes=off']),
      ...(this.disk ? ['-c max_wal_size=64MB', '-c min_wal_size=32MB'] : []),
    ];
    const log = join(this.#folder, 'log');
    await this.#control('-w', '-t', '120', '-l', log, '-o', options.join(' '), 'start');
  }

  /** immediate: as after a crash. fast: sessions are ended, everything is written. */
  async stop(how: 'immediate' | 'fast'): Promise<void> {
    await this.#control('-w', '-m', how, 'stop').catch((error: unknown) => {
      if (this.running) throw error;
    });
  }

  /** The parent process and all sessions. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    signalPostgres(this.#data, signal);
  }

  /** Runs one statement as a person would, outside of any pool. */
  async sql(text: string, database = 'postgres'): Promise<string> {
    const args = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', this.url(database), '-c', text];
    return (await output(join(this.#programs, 'psql'), args)).trim();
  }

  get running(): boolean {
    const parent = this.#parent;
    if (parent === undefined) return false;
    try {
      process.kill(parent, 0);
      return true;
    } catch {
      return false;
    }
  }

  async destroy(): Promise<void> {
    this.signal('SIGCONT');
    if (this.running) await this.stop('immediate');
    if (this.#vanished) spawnSync('nft', ['delete', 'table', ...this.#vanished.split(' ')]);
    this.#back?.();
    await this.disk?.destroy();
    this.#forget();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return this.disk?.outside ?? join(this.#folder, 'data');
  }

  get #parent(): number | undefined {
    return parentOf(this.#data);
  }

  #control(...args: string[]): Promise<string> {
    return this.#run('pg_ctl', ['-D', join(this.#folder, 'data'), ...args]);
  }

  /** PostgreSQL refuses to run as root. Its output is not piped: the server keeps what it inherits. */
  async #run(program: string, args: readonly string[]): Promise<string> {
    const file = program === 'sed' ? program : join(this.#programs, program);
    const quiet = ['-c', '"$@" >"$0" 2>&1 </dev/null || { cat "$0" >&2; exit 1; }'];
    const words = [...quiet, join(this.#folder, `${program}.out`), file, ...args];
    if (!asRoot()) return output('sh', words);
    const [command = '', ...rest] = [...(this.disk?.wrap ?? []), ...AS_POSTGRES];
    return output(command, [...rest, 'env', `HOME=${this.#folder}`, 'sh', ...words]);
  }
}

/** The parent process and all sessions of the PostgreSQL that has its data in this folder. */
export function signalPostgres(data: string, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  const parent = parentOf(data);
  if (parent === undefined) return;
  const children = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' }).stdout;
  for (const pid of [parent, ...children.split(/\s+/).filter(Boolean).map(Number)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // A session that ended just now.
    }
  }
}

function parentOf(data: string): number | undefined {
  try {
    return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

/** Changing the account forgets the signal that `Child` asks for: it is asked for again. */
const AS_POSTGRES = 'setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig KILL'.split(' ');

/** A program in the account of PostgreSQL, which refuses to run as root. */
export function asPostgres(program: string, args: readonly string[]): { command: string; args: string[] } {
  const [command = '', ...rest] = asRoot() ? [...AS_POSTGRES, program, ...args] : [program, ...args];
  return { command, args: rest };
}

export const asRoot = (): boolean => process.geteuid?.() === 0;

export function accountOf(name: string): [number, number] {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error(`there is no account ${name}`);
  return [Number(uid), Number(gid)];
}
