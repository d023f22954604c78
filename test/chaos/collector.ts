/** A source as a process of its own, behind a proxy of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child, type Ended, eventually, output, tail } from './child.ts';
import { SmallDisk } from './disk.ts';
import { measuredName, type SourceName } from './facts.ts';
import { FaultProxy } from './proxy.ts';
import { ROOT, type Server } from './server.ts';

/** The compiled program, from the sources and from dist/ alike. */
const PROGRAM = fileURLToPath(new URL('.', import.meta.url)).replace(
  /chaos\/(dist\/)?$/,
  'chaos/dist/source.js',
);

export const COLLECTOR = join(ROOT, 'packages/collector/bin/rollcall-collector.js');

/** What a source last said of itself. */
export interface Told {
  /** Next number. */
  n: number;
  /** Observations its outbox took in this life. */
  kept: number;
  /** Observations in the outbox. */
  depth: number;
  /** Appends that the disk has not answered. */
  waiting: number;
  /** What it was told, so many times. */
  heard: number;
  paused: string | null;
  drops: Record<string, number>;
  /** Longest time that an event needed to be acknowledged, of those since the last word. */
  lateMs: number;
  link: string;
  epoch: string;
}

export interface SourceOptions {
  folder: string;
  name: SourceName;
  site: { id: string; name: string };
  /** Observations per second. */
  rate: number;
  outboxBytes?: number;
  /** Share of the product's waits between tries to connect. */
  haste?: number;
  /** Its state lies on a disk of so many megabytes. */
  diskMegabytes?: number;
}

export class SourceProcess {
  readonly #options: SourceOptions;
  readonly proxy: FaultProxy;
  readonly disk: SmallDisk | undefined;
  #child: Child | undefined;
  #said = 0;
  /** The device that it measures, as the server knows it. */
  #measures: string | undefined;
  told: Told | undefined;
  onTold: ((told: Told) => void) | undefined;
  id = '';

  private constructor(options: SourceOptions, proxy: FaultProxy, disk: SmallDisk | undefined) {
    this.#options = options;
    this.proxy = proxy;
    this.disk = disk;
  }

  /** Opens its proxy to `port` and joins its site through it, by a token as an administrator makes it. */
  static async enrol(options: SourceOptions, server: Server, port: number): Promise<SourceProcess> {
    mkdirSync(options.folder, { recursive: true });
    const proxy = await FaultProxy.open({ host: '127.0.0.1', port });
    const { diskMegabytes } = options;
    const disk =
      diskMegabytes === undefined
        ? undefined
        : await SmallDisk.create(join(options.folder, 'disk'), diskMegabytes);
    const source = new SourceProcess(options, proxy, disk);
    const { token } = await server.api<{ token: string }>('POST', '/api/collectors/join-tokens', {
      siteId: options.site.id,
    });
    const name = `source-${options.name.index}`;
    const url = `http://127.0.0.1:${proxy.port}`;
    const words = [...(disk?.wrap ?? []), process.execPath, COLLECTOR, 'join', url, token, '--name', name];
    const answer = await output(words[0] ?? '', [...words.slice(1), '--state', source.stateFolder, '--json']);
    source.id = JSON.parse(answer).collector;
    return source;
  }

  get name(): SourceName {
    return this.#options.name;
  }
  get site(): { id: string; name: string } {
    return this.#options.site;
  }
  get stateFolder(): string {
    return join(this.disk?.folder ?? this.#options.folder, 'state');
  }
  get ledgerFile(): string {
    return join(this.#options.folder, 'ledger');
  }
  get logFile(): string {
    return join(this.#options.folder, 'source.log');
  }
  get clockFile(): string {
    return join(this.#options.folder, 'clock');
  }
  get child(): Child | undefined {
    return this.#child;
  }
  get running(): boolean {
    return this.#child !== undefined && this.#child.over === undefined;
  }
  get linked(): boolean {
    return this.running && this.told?.link === 'ready';
  }

  /** `wrap`: words before the command (strace, unshare). */
  start({ wrap = [], env = {}, flags = [] }: StartSource = {}): void {
    if (this.running) throw new Error('the source runs already');
    this.told = undefined;
    this.#said = 0;
    const { name, rate, outboxBytes = 1e10 } = this.#options;
    const words = [
      ...(this.disk?.wrap ?? []),
      ...wrap,
      process.execPath,
      '--import',
      preload('clock'),
      PROGRAM,
      this.stateFolder,
      this.ledgerFile,
      ...[name.index, name.place, rate, outboxBytes].map(String),
      ...flags,
      ...(this.#measures === undefined ? [] : [`--measures=${this.#measures}`]),
    ];
    const child = new Child({
      command: words[0] ?? '',
      args: words.slice(1),
      env: {
        LOG_LEVEL: 'info',
        CHAOS_HASTE: String(this.#options.haste ?? 1),
        CHAOS_CLOCK_FILE: this.clockFile,
        ...env,
      },
      cwd: this.#options.folder,
      logFile: this.logFile,
      channel: true,
    });
    child.onMessage((message) => {
      if (this.#child !== child) return;
      this.told = message as Told;
      this.onTold?.(this.told);
    });
    this.#child = child;
  }

  /** From now on it measures its first device, which has to be with the server by then. */
  async measure(server: Server, forMs = 180_000): Promise<void> {
    const name = measuredName(this.name);
    const path = `/api/devices?search=${encodeURIComponent(name)}&pageSize=1`;
    const known = async () => (await server.api<{ data: { id: string }[] }>('GET', path)).data[0]?.id;
    this.#measures = await eventually(known, forMs, 50);
    if (this.#measures === undefined) throw new Error(`${name} is not with the server`);
    this.#say({ measures: this.#measures });
  }

  /** Another process on the same state folder; answers how it ended. */
  startTwin(): Promise<Ended> {
    const { name } = this.#options;
    const twin = [PROGRAM, this.stateFolder, `${this.ledgerFile}.twin`];
    const words = [
      ...(this.disk?.wrap ?? []),
      process.execPath,
      ...twin,
      ...[name.index, name.place, 1, 1e9].map(String),
    ];
    return new Child({ command: words[0] ?? '', args: words.slice(1), logFile: this.logFile }).ended;
  }

  /** Starts and waits for its first word; throws with its last ones when it ends instead: a start that failed. */
  async startSpeaking(options: StartSource = {}, forMs = 180_000): Promise<void> {
    this.start(options);
    const told = await eventually(() => this.told ?? (this.running ? undefined : 'ended'), forMs, 10);
    if (told === undefined || told === 'ended')
      throw new Error(`source ${this.name.index} does not start:\n${tail(this.logFile)}`);
  }

  kill(): Promise<Ended | undefined> {
    return this.#child?.kill() ?? Promise.resolve(undefined);
  }
  stop(patienceMs = 15_000): Promise<Ended | undefined> {
    return this.#child?.stop(patienceMs) ?? Promise.resolve(undefined);
  }
  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** Ends it and everything around it. */
  async destroy(): Promise<void> {
    await this.kill();
    await this.disk?.destroy();
    await this.proxy.close();
  }

  setRate(rate: number): void {
    this.#options.rate = rate;
    this.#say({ rate });
  }
  /** Observes only what travels in one stream, or all again. */
  setOnly(only: 'state' | 'event' | 'sample' | 'all'): void {
    this.#say({ only });
  }
  /** Observes up to this number and no further. */
  setUntil(until: number): void {
    this.#say({ until });
  }

  /** Observes nothing new until everything is with the server, then goes on. */
  async settled(forMs: number): Promise<true | undefined> {
    const { rate } = this.#options;
    this.setRate(0);
    const drained = await this.drained(forMs);
    this.setRate(rate);
    return drained;
  }

  /** Everything it observed is with the server; asked of one that observes nothing new. */
  drained(forMs: number): Promise<true | undefined> {
    return eventually(() => this.isDrained, forMs, 100);
  }

  /** By a word that came after it heard what it was told last: an older one knows nothing of what was observed since. */
  get isDrained(): boolean {
    const { depth, waiting, heard } = this.told ?? {};
    return this.linked && depth === 0 && waiting === 0 && heard === this.#said;
  }

  #say(message: object): void {
    this.#said += 1;
    this.#child?.send(message);
  }
}

export interface StartSource {
  wrap?: readonly string[];
  env?: Readonly<Record<string, string>>;
  flags?: readonly string[];
}

/** URL of a module of the harness to be loaded into a process before its own. */
export const preload = (name: string): string =>
  new URL(`file://${PROGRAM.replace(/source\.js$/, `preload-${name}.js`)}`).href;
