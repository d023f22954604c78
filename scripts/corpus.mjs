// Plays recorded devices through the whole product and says what it made of each, one JSON line a recording:
//
//   npm run corpus -- DIR > results.jsonl
//
// The lines are what `evaluate.mjs` of the corpus reads. Ends with 1 when a recording has no line.
import './usage.mjs';
import { resolve } from 'node:path';
import { bin, bootstrap, run } from './bootstrap.mjs';

const folder = process.argv.slice(2).find((word) => !word.startsWith('-'));
if (!folder) {
  process.stderr.write('corpus: give a folder of recordings: npm run corpus -- DIR > results.jsonl\n');
  process.exit(2);
}
bootstrap();
run(bin('tsc'), ['-b', 'packages/server', 'packages/collector', 'packages/lab']);
const { playFolder } = await import('./corpus/play.mjs');
try {
  // npm starts scripts in the project's root; INIT_CWD is where the person stands.
  const path = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
  const lost = await playFolder(path, (line) => process.stdout.write(`${JSON.stringify(line)}\n`));
  process.exitCode = lost > 0 ? 1 : 0;
} catch (error) {
  process.stderr.write(`corpus: ${error.message}\n`);
  process.exitCode = 1;
}
