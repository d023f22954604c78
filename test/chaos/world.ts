/** Everything of one run: a server on one database, two sites, some sources, each behind a proxy of its own. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@rollcall/server/kernel/db';
import { openLog } from '@rollcall/server/kernel/log';
import { systemClock } from '@rollcall/shared/clock';
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
  sources: number;
  /** Observations per second of each source. */
  rate: number;
  /** Of the waits between tries to connect, as a share of what the product waits: 1 is the truth. */
  haste?: number;
  outboxBytes?: number;
  /** Every other source has its state on a disk that can be filled. */
  smallDisks?: boolean;
}

/** The databases that this machine can offer, for `describe.each`. */
export const databaseKinds = (): DatabaseKind[] =>
  postgresPrograms() ? ['pglite', 'postgresql'] : ['pglite'];

export class World {
  readonly folder: string;
  readonly server: Server;
  readonly postgres: Postgres | undefined;
  readonly sources: SourceProcess[] = [];
  readonly database: DatabaseKind;
  readonly #begun = systemClock.monotonic();

  private constructor(options: WorldOptions, folder: string, server: Server, postgres: Postgres | undefined) {
    this.database = options.database;
    this.folder = folder;
    this.server = server;
    this.postgres = postgres;
  }

  /** Builds it and starts everything; sources observe from their start on. */
  static async create(options: WorldOptions): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-chaos-'));
    mkdirSync(join(folder, 'server'));
    const postgres = options.database === 'postgresql' ? await Postgres.create() : undefined;
    const server = new Server({
      folder: join(folder, 'server', 'data'),
      port: await freePort(),
      databaseUrl: postgres?.url(),
      preload: [preload('clock'), preload('failpoint')],
      env: {
        CHAOS_CLOCK_FILE: join(folder, 'server', 'clock'),
        CHAOS_STAGE_FILE: join(folder, 'server', 'stage'),
      },
    });
    const world = new World(options, folder, server, postgres);
    await server.prepare();
    await server.startReady();
    const sites: { id: string; name: string }[] = [];
    for (const name of ['north', 'south'])
      sites.push(
        (await server.api<{ data: { id: string; name: string } }>('POST', '/api/sites', { name })).data,
      );
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
      );
      world.sources.push(source);
    }
    for (const source of world.sources) await source.startSpeaking();
    return world;
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

  setServerClock(offsetMs: number): void {
    writeFileSync(join(this.folder, 'server', 'clock'), String(offsetMs));
  }

  /** Waits until every source has delivered everything; answers those that have not by then. */
  async drained(forMs: number): Promise<SourceProcess[]> {
    const until = systemClock.monotonic() + forMs;
    const late: SourceProcess[] = [];
    for (const source of this.sources)
      if (!(await source.drained(Math.max(0, until - systemClock.monotonic())))) late.push(source);
    return late;
  }

  /** Ends the processes as they are ended in operation, and compares the ledgers with the database. */
  async verdict(): Promise<Verdict> {
    for (const source of this.sources) await source.stop();
    await this.server.stop();
    const log = openLog({ logLevel: 'silent' });
    const where = this.postgres
      ? { url: this.postgres.url() }
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
    await this.server.kill();
    await this.postgres?.destroy();
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}
