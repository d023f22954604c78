/**
 * The primary of a database ends under load and its standby takes over, again and again: it is killed (its host says so of
 * each connection), it stands still, or its host is gone without a word.
 */

import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { systemClock } from '@rollcall/shared/clock';
import { sound, type Verdict } from './check.ts';
import { eventually } from './child.ts';
import { mayVanish } from './postgres.ts';
import { Random } from './random.ts';
import { World } from './world.ts';

export const WAYS = ['kill', 'freeze', 'vanish'] as const;
export type Way = (typeof WAYS)[number];

export interface FailoverOptions {
  rounds: number;
  /** How the primary ends, in turn. */
  ways: readonly Way[];
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
/** A backlog that stands still for so long will not be delivered: well above what collectors wait between two tries. */
const STILL_MS = 180_000;

export async function failover({ rounds, ways, seed, withinMs, say }: FailoverOptions): Promise<Failovers> {
  const random = new Random(seed);
  const world = await World.create({ database: 'postgresql', standby: true, sources: 2, rate: 100 });
  let bad = true;
  try {
    const served: Failovers['served'] = [];
    for (let round = 0; round < rounds; round++) {
      if (round > 0) await replaceStandby(world);
      await systemClock.sleep(random.whole(500, 2500));
      const way = ways[round % ways.length] ?? 'kill';
      served.push(await failOver(world, way, { round, withinMs }));
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

/** Answers how long nothing could be stored. */
async function failOver(
  world: World,
  way: Way,
  { round, withinMs }: { round: number; withinMs: number },
): Promise<number | undefined> {
  const { postgres: primary, standby, server } = world;
  if (!primary || !standby) throw new Error('no standby');
  if (way === 'vanish') primary.vanish();
  else if (way === 'freeze') primary.signal('SIGSTOP');
  else await primary.kill();
  const from = systemClock.monotonic();
  await standby.promote();
  const stores = () =>
    server.api('POST', '/api/sites', { name: `after failover ${round}` }).then(
      () => true,
      // It was stored, and the answer was lost.
      (error: Error) => error.message.includes('409'),
    );
  const stored = await eventually(stores, withinMs - (systemClock.monotonic() - from), 50);
  const took = systemClock.monotonic() - from;
  world.postgres = standby;
  world.standby = undefined;
  await primary.destroy();
  return stored && took;
}

/** In place of the one that was killed, on its port: the servers know no other. */
async function replaceStandby(world: World): Promise<void> {
  const [, ports] = /@([^/]*)\//.exec(world.server.databaseUrl ?? '') ?? [];
  const free = ports?.split(',').map((host) => Number(host.split(':')[1]));
  const port = free?.find((each) => each !== world.postgres?.port);
  world.standby = await world.postgres?.standby(port);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const { served, verdict } = await failover({
    rounds: Number(values.rounds),
    ways: mayVanish() ? WAYS : ['kill', 'freeze'],
    seed: values.seed,
    withinMs: SERVED_MS,
    say,
  });
  const green = sound(verdict) && !served.includes(undefined);
  const sorted = served.map((ms) => Math.round(ms ?? Number.NaN)).sort((a, b) => a - b);
  say(`seed ${values.seed}: ${JSON.stringify({ ...verdict, examples: verdict.examples.slice(0, 5) })}`);
  say(
    `served again after ${sorted[sorted.length >> 1]} ms (median), ${sorted.at(-1)} ms (most) of ${served.length}`,
  );
  say(green ? 'failover: green' : 'failover: RED');
  process.exit(green ? 0 : 1);
}
