/** Everything of one run: a server (or several) on one database, two sites, some sources, each behind a proxy of its own. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@rollcall/server/platform/db/db';
import { openLog } from '@rollcall/server/platform/ops/log';
import { systemClock } from '@rollcall/shared/clock';
import { Balancer, settingsFile } from './balancer.ts';
import { check, type Verdict } from './check.ts';
import { eventually } from './child.ts';
import { preload, SourceProcess } from './collector.ts';
import { freePort, Postgres, postgresPrograms } from './postgres.ts';
import { Server } from './server.ts';

/** Every other source has its state on a disk of so many megabytes. */
const SMALL_DISK = 64;

export type DatabaseKind = 'postgresql' | 'pglite';

export interface WorldOptions {
  database: DatabaseKind;
  /** More than one: behind a balancer, on PostgreSQL. */
  servers?: number;
  sources: number;
  /** Observations per second of each source. */
  rate: number;
  /** Of the waits between tries to connect, as a share of what the product waits: 1 is the truth. */
  haste?: number;
  outboxBytes?: number;
  /** Every other source has its state on a disk that can be filled. */
  smallDisks?: boolean;
  /** PostgreSQL has its data on a disk of so many megabytes. */
  databaseDisk?: number;
  /** A PostgreSQL that runs already, and outlives this world. */
  databaseUrl?: string;
  /** Checkout whose servers run; absent: this one. */
  checkout?: string;
  /** Of each server, by the names of their environment variables. */
  settings?: Readonly<Record<string, string>>;
}

/** The databases that this machine can offer, for `describe.each`. */
export const databaseKinds = (): DatabaseKind[] =>
  postgresPrograms() ? ['pglite', 'postgresql'] : ['pglite'];

export class World {
  readonly folder: string;
  readonly servers: readonly Server[];
  /** In front of several servers. */
  #balancer: Balancer | undefined;
  /** That it started itself. */
  readonly postgres: Postgres | undefined;
  readonly #databaseUrl: string | undefined;
  readonly sources: SourceProcess[] = [];
  readonly database: DatabaseKind;
  readonly #begun = systemClock.monotonic();

  private constructor(
    options: WorldOptions,
    folder: string,
    servers: readonly Server[],
    postgres: Postgres | undefined,
    databaseUrl: string | undefined,
  ) {
    this.#databaseUrl = databaseUrl;
    this.database = options.database;
    this.folder = folder;
    this.servers = servers;
    this.postgres = postgres;
  }

  /** The first, or the only one. */
  get server(): Server {
    const [first] = this.servers;
    if (!first) throw new Error('no server');
    return first;
  }
  /** Where collectors and people connect. */
  get port(): number {
    return this.#balancer?.port ?? this.server.port;
  }

  /** Builds it and starts everything; sources observe from their start on. */
  static async create(options: WorldOptions): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-chaos-'));
    mkdirSync(join(folder, 'server'));
    const postgres =
      options.database === 'postgresql' && options.databaseUrl === undefined
        ? await Postgres.create({ diskMegabytes: options.databaseDisk })
        : undefined;
    const databaseUrl = options.databaseUrl ?? postgres?.url();
    const servers = await makeServers(options, folder, databaseUrl);
    const world = new World(options, folder, servers, postgres, databaseUrl);
    try {
      await world.#begin(options);
    } catch (error) {
      // What runs on would slow down all that comes after it.
      await world.destroy(true);
      throw error;
    }
    return world;
  }

  async #begin(options: WorldOptions): Promise<void> {
    const { server, servers, folder } = this;
    await server.prepare();
    for (const each of servers) each.token = server.token;
    await Promise.all(servers.map((each) => each.startReady()));
    if (servers.length > 1)
      this.#balancer = await Balancer.open(
        join(folder, 'balancer'),
        servers.map(({ port }) => port),
      );
    const sites: { id: string; name: string }[] = [];
    for (const name of ['north', 'south']) sites.push(await siteOf(server, name));
    for (let index = 0; index < options.sources; index++) {
      const source = await SourceProcess.enrol(
        {
          folder: join(folder, `source-${index}`),
          name: { index, place: index >> 1 },
          site: sites[index % 2] ?? { id: '', name: '' },
          rate: options.rate,
          haste: options.haste ?? 1,
          ...(options.smallDisks && index % 2 === 1 ? { diskMegabytes: SMALL_DISK } : {}),
          ...(options.outboxBytes === undefined ? {} : { outboxBytes: options.outboxBytes }),
        },
        server,
        this.port,
      );
      this.sources.push(source);
    }
    for (const source of this.sources) await source.startSpeaking();
    await Promise.all(this.sources.map((source) => source.measure(server)));
  }

  /** One line of what was done when. */
  note(text: string): void {
    const seconds = ((systemClock.monotonic() - this.#begun) / 1000).toFixed(3);
    appendFileSync(join(this.folder, 'journal'), `${seconds.padStart(10)} ${text}\n`);
  }

  /** The server dies when a batch reaches this stage the `times`-th time from now; answers whether it did. */
  async diesWhen(stage: string, times: number, forMs: number): Promise<boolean> {
    const file = join(this.folder, 'server', 'stage');
    writeFileSync(file, `${stage}:${times}`);
    const died = await eventually(() => !this.server.running, forMs, 20);
    rmSync(file);
    return died === true;
  }

  /** The server's ingest thread ends when a batch reaches this stage the `times`-th time from now; answers whether it did. */
  async threadDiesWhen(stage: string, times: number, forMs: number): Promise<boolean> {
    const file = join(this.folder, 'server', 'stage');
    const deaths = () => readFileSync(this.server.logFile, 'utf8').split('the ingest thread ended').length;
    const before = deaths();
    writeFileSync(file, `${stage}:${times}:thread`);
    const died = await eventually(() => deaths() > before, forMs, 50);
    rmSync(file);
    return died === true;
  }

  setServerClock(offsetMs: number): void {
    writeFileSync(join(this.folder, 'server', 'clock'), String(offsetMs));
  }

  /**
   * Waits until every source has delivered everything, for as long as the backlog shrinks: its speed is not judged
   * here. Answers those that have not when it stood still for `stillMs`.
   */
  async drained(stillMs: number): Promise<SourceProcess[]> {
    const late = () => this.sources.filter((source) => !source.isDrained);
    const backlog = () =>
      this.sources.reduce((sum, { told }) => sum + (told?.depth ?? Number.POSITIVE_INFINITY), 0);
    for (let least = backlog(); ; least = backlog()) {
      const moved = await eventually(() => late().length === 0 || backlog() < least, stillMs, 100);
      if (!moved || late().length === 0) return late();
    }
  }

  /** Ends the processes as they are ended in operation, and compares the ledgers with the database. */
  async verdict(): Promise<Verdict> {
    for (const source of this.sources) await source.stop();
    for (const server of this.servers) await server.stop();
    const log = openLog({ logLevel: 'silent' });
    const where = this.#databaseUrl
      ? { url: this.#databaseUrl }
      : { folder: join(this.folder, 'server', 'data', 'database') };
    const db = await openDatabase(where, log);
    try {
      return await check(
        db,
        this.sources.map(({ name, id, site, ledgerFile }) => ({
          index: name.index,
          collectorId: id,
          siteId: site.id,
          ledgerFile,
        })),
      );
    } finally {
      await db.close();
    }
  }

  /** Ends everything; `keep` leaves ledgers and logs for people to read. */
  async destroy(keep = false): Promise<void> {
    for (const source of this.sources) await source.destroy();
    for (const server of this.servers) await server.kill();
    await this.#balancer?.close();
    await this.postgres?.destroy();
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One has its settings from the environment; several share the file of the example, and one key. */
async function makeServers(
  { servers: count = 1, settings = {}, checkout }: WorldOptions,
  folder: string,
  databaseUrl: string | undefined,
): Promise<Server[]> {
  const keyFile = join(folder, 'credential.keys');
  if (count > 1) writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const shared =
    count > 1 && databaseUrl !== undefined
      ? { ROLLCALL_CONFIG: settingsFile(folder, databaseUrl), ROLLCALL_KEY_FILE: keyFile }
      : undefined;
  const servers: Server[] = [];
  for (let i = 0; i < count; i++)
    servers.push(
      new Server({
        folder: join(folder, i === 0 ? 'server' : `server-${i}`, 'data'),
        port: await freePort(),
        databaseUrl: shared ? undefined : databaseUrl,
        checkout,
        preload: [preload('clock'), preload('failpoint')],
        env: {
          CHAOS_CLOCK_FILE: join(folder, 'server', 'clock'),
          CHAOS_STAGE_FILE: join(folder, 'server', 'stage'),
          ...shared,
          ...settings,
        },
      }),
    );
  return servers;
}

/** Makes a site. Asks again when it is told to: on a busy machine the first connections to the database take their time. */
async function siteOf(server: Server, name: string): Promise<{ id: string; name: string }> {
  const ask = () => server.api<{ data: { id: string; name: string } }>('POST', '/api/sites', { name });
  const again = (error: Error) => {
    if (!error.message.includes(' 503 ')) throw error;
  };
  const made = await eventually(() => ask().catch(again), 120_000, 1000);
  if (made === undefined) throw new Error(`the server does not make the site ${name}`);
  return made.data;
}
