/**
 * PostgreSQL on two hosts that Patroni manages with etcd, as docs/operations.md recommends: which of the two takes writes,
 * and when the other one takes over, is Patroni's decision alone. Here a host is the processes of one member.
 */
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { atExit, Child, eventually, tail } from './child.ts';
import type { Pair } from './failover.ts';
import { accountOf, asPostgres, asRoot, freePort, postgresPrograms, signalPostgres } from './postgres.ts';

/** The least that Patroni accepts, seconds: so long a host that says nothing stays the primary. */
const TTL = 20;
/** A standby that has to be rewound or copied again takes this long at most. */
const TOGETHER_MS = 120_000;
/** Of the two, as Patroni calls them. */
const ROLES = ['leader', 'sync_standby'];

/** Whether this machine has both programs, and each may run in the account of PostgreSQL. */
export const hasPatroni = (): boolean =>
  asRoot() && ['/usr/bin/patroni', '/usr/bin/etcd'].every((program) => existsSync(program));

interface Member {
  name: string;
  port: number;
  /** Of Patroni's own API. */
  apiPort: number;
  process: Child | undefined;
}

export class Patroni implements Pair {
  static readonly WAYS: readonly string[] = ['crash', 'host', 'freeze'];
  readonly #folder: string;
  readonly #etcd: Child;
  readonly #members: readonly Member[];
  readonly #forget: () => void;
  #ended: Member | undefined;

  private constructor(folder: string, etcd: Child, members: readonly Member[]) {
    this.#folder = folder;
    this.#etcd = etcd;
    this.#members = members;
    this.#forget = atExit(() => this.#remove());
  }

  static async create(): Promise<Patroni> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-chaos-patroni-'));
    const [etcdPort, peerPort] = [await freePort(), await freePort()];
    const members: Member[] = [];
    for (const name of ['db1', 'db2'])
      members.push({ name, port: await freePort(), apiPort: await freePort(), process: undefined });
    chownSync(folder, ...accountOf('postgres'));
    for (const member of members) {
      const file = join(folder, `${member.name}.yml`);
      writeFileSync(file, stringify(settingsOf(member, folder, etcdPort)));
      mkdirSync(join(folder, member.name));
      chownSync(join(folder, member.name), ...accountOf('postgres'));
    }
    const etcd = new Child({
      ...asPostgres('etcd', [
        ...['--data-dir', join(folder, 'etcd')],
        '--enable-v2',
        ...['--listen-client-urls', `http://127.0.0.1:${etcdPort}`],
        ...['--advertise-client-urls', `http://127.0.0.1:${etcdPort}`],
        ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
        ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peerPort}`],
        ...['--initial-cluster', `default=http://127.0.0.1:${peerPort}`],
      ]),
      logFile: join(folder, 'etcd.log'),
    });
    const patroni = new Patroni(folder, etcd, members);
    try {
      for (const member of members) patroni.#start(member);
      await patroni.#bothFollow();
    } catch (error) {
      await patroni.destroy();
      throw error;
    }
    return patroni;
  }

  /** As an operator writes it: all members, and that writes are to be taken. */
  get url(): string {
    const hosts = this.#members.map(({ port }) => `127.0.0.1:${port}`);
    return `postgres://postgres@${hosts.join()}/postgres?target_session_attrs=read-write`;
  }

  async end(way: string): Promise<void> {
    const leader = (await this.#cluster()).find(({ role }) => role === 'leader');
    const member = this.#members.find(({ name }) => name === leader?.name);
    if (!member) throw new Error('nobody takes writes');
    this.#ended = member;
    const signal = way === 'freeze' ? 'SIGSTOP' : 'SIGKILL';
    if (way !== 'crash') member.process?.signal(signal);
    signalPostgres(this.#dataOf(member), signal);
  }

  /** The host that ended is started again; the one that stood still goes on where it was. Patroni makes it the standby. */
  async mend(): Promise<void> {
    const member = this.#ended;
    if (!member) return;
    signalPostgres(this.#dataOf(member), 'SIGCONT');
    member.process?.signal('SIGCONT');
    if (member.process?.over) this.#start(member);
    await this.#bothFollow();
  }

  async destroy(): Promise<void> {
    for (const { process } of this.#members) await process?.kill();
    await this.#etcd.kill();
    this.#forget();
    this.#remove();
  }

  /** What Patroni started outlives it. */
  #remove(): void {
    for (const member of this.#members) signalPostgres(this.#dataOf(member), 'SIGKILL');
    // It writes until it is gone.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  /** Waits until one takes writes and the other one has everything before it says that it is stored. */
  async #bothFollow(): Promise<void> {
    const roles = async () => {
      const found = (await this.#cluster()).filter(
        ({ state }) => state === 'running' || state === 'streaming',
      );
      return ROLES.every((role) => found.some((member) => member.role === role));
    };
    if (await eventually(roles, TOGETHER_MS, 200)) return;
    const logs = this.#members.map(({ name }) => tail(join(this.#folder, `${name}.log`)));
    throw new Error(`the two did not come together:\n${logs.join('\n\n')}`);
  }

  #start(member: Member): void {
    member.process = new Child({
      ...asPostgres('patroni', [join(this.#folder, `${member.name}.yml`)]),
      env: { HOME: this.#folder },
      logFile: join(this.#folder, `${member.name}.log`),
    });
  }

  /** What the first member that answers says of both. */
  async #cluster(): Promise<{ name: string; role: string; state: string }[]> {
    for (const { apiPort } of this.#members) {
      try {
        const answer = await fetch(`http://127.0.0.1:${apiPort}/cluster`, {
          signal: AbortSignal.timeout(1000),
        });
        return ((await answer.json()) as { members: { name: string; role: string; state: string }[] })
          .members;
      } catch {
        // It is down: the other one knows.
      }
    }
    return [];
  }

  readonly #dataOf = ({ name }: Member): string => join(this.#folder, name, 'data');
}

function settingsOf({ name, port, apiPort }: Member, folder: string, etcdPort: number): object {
  const trusted = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
  return {
    scope: 'rollcall',
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
    // Not `etcd3`: Patroni before 3.0.3 writes its lock there without asking whose it is by now, so that a host that stood
    // still takes it from the new leader, and what was acknowledged meanwhile is lost (patroni#2689; seen with 3.0.2).
    etcd: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...{ ttl: TTL, loop_wait: 2, retry_timeout: 5 },
        // What is acknowledged is on both, and a PostgreSQL that crashed is not waited for.
        ...{ synchronous_mode: true, primary_start_timeout: 0 },
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, name, 'data'),
      bin_dir: postgresPrograms(),
      pg_hba: trusted,
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
      parameters: { unix_socket_directories: join(folder, name), shared_buffers: '256MB' },
    },
  };
}
