/** The command line of the chaos run; see `scripts/chaos.mjs`. */
import { parseArgs } from 'node:util';
import { Matrix } from './matrix.ts';
import { asRoot, postgresPrograms } from './postgres.ts';
import { chaos, type Outcome } from './run.ts';
import type { DatabaseKind } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    minutes: { type: 'string', default: '2' },
    most: { type: 'string' },
    database: { type: 'string' },
    sources: { type: 'string', default: '4' },
    rate: { type: 'string', default: '40' },
    burst: { type: 'string', default: '1600' },
    least: { type: 'string', default: '1' },
    observations: { type: 'string', default: '0' },
    faults: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    servers: { type: 'string', default: '1' },
  },
});
process.on('SIGTERM', () => process.exit(143));
process.on('SIGINT', () => process.exit(130));

const say = (line: string) => process.stdout.write(`${line}\n`);
const servers = Number(values.servers);
const { database: named = servers > 1 ? 'postgresql' : 'both' } = values;
const databases: DatabaseKind[] = named === 'both' ? ['postgresql', 'pglite'] : [named as DatabaseKind];
if (servers > 1 && named !== 'postgresql') {
  say('chaos: several servers share a PostgreSQL: --database postgresql');
  process.exit(2);
}
if (databases.includes('postgresql') && !postgresPrograms()) {
  say('chaos: PostgreSQL is not installed (apt install postgresql)');
  process.exit(2);
}

if (!asRoot()) {
  say('chaos: needs root, for small disks in mount namespaces and for an account that PostgreSQL accepts');
  process.exit(2);
}

const outcomes: Outcome[] = [];
const matrix = new Matrix([]);
for (const database of databases) {
  const outcome = await chaos({
    seed: values.seed,
    minutes: Number(values.minutes),
    mostMinutes: Number(values.most ?? 2 * Number(values.minutes)),
    database,
    servers,
    sources: Number(values.sources),
    rate: Number(values.rate),
    burst: Number(values.burst),
    least: Number(values.least),
    observations: Number(values.observations),
    faults: Number(values.faults),
    only: values.only.split(',').filter(Boolean),
    before: matrix,
    say,
  });
  outcomes.push(outcome);
  matrix.add(outcome.matrix);
  report(outcome);
}

/** Milliseconds as people read them. */
function spread(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${at(1)} ms (most) of ${times.length}`;
}

function report({ database, verdict, faults, starts, moves, seconds, folder, ok }: Outcome): void {
  const { observed, kept, lost, doubled, altered, misattributed, foreign, reported, untimely, examples } =
    verdict;
  say(`\n${database}, ${Math.round(seconds)} s:`);
  say(`  observed ${observed}, of which certainly kept ${kept}`);
  say(
    `  lost ${lost}, doubled ${doubled}, altered ${altered}, misattributed ${misattributed}, foreign ${foreign}`,
  );
  say(`  reported as dropped ${reported}, samples without a time ${untimely}`);
  say(`  server ready after ${spread(starts)} starts`);
  if (moves.length > 0) say(`  everybody linked again after ${spread(moves)} killed servers of several`);
  for (const line of [...faults, ...examples]) say(`  ! ${line}`);
  if (!ok) say(`  ledgers, journal and logs: ${folder}`);
}

say(`\n${matrix}\n`);
const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
say(
  `seed ${values.seed}: ${sum(({ injected }) => injected)} faults of ${matrix.kinds} kinds, ${matrix.empty.length} cells empty, ${sum(({ verdict }) => verdict.observed)} observations`,
);
const bad = outcomes.filter(({ ok }) => !ok).length;
// With --least 0 what was not met is not asked for: what was met must not have done harm.
const unmet = Number(values.least) > 0 ? matrix.empty : [];
if (unmet.length > 0) say(`never met: ${unmet.join(', ')}`);
const green = bad === 0 && unmet.length === 0;
say(green ? 'chaos: green' : 'chaos: RED');
process.exit(green ? 0 : 1);
