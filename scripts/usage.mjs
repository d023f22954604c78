// Imported first by every script: `--help` prints the words at its head and ends.
import { readFileSync } from 'node:fs';

const [, script = '', ...words] = process.argv;
if (words.includes('--help') || words.includes('-h')) {
  const lines = readFileSync(script, 'utf8')
    .replace(/^#!.*\n/, '')
    .split('\n');
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('//')),
  );
  console.log(head.map((line) => line.replace(/^\/\/ ?/, '')).join('\n'));
  process.exit(0);
}
