/**
 * The primary of a database ends under load and its standby takes over, again and again. Promoted by us: the primary is
 * killed (its host says so of each connection), it stands still, or its host is gone without a word. With `--patroni`,
 * Patroni decides: PostgreSQL crashes, its host ends, or its host stands still and comes back as if nothing had been.
 */

import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { systemClock } from '@rollcall/shared/clock';
import { sound, type Verdict } from './check.ts';
import { eventually } from './child.ts';
import { hasPatroni, Patroni } from './patroni.ts';
import { mayVanish, Postgres } from './postgres.ts';
import { Random } from './random.ts';
import { World } from './world.ts';

/** Two PostgreSQL, one of which takes writes. */
export interface Pair {
  readonly url: string;
  /** The primary ends, and the other one takes over: now, or when who watches over them sees it. */
  end(way: string): Promise<void>;
  /** There are two again. */
  mend(): Promise<void>;
  destroy(): Promise<void>;
}

export interface FailoverOptions {
  pair: Pair;
  rounds: number;
  /** How the primary ends, in turn. */
  ways: readonly string[];
  seed: string;
  /** The server must serve again by then, milliseconds. */
  withinMs: number;
  say(line: string): void;
}
export interface Failovers {
  /** Milliseconds of each round from the kill until the server answered and stored again; undefined: it did not in time. */
  served: (number | undefined)[];
  verdict: Verdict;
}

/** What is promised (docs/operations.md). */
const SERVED_MS = 15_000;
/** With Patroni: the time it takes to see that a host is gone comes first. */
const PATRONI_MS = 40_000;
/** A backlog that stands still for so long will not be delivered: well above what collectors wait between two tries. */
const STILL_MS = 180_000;

/** Ends the pair, too. */
export async function failover(options: FailoverOptions): Promise<Failovers> {
  const { pair } = options;
  try {
    const world = await World.create({
      database: 'postgresql',
      databaseUrl: pair.url,
      sources: 2,
      rate: 100,
    });
    return await inRounds(world, options);
  } finally {
    await pair.destroy();
  }
}

async function inRounds(world: World, options: FailoverOptions): Promise<Failovers> {
  const { pair, rounds, ways, seed, withinMs, say } = options;
  const random = new Random(seed);
  let bad = true;
  try {
    const served: Failovers['served'] = [];
    for (let round = 0; round < rounds; round++) {
      if (round > 0) await pair.mend();
      await systemClock.sleep(random.whole(500, 2500));
      const way = ways[round % ways.length] ?? 'kill';
      const from = systemClock.monotonic();
      await pair.end(way);
      const stored = await storesAgain(world, round, withinMs - (systemClock.monotonic() - from));
      served.push(stored && systemClock.monotonic() - from);
      say(`round ${round + 1}, ${way}: served again after ${Math.round(served.at(-1) ?? Number.NaN)} ms`);
    }
    for (const source of world.sources) source.setRate(0);
    const late = await world.drained(STILL_MS);
    if (late.length > 0) throw new Error('not everything was delivered');
    const verdict = await world.verdict();
    bad = !sound(verdict) || served.includes(undefined);
    if (bad) say(`ledgers and logs: ${world.folder}`);
    return { served, verdict };
  } finally {
    await world.destroy(bad);
  }
}

function storesAgain({ server }: World, round: number, forMs: number): Promise<true | undefined> {
  const stores = () =>
    server.api('POST', '/api/sites', { name: `after failover ${round}` }).then(
      () => true as const,
      // It was stored, and the answer was lost.
      (error: Error) => error.message.includes('409') || undefined,
    );
  return eventually(stores, forMs, 50) as Promise<true | undefined>;
}

/** A synchronous standby that is promoted by hand. */
export class ByHand implements Pair {
  static readonly WAYS: readonly string[] = ['kill', 'freeze', 'vanish'];
  readonly url: string;
  #primary: Postgres;
  #standby: Postgres;

  private constructor(primary: Postgres, standby: Postgres) {
    this.#primary = primary;
    this.#standby = standby;
    const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`);
    this.url = `postgres://postgres@${hosts.join()}/postgres?target_session_attrs=read-write`;
  }

  static async create(): Promise<ByHand> {
    const primary = await Postgres.create();
    return new ByHand(primary, await primary.standby());
  }

  async end(way: string): Promise<void> {
    if (way === 'vanish') this.#primary.vanish();
    else if (way === 'freeze') this.#primary.signal('SIGSTOP');
    else await this.#primary.kill();
    await this.#standby.promote();
  }

  /** A new standby in place of the one that ended, on its port: the servers know no other. */
  async mend(): Promise<void> {
    const { port } = this.#primary;
    await this.#primary.destroy();
    this.#primary = this.#standby;
    this.#standby = await this.#primary.standby(port);
  }

  async destroy(): Promise<void> {
    await this.#standby.destroy();
    await this.#primary.destroy();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      patroni: { type: 'boolean', default: false },
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const { patroni, seed } = values;
  if (patroni && !hasPatroni()) {
    say('with --patroni: be root, and install patroni and etcd-server');
    process.exit(1);
  }
  const { served, verdict } = await failover({
    pair: await (patroni ? Patroni : ByHand).create(),
    rounds: Number(values.rounds),
    ways: patroni ? Patroni.WAYS : ByHand.WAYS.filter((way) => way !== 'vanish' || mayVanish()),
    seed,
    withinMs: patroni ? PATRONI_MS : SERVED_MS,
    say,
  });
  const green = sound(verdict) && !served.includes(undefined);
  const sorted = served.map((ms) => Math.round(ms ?? Number.NaN)).sort((a, b) => a - b);
  say(`seed ${seed}: ${JSON.stringify({ ...verdict, examples: verdict.examples.slice(0, 5) })}`);
  say(
    `served again after ${sorted[sorted.length >> 1]} ms (median), ${sorted.at(-1)} ms (most) of ${served.length}`,
  );
  say(green ? 'failover: green' : 'failover: RED');
  process.exit(green ? 0 : 1);
}
