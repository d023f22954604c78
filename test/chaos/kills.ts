/**
 * The sweep of kills; see `scripts/chaos.mjs`. A collector is killed at one system call after the other that writes,
 * syncs or renames, counted from its start, and the server at every stage of ingest. After each kill it has to start.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '@rollcall/shared/clock';
import { sound } from './check.ts';
import { eventually } from './child.ts';
import type { SourceProcess } from './collector.ts';
import { STAGES } from './faults.ts';
import { asRoot, postgresPrograms } from './postgres.ts';
import { type DatabaseKind, World } from './world.ts';

const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '300' },
    stages: { type: 'string', default: '5' },
    database: { type: 'string', default: 'both' },
  },
});
process.on('SIGTERM', () => process.exit(143));
process.on('SIGINT', () => process.exit(130));

/** Calls of a collector, as shares of all points: it writes pages all the time and renames at each link. */
const CALLS = {
  pwrite64: 0.38,
  fdatasync: 0.2,
  write: 0.2,
  writev: 0.06,
  fsync: 0.04,
  rename: 0.03,
  linkat: 0.02,
  link: 0.02,
  unlink: 0.03,
  ftruncate: 0.02,
};
type Call = keyof typeof CALLS;
type Point = { call: Call; when: number };
/** Lives in which a call did not come even once, after which it is held for one that a collector does not make. */
const IN_VAIN = 3;
/** A point that a life does not reach in so long after its link was ready is none. */
const REACH_MS = 6_000;
const LIFE_MS = 60_000;
/** A backlog that stands still for so long will not be delivered. */
const STILL_MS = 60_000;
const SOURCES = 4;
const RATE = 120;

const say = (line: string) => process.stdout.write(`${line}\n`);
if (!asRoot()) {
  say('kills: needs root, for strace and for an account that PostgreSQL accepts');
  process.exit(2);
}
const databases: DatabaseKind[] =
  values.database === 'both' ? ['postgresql', 'pglite'] : [values.database as DatabaseKind];
if (databases.includes('postgresql') && !postgresPrograms()) {
  say('kills: PostgreSQL is not installed (apt install postgresql)');
  process.exit(2);
}

async function sweep(database: DatabaseKind): Promise<boolean> {
  const wanted = Math.ceil(Number(values.points) / databases.length);
  const world = await World.create({ database, sources: SOURCES, rate: RATE, haste: 0.05 });
  const failed: string[] = [];
  const plan = new Plan(wanted);
  const telling = systemClock.every(15_000, () => {
    say(`${database}: killed at ${plan.total} of ${wanted} points`);
  });
  await Promise.all(
    world.sources.map(async (source) => {
      for (let point = plan.take(); point; point = plan.take()) {
        const { call, when } = point;
        await source.kill();
        plan.came(point, await diesAt(source, call, when));
        await source
          .startSpeaking()
          .catch((error: Error) => failed.push(`${call} ${when}: ${error.message}`));
      }
    }),
  );
  telling();
  const stages = new Map<string, number>();
  for (let times = 1; times <= Number(values.stages); times++)
    for (const stage of STAGES) {
      if (!(await world.diesWhen(stage, times, 30_000))) {
        failed.push(`no batch was ${stage} ${times} times`);
        continue;
      }
      stages.set(stage, (stages.get(stage) ?? 0) + 1);
      await world.server.startReady().catch((error: Error) => failed.push(error.message));
    }
  for (const source of world.sources) source.setRate(0);
  for (const { name, told } of await world.drained(STILL_MS))
    failed.push(`source ${name.index} has not delivered everything: ${JSON.stringify(told)}`);
  const verdict = await world.verdict();
  const { observed, lost, doubled, altered, misattributed, foreign, reported, examples } = verdict;
  const list = (counts: Map<string, number>) => [...counts].map(([what, n]) => `${what} ${n}`).join(', ');
  say(`\n${database}: collectors killed at ${plan.total} points (${list(plan.reached)})`);
  say(`  the server killed ${list(stages)}`);
  say(
    `  ${observed} observed; lost ${lost}, doubled ${doubled}, altered ${altered}, misattributed ${misattributed}`,
  );
  say(`  starts that failed ${failed.length}`);
  for (const line of [...failed, ...examples]) say(`  ! ${line}`);
  const ok = sound(verdict) && foreign === 0 && reported === 0 && failed.length === 0 && plan.total >= wanted;
  await world.destroy(!ok);
  if (!ok) say(`  ledgers, journal and logs: ${world.folder}`);
  return ok;
}

/**
 * Which call of which kind to kill at next: over all kinds by their shares, each kind counted up from its first call in a
 * life for as far as lives go, and then anew, when the outbox holds other things.
 */
class Plan {
  readonly reached = new Map<string, number>();
  readonly #wanted: number;
  readonly #stride: number;
  readonly #next = new Map<Call, number>();
  readonly #given = new Map<Call, number>();
  readonly #vain = new Map<Call, number>();
  #lives = 0;

  constructor(wanted: number) {
    this.#wanted = wanted;
    // Fewer points are as far apart as makes them reach as far as many would.
    this.#stride = Math.max(1, Math.floor(150 / wanted));
  }

  get total(): number {
    return [...this.reached.values()].reduce((sum, n) => sum + n, 0);
  }

  /** Null when enough points were reached, or so many lives were tried that more would not help. */
  take(): Point | null {
    if (this.total >= this.#wanted || this.#lives >= 3 * this.#wanted) return null;
    const made = (Object.keys(CALLS) as Call[]).filter((call) => (this.#vain.get(call) ?? 0) < IN_VAIN);
    const lack = (call: Call) => (this.#given.get(call) ?? 0) / CALLS[call];
    const call = made.sort((a, b) => lack(a) - lack(b))[0];
    if (!call) return null;
    const when = this.#next.get(call) ?? 1;
    this.#next.set(call, when + (CALLS[call] > 0.1 ? this.#stride : 1));
    this.#given.set(call, (this.#given.get(call) ?? 0) + 1);
    this.#lives += 1;
    return { call, when };
  }

  /** Whether the life ended there. */
  came({ call, when }: Point, died: boolean): void {
    if (died) {
      this.reached.set(call, (this.reached.get(call) ?? 0) + 1);
      this.#vain.delete(call);
      return;
    }
    this.#next.set(call, 1);
    if (when === 1) this.#vain.set(call, (this.#vain.get(call) ?? 0) + 1);
  }
}

/** One life that ends with the `when`-th of a system call; false when it does not come to it in time. */
async function diesAt(source: SourceProcess, call: Call, when: number): Promise<boolean> {
  // Without --seccomp-bpf, with which strace 6.1 counts only the first call. It counts in each thread apart.
  const trace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`];
  source.start({ wrap: [...trace, '-e', `inject=${call}:signal=KILL:when=${when}`] });
  const end = await eventually(() => !source.running || source.linked, LIFE_MS, 10);
  const died = end && (await eventually(() => !source.running, REACH_MS, 10));
  await source.kill();
  return died === true;
}

let green = true;
for (const database of databases) green = (await sweep(database)) && green;
say(green ? 'kills: green' : 'kills: RED');
process.exit(green ? 0 : 1);
