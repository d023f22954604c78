// Plays recorded devices through the whole product and says what it made of each, one JSON line a recording:
//
//   npm run corpus -- DIR > results.jsonl
//
//   npm run corpus -- --unseen DIR
//
// prints how well it does, and how well on families of devices that no rule was written for (docs/accuracy.md); DIR is the
// folder of the corpus with its expected results. Classified in memory, without agents and without a network.
//
//   npm run corpus -- --health DIR
//
// prints how well sensors, processors, memory and storage are read, in ten seconds and likewise without a network.
//
// The lines are what `evaluate.mjs` and `evaluate-health.mjs` of the corpus read. Ends with 1 when a recording has no line.
import './usage.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bin, bootstrap, run } from './bootstrap.mjs';

const folder = process.argv.slice(2).find((word) => !word.startsWith('-'));
if (!folder) {
  process.stderr.write('corpus: give a folder of recordings: npm run corpus -- DIR > results.jsonl\n');
  process.exit(2);
}
bootstrap();
run(bin('tsc'), ['-b', 'packages/server', 'packages/collector', 'packages/lab']);
try {
  // npm starts scripts in the project's root; INIT_CWD is where the person stands.
  const path = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
  if (process.argv.includes('--unseen')) {
    await printUnseen(path);
    process.exit();
  }
  if (process.argv.includes('--health')) {
    await printHealth(path);
    process.exit();
  }
  const { playFolder } = await import('./corpus/play.mjs');
  const health = await healthOf(path);
  const lost = await playFolder(path, (line) =>
    process.stdout.write(`${JSON.stringify({ ...line, health: health.get(line.recording)?.health })}\n`),
  );
  process.exitCode = lost > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`corpus: ${error.message}\n`);
  process.exitCode = 1;
}

async function printUnseen(path) {
  const { classifyFolder, classifyUnseen, familiesOf } = await import('./corpus/classify.mjs');
  const { beside } = await import('./corpus/figures.mjs');
  const { corpus } = await import('./corpus/folder.mjs');
  const { evaluate } = await import(join(corpus, 'evaluate.mjs'));
  const truth = JSON.parse(readFileSync(join(path, 'expected.json'), 'utf8'));
  const seen = evaluate(truth, await classifyFolder(path));
  const unseen = evaluate(truth, await classifyUnseen(path, familiesOf(path)));
  process.stdout.write(`${beside(seen, unseen)}\n`);
}

/** Recording → its line; none where the folder is one of recordings alone. */
async function healthOf(path) {
  const { healthOfFolder } = await import('./corpus/health.mjs');
  const lines = new Map();
  if (existsSync(join(path, 'recordings'))) await healthOfFolder(path, (line) => lines.set(line.id, line));
  return lines;
}

async function printHealth(path) {
  const { corpus } = await import('./corpus/folder.mjs');
  const { evaluate, render } = await import(join(corpus, 'evaluate-health.mjs'));
  const { KNOWN, withoutHandMade } = await import('./corpus/hand-made.mjs');
  const truth = JSON.parse(readFileSync(join(path, 'health.json'), 'utf8'));
  const lines = await healthOf(path);
  const recordings = join(path, 'recordings');
  const score = (health) => evaluate(truth, health, { recordings });
  process.stdout.write(`${render(score([...lines.values()]))}\n`);
  const { rows } = score([...lines.values()].map(withoutHandMade));
  const { recall, devices } = rows['sensor MEASURED'];
  process.stdout.write(
    `without the ${KNOWN.length} objects that people added to the facts: measured ${((100 * recall) / devices).toFixed(1)} % found, mean of devices\n`,
  );
  const requests = (of) => [...lines.values()].reduce((sum, each) => sum + each.requests[of], 0);
  process.stdout.write(
    `requests to a device, on average: ${(requests('first') / lines.size).toFixed(1)} to learn and read, then ${(requests('again') / lines.size).toFixed(1)} a reading\n`,
  );
}
