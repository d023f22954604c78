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

/** Calls of one life of a collector, as shares of all points: it writes pages all the time and renames at each link. */
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
/** A point that a life does not reach in so long after its link was ready is none. */
const REACH_MS = 6_000;
const LIFE_MS = 60_000;
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

let green = true;
for (const database of databases) green = (await sweep(database)) && green;
say(green ? 'kills: green' : 'kills: RED');
process.exit(green ? 0 : 1);

async function sweep(database: DatabaseKind): Promise<boolean> {
  const wanted = Math.ceil(Number(values.points) / databases.length);
  const world = await World.create({ database, sources: SOURCES, rate: RATE, haste: 0.05 });
  const failed: string[] = [];
  const reached = new Map<string, number>();
  const total = () => [...reached.values()].reduce((sum, n) => sum + n, 0);
  const plan = points(wanted);
  const unreachable = new Set<Call>();
  const telling = systemClock.every(15_000, () => {
    say(`${database}: killed at ${total()} of ${wanted} points`);
  });
  await Promise.all(
    world.sources.map(async (source) => {
      while (total() < wanted) {
        const point = plan.next().value;
        if (!point) return;
        const { call, when } = point;
        if (unreachable.has(call)) continue;
        await source.kill();
        if (await diesAt(source, call, when)) reached.set(call, (reached.get(call) ?? 0) + 1);
        else unreachable.add(call);
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
  for (const { name, told } of await world.drained(180_000))
    failed.push(`source ${name.index} has not delivered everything: ${JSON.stringify(told)}`);
  const verdict = await world.verdict();
  const { observed, lost, doubled, altered, misattributed, foreign, reported, examples } = verdict;
  const list = (counts: Map<string, number>) => [...counts].map(([what, n]) => `${what} ${n}`).join(', ');
  say(`\n${database}: collectors killed at ${total()} points (${list(reached)})`);
  say(`  the server killed ${list(stages)}`);
  say(
    `  ${observed} observed; lost ${lost}, doubled ${doubled}, altered ${altered}, misattributed ${misattributed}`,
  );
  say(`  starts that failed ${failed.length}`);
  for (const line of [...failed, ...examples]) say(`  ! ${line}`);
  const ok = sound(verdict) && foreign === 0 && reported === 0 && failed.length === 0 && total() >= wanted;
  await world.destroy(!ok);
  if (!ok) say(`  ledgers, journal and logs: ${world.folder}`);
  return ok;
}

/** Points in turn over all calls, spread evenly over what a life of some seconds reaches. */
function* points(wanted: number): Generator<{ call: Call; when: number }> {
  const calls = Object.entries(CALLS) as [Call, number][];
  // Fewer points are as far apart as makes them reach as far as many would.
  const stride = Math.max(1, Math.floor(150 / wanted));
  const next = new Map<Call, number>();
  for (let turn = 0; turn < 100 * wanted; turn++)
    for (const [call, share] of calls) {
      if (Math.floor((turn + 1) * share) === Math.floor(turn * share)) continue;
      const when = next.get(call) ?? 1;
      next.set(call, when + (share > 0.1 ? stride : 1));
      yield { call, when };
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
