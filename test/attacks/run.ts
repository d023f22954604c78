/** One run: an installation with two sites, one of which is attacked by each attacker in turn; then what came of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '@rollcall/server/platform/db/db';
import { openLog } from '@rollcall/server/platform/ops/log';
import { enrolled } from '@rollcall/server/testing/scripted-collector';
import { systemClock } from '@rollcall/shared/clock';
import { check } from '../chaos/check.ts';
import { Child, eventually, output, tail } from '../chaos/child.ts';
import { COLLECTOR } from '../chaos/collector.ts';
import { freePort } from '../chaos/postgres.ts';
import { ROOT } from '../chaos/server.ts';
import { World } from '../chaos/world.ts';
import { Honest, tooSlow, type Waits } from './honest.ts';
import { ATTACKERS, type AttackerName, HONEST, MARK, type Scene, send, Tally } from './scene.ts';

const RATE = 20;
const STOLEN_KEYS = 24;
/** Of the time of each attack so much goes before it, without any. */
export const IDLE_SHARE = 0.25;
/** What is written to while the other site works on: judged by the checker, row by row. Everything else stays as it is. */
const POURED = new Set(
  (
    'audit cases case_activity case_outbox collectors collector_streams conditions connection_history dead_letters ' +
    'devices device_addresses device_facts device_tally event_tally endpoint_tally events evidence identity_decisions sightings ' +
    'monitoring_history backlog_history merged_devices deliveries samples sample_chunks sensors baselines'
  ).split(' '),
);

export interface Options {
  seed: number;
  /** Of each attacker. */
  seconds: number;
  only?: readonly AttackerName[];
  say(line: string): void;
}

export interface Report {
  seed: number;
  seconds: number;
  attackers: Partial<
    Record<AttackerName, Pick<Tally, 'sent' | 'answers'> & { idle: Waits; waits: Waits; slow: string[] }>
  >;
  honestRequests: number;
  crossings: number;
  crashes: number;
  serverErrors: number;
  /** Everything that must not be, in words; slow answers apart, which a busy machine has too. */
  faults: string[];
}

export async function attackAll({ seed, seconds, only = ATTACKERS, say }: Options): Promise<Report> {
  const world = await World.create({
    database: 'postgresql',
    sources: 2,
    rate: RATE,
    settings: { ROLLCALL_RATE_LIMIT: '60000' },
  });
  const db = await openDatabase({ url: world.postgres?.url() ?? '' }, openLog({ logLevel: 'silent' }));
  let keep = true;
  try {
    const run = await Run.prepare(world, db, seconds);
    const report = await run.all(seed, only, say);
    keep = report.faults.length > 0;
    if (keep) say(`ledgers and logs: ${world.folder}`);
    return report;
  } finally {
    await db.close();
    await world.destroy(keep);
  }
}

class Run {
  readonly #world: World;
  readonly #db: Database;
  readonly #scene: Omit<Scene, 'who' | 'seed'>;
  readonly #sites: { north: string; south: string };
  readonly #walker: Child;
  readonly #crew: Crew;
  readonly #honestToken: string;
  readonly #faults: string[] = [];
  #crossings = 0;
  #crashes = 0;
  #serverErrors = 0;

  private constructor(
    world: World,
    db: Database,
    scene: Omit<Scene, 'who' | 'seed'>,
    rest: { walker: Child; honestToken: string },
  ) {
    this.#world = world;
    this.#db = db;
    this.#scene = scene;
    const [north = '', south = ''] = world.sources.map(({ site }) => site.id);
    this.#sites = { north, south };
    this.#walker = rest.walker;
    this.#crew = new Crew(world.folder);
    this.#honestToken = rest.honestToken;
  }

  static async prepare(world: World, db: Database, seconds: number): Promise<Run> {
    const { server, folder } = world;
    const [north = '', south = ''] = world.sources.map(({ site }) => site.id);
    const [snmpPort, trapPort] = [await freePort(), await freePort()];
    // What the attackers subscribe to goes nowhere: their targets are made up.
    await db.query(`CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.next_at := NULL; RETURN NEW; END $$`);
    await db.query(`CREATE TRIGGER stays BEFORE INSERT OR UPDATE ON deliveries
      FOR EACH ROW EXECUTE FUNCTION stays()`);
    const foreign = await furnish(world, south);
    await server.api('PATCH', `/api/sites/${north}`, {
      allowLoopback: true,
      settings: { snmpPort, watchNamesSeconds: 0 },
    });
    await server.api('POST', '/api/credentials', credential('public', north));
    const tokens: string[] = [];
    for (const role of ['operator', 'admin', 'viewer'] as const)
      tokens.push(await account(world, { name: `neighbour-${role}`, role, siteIds: [north] }));
    const honestToken = await account(world, { name: HONEST.name, role: 'operator', siteIds: [south] });
    const collectors: Scene['collectors'] = [];
    for (let i = 0; i < STOLEN_KEYS; i++) {
      const { id, key } = await enrolled(db, north, `stolen ${i}`);
      const secret = key.secret.export({ format: 'der', type: 'pkcs8' }).toString('base64');
      collectors.push({ id, key: secret, raw: key.raw.toString('base64') });
    }
    const walker = await walkerOf(world, north, trapPort);
    const scene = {
      seconds,
      folder,
      url: server.url,
      siteId: north,
      foreign,
      tokens,
      collectors,
      snmpPort,
      trapPort,
    };
    const run = new Run(world, db, scene, { walker, honestToken });
    await run.#crew.gather();
    return run;
  }

  async all(seed: number, only: readonly AttackerName[], say: Options['say']): Promise<Report> {
    const { server, sources } = this.#world;
    const { seconds } = this.#scene;
    const honest = new Honest(server.url, this.#honestToken, sources[1] as (typeof sources)[number]);
    await this.#signsIn();
    const before = await this.#stable();
    const attackers: Report['attackers'] = {};
    for (const who of only) {
      // Measured before each anew: what else the machine does is another thing every minute.
      await eventually(() => sources[1]?.isDrained || (sources[1]?.told?.depth ?? 0) < RATE, 10_000);
      honest.p95();
      await systemClock.sleep(Math.max(1, seconds * IDLE_SHARE) * 1000);
      const idle = honest.p95();
      const { sent, answers } = await this.#attack(who, seed);
      const waits = honest.p95();
      attackers[who] = { sent, answers, idle, waits, slow: tooSlow(idle, waits) };
      const told = [
        `${sent} sent`,
        ...Object.entries({ idle, attacked: waits }).map(shown),
        JSON.stringify(answers),
      ];
      say(`${who}: ${told.join(', ')}`);
    }
    this.#crew.dismiss();
    await honest.stop();
    if (Object.keys(honest.refused).length > 0)
      this.#fault(`the other site's user was refused: ${JSON.stringify(honest.refused)}`);
    for (const [status, n] of Object.entries(honest.refused)) if (status >= '500') this.#serverErrors += n;
    await this.#signsIn();
    await this.#judge(before);
    return {
      seed,
      seconds,
      attackers,
      honestRequests: honest.requests,
      crossings: this.#crossings,
      crashes: this.#crashes,
      serverErrors: this.#serverErrors,
      faults: this.#faults,
    };
  }

  #fault(text: string): void {
    this.#faults.push(text);
  }

  /** The owner of a password that attackers guess at is let in, with the right one. */
  async #signsIn(): Promise<void> {
    const { url } = this.#world.server;
    const headers = { 'content-type': 'application/json', origin: url };
    const heard = await send(url, {
      method: 'POST',
      path: '/api/session',
      headers,
      body: JSON.stringify(HONEST),
    });
    if (heard === 'cut' || heard.status !== 200)
      this.#fault(`the owner of a password is not let in: ${JSON.stringify(heard)}`);
  }

  async #attack(who: AttackerName, seed: number): Promise<Tally> {
    const tally = await this.#crew.attack({ ...this.#scene, who, seed });
    if (typeof tally === 'string') {
      this.#fault(`the attacker ${who} ended: ${tally}`);
      return new Tally();
    }
    for (const text of tally.faults) {
      this.#fault(`${who}: ${text}`);
      if (/another site/.test(text)) this.#crossings += 1;
    }
    for (const [status, n] of Object.entries(tally.answers))
      if (/^5\d\d$/.test(status)) this.#serverErrors += n;
    return tally;
  }

  async #judge(before: Map<string, string>): Promise<void> {
    const { server, sources } = this.#world;
    const processes = {
      server: server.child,
      walker: this.#walker,
      north: sources[0]?.child,
      south: sources[1]?.child,
    };
    for (const [name, child] of Object.entries(processes))
      if (!child || child.over) {
        this.#crashes += 1;
        this.#fault(`${name} ended: ${JSON.stringify(child?.over)}`);
      }
    for (const line of readFileSync(server.logFile, 'utf8').split('\n'))
      if (/"level":"(error|fatal)"/.test(line)) this.#fault(`the server's log: ${line.slice(0, 600)}`);
    await this.#walker.stop(15_000);
    await this.#crossed(before);
    for (const source of sources) source.setRate(0);
    const late = await this.#world.drained(60_000);
    for (const { name } of late) this.#fault(`source ${name.index} has not delivered everything`);
    await this.#ledger();
  }

  /** What of the other site is not as it was, or speaks of an attacker. */
  async #crossed(before: Map<string, string>): Promise<void> {
    for (const [table, digest] of await this.#stable())
      if (before.get(table) !== digest) {
        this.#crossings += 1;
        this.#fault(`${table} of the other site is not what it was`);
      }
    for (const table of await this.#tables()) {
      const [row] = await this.#db.query<{ n: number; some: string | null }>(
        `SELECT count(*)::int AS n, min(left(t::text, 400)) AS some FROM ${table} t
         WHERE site_id = $1::uuid AND t::text LIKE '%' || $2 || '%'`,
        [this.#sites.south, MARK],
      );
      if (!row?.n) continue;
      this.#crossings += row.n;
      this.#fault(`${table} of the other site speaks of an attacker: ${row.some}`);
    }
  }

  /** What the honest collector of the other site observed is there, and nothing else of its kinds. */
  async #ledger(): Promise<void> {
    const [, source] = this.#world.sources;
    if (!source) return;
    const { name, id, site, ledgerFile } = source;
    const owner = { index: name.index, collectorId: id, siteId: site.id, ledgerFile };
    const rows = { query: this.#db.query.bind(this.#db), site: site.id };
    const { lost, doubled, altered, misattributed, foreign, examples } = await check(rows as never, [owner]);
    this.#crossings += misattributed + foreign;
    if (lost + doubled + altered + misattributed + foreign > 0)
      this.#fault(`the other site's observations: ${JSON.stringify(examples)}`);
  }

  /** Tables with rows of sites. */
  async #tables(): Promise<string[]> {
    const rows = await this.#db.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = 'public' AND column_name = 'site_id' AND table_type = 'BASE TABLE' ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  }

  /** Digests of those rows of the other site that no work of its own changes. */
  async #stable(): Promise<Map<string, string>> {
    const digests = new Map<string, string>();
    const digest = async (table: string, condition: string) => {
      const [row] = await this.#db.query<{ digest: string | null }>(
        `SELECT md5(string_agg(t::text, '\n' ORDER BY t::text)) AS digest FROM ${table} t WHERE ${condition}`,
        [this.#sites.south],
      );
      digests.set(table, row?.digest ?? '');
    };
    for (const table of await this.#tables())
      if (!POURED.has(table)) await digest(table, 'site_id = $1::uuid');
    await digest('sites', 'id = $1::uuid');
    const [people] = await this.#db.query<{ digest: string }>(
      `SELECT string_agg(row(name, password_hash, role, all_sites, disabled_at)::text, ',' ORDER BY id) AS digest
       FROM users WHERE id IN (SELECT user_id FROM user_sites WHERE site_id = $1::uuid)`,
      [this.#sites.south],
    );
    digests.set('users', people?.digest ?? '');
    return digests;
  }
}

const shown = ([when, { user, collector }]: [string, Waits]): string =>
  `p95 ${when} of the user ${user} ms, of the collector ${collector} ms`;

/** The process of the attackers. */
class Crew {
  readonly #folder: string;
  #child: Child | undefined;
  #hears: (tally: Tally) => void = () => undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts it; after a crash again. */
  async gather(): Promise<void> {
    if (this.#child && !this.#child.over) return;
    const hooks = join(ROOT, 'scripts/from-sources.mjs');
    const program = fileURLToPath(new URL('attacker.ts', import.meta.url));
    // Others' machines, not this one: attackers take what processor time the attacked leave.
    const args = ['-n', '15', process.execPath, '--import', hooks, program];
    const child = new Child({ command: 'nice', args, logFile: this.#log, channel: true });
    this.#child = child;
    await new Promise<void>((resolve) => {
      child.onMessage((message) => (message === 'here' ? resolve() : this.#hears(message as Tally)));
      void child.ended.then(() => resolve());
    });
  }

  /** What it counted, or the last words of the process. */
  async attack(scene: Scene): Promise<Tally | string> {
    await this.gather();
    const counted = new Promise<Tally>((resolve) => {
      this.#hears = resolve;
    });
    this.#child?.send(scene);
    return Promise.race([counted, this.#child?.ended.then(() => tail(this.#log)) ?? '']);
  }

  dismiss(): void {
    this.#child?.signal('SIGKILL');
  }

  get #log(): string {
    return join(this.#folder, 'attackers.log');
  }
}

/** Things of the other site, each of which may be asked for; answers their ids. */
async function furnish({ server, sources }: World, south: string): Promise<string[]> {
  const made = async (path: string, body: object): Promise<string> =>
    (await server.api<{ data: { id: string } }>('POST', path, body)).data.id;
  const listed = async (path: string): Promise<string[]> =>
    (await server.api<{ data: { id: string }[] }>('GET', path)).data.map(({ id }) => id);
  const schedule = {
    name: 'CANARY-OF-SOUTH',
    targets: '10.9.0.0/24',
    profile: 'standard',
    site: south,
    cron: '0 0 1 1 *',
  };
  const ids = [
    south,
    sources[1]?.id ?? '',
    await made('/api/credentials', credential('CANARY-OF-SOUTH', south)),
    await made('/api/discovery/schedules', schedule),
  ];
  await eventually(async () => (await listed(`/api/devices?site=${south}`)).length > 10, 30_000);
  for (const what of ['devices', 'events', 'cases'])
    ids.push(...(await listed(`/api/${what}?site=${south}&pageSize=10`)));
  return ids;
}

const credential = (name: string, site: string) => ({
  name,
  version: 'v2c',
  community: 'public',
  allSites: false,
  siteIds: [site],
});

/** An account of some sites; answers a token of it, which its owner makes. */
async function account(
  { server }: World,
  { name, role, siteIds }: { name: string; role: string; siteIds: string[] },
): Promise<string> {
  const { password } = HONEST;
  const { url } = server;
  await server.api('POST', '/api/users', { name, password, role, siteIds, allSites: false });
  const headers = { 'Content-Type': 'application/json', Origin: url };
  const body = JSON.stringify({ name, password });
  const session = await fetch(`${url}/api/session`, { method: 'POST', headers, body });
  const [cookie = ''] = session.headers.getSetCookie().map((text) => text.split(';')[0] ?? '');
  const asked = { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify({ name: 'test' }) };
  const made = (await (await fetch(`${url}/api/tokens`, asked)).json()) as { token: string };
  return made.token;
}

/** The attacked site's own collector, as it is installed: it sweeps loopback only, and takes traps. */
async function walkerOf({ server, folder }: World, site: string, trapPort: number): Promise<Child> {
  const state = join(folder, 'walker');
  const { token } = await server.api<{ token: string }>('POST', '/api/collectors/join-tokens', {
    siteId: site,
  });
  const joining = [COLLECTOR, 'join', server.url, token, '--name', 'walker', '--state', state, '--json'];
  await output(process.execPath, joining);
  return new Child({
    command: process.execPath,
    args: [COLLECTOR, 'run', '--state', state],
    env: { ROLLCALL_COLLECTOR_ALLOW: '127.0.0.0/8', ROLLCALL_COLLECTOR_TRAPS_PORT: String(trapPort) },
    logFile: join(folder, 'walker.log'),
  });
}
