// npm run corpus:report   plays recordings of real devices and writes docs/accuracy.md
// npm run corpus:check    plays them and ends with 1 where a figure is lower than docs/accuracy.md says, or than its aim
//
// `-- --results FILE` scores lines that `npm run corpus` wrote instead of playing them. ROLLCALL_CORPUS names the folder
// of the recordings (../shared/corpus). Without it there is nothing to measure, and one line says so.
import './usage.mjs';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bin, bootstrap, root, run } from './bootstrap.mjs';
import { belowAim, figuresIn, figuresOf, healthFigures, report, unseenFigures } from './corpus/figures.mjs';
import { corpus } from './corpus/folder.mjs';

const file = join(root, 'docs/accuracy.md');
const words = process.argv.slice(2);
const check = words.includes('--check');
const given = words.includes('--results') ? words[words.indexOf('--results') + 1] : undefined;

if (!existsSync(join(corpus, 'evaluate.mjs'))) {
  const what = check ? 'the check of accuracy' : 'the report of accuracy';
  process.stderr.write(
    `SKIPPED: ${what}: set ROLLCALL_CORPUS to the folder of the recordings (not ${corpus})\n`,
  );
  process.exit(check ? 0 : 1);
}
bootstrap();
run(bin('tsc'), ['-b', 'packages/server', 'packages/collector', 'packages/lab']);
const { classifyFolder, classifyUnseen, familiesOf } = await import('./corpus/classify.mjs');
const { evaluate } = await import(join(corpus, 'evaluate.mjs'));
const { lines, lost, seconds } = given ? read(given) : await play();
const truth = JSON.parse(readFileSync(join(corpus, 'dev/expected.json'), 'utf8'));
const figures = figuresOf(evaluate(truth, lines));
const dev = join(corpus, 'dev');
const unseen = unseenFigures(evaluate(truth, await classifyUnseen(dev, familiesOf(dev))), 'unseen family');
const unknown = unseenFigures(
  evaluate(truth, await classifyFolder(dev, { makers: false })),
  'no rules of makers',
);
const health = healthFigures(...(await scoredHealth()));
const missed = belowAim(figures);
for (const { name, share, aim } of missed)
  process.stderr.write(`corpus: ${name}: ${share} %, the aim is ${aim} %: MISSED\n`);
if (check) {
  const lower = compare(figuresIn(readFileSync(file, 'utf8')), [
    ...figures,
    ...unseen,
    ...unknown,
    ...health,
  ]);
  process.exitCode = lower > 0 || missed.length > 0 || lost > 0 ? 1 : 0;
} else {
  writeFileSync(file, report({ figures, unseen, unknown, health, recordings: lines.length, seconds }));
  process.stderr.write(`corpus: wrote docs/accuracy.md\n`);
  process.exitCode = lost > 0 ? 1 : 0;
}

function read(path) {
  const text = readFileSync(resolve(process.env.INIT_CWD ?? process.cwd(), path), 'utf8');
  return {
    lines: text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
    lost: 0,
    seconds: null,
  };
}

async function scoredHealth() {
  const { healthOfFolder } = await import('./corpus/health.mjs');
  const { evaluate: evaluateHealth } = await import(join(corpus, 'evaluate-health.mjs'));
  const found = [];
  await healthOfFolder(dev, (line) => found.push(line));
  const stated = JSON.parse(readFileSync(join(dev, 'health.json'), 'utf8'));
  const { withoutHandMade } = await import('./corpus/hand-made.mjs');
  return [found, found.map(withoutHandMade)].map((lines) =>
    evaluateHealth(stated, lines, { recordings: join(dev, 'recordings') }),
  );
}

async function play() {
  const { playFolder } = await import('./corpus/play.mjs');
  const started = performance.now();
  const lines = [];
  const lost = await playFolder(join(corpus, 'dev'), (line) => lines.push(line));
  return { lines, lost, seconds: Math.round((performance.now() - started) / 1000) };
}

/** Says what fell and what rose; answers how many fell. */
function compare(before, now) {
  let lower = 0;
  for (const { name, right } of now) {
    const was = before.get(name);
    if (was === undefined || was === right) continue;
    // "Invented" is better the lower it is.
    const fell = name.startsWith('invented') ? right > was : right < was;
    if (fell) lower += 1;
    process.stderr.write(
      `corpus: ${name}: ${right} right, docs/accuracy.md says ${was}${fell ? ': LOWER' : ''}\n`,
    );
  }
  process.stderr.write(
    lower > 0
      ? 'corpus: figures fell; where that is meant, npm run corpus:report\n'
      : 'corpus: no figure fell\n',
  );
  return lower;
}
