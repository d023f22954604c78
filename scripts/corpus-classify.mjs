// Scores the rules against recorded devices without a network:
//
//   node scripts/corpus-classify.mjs [DIR] [--only NAME] [--no-makers] > results.jsonl
//
// DIR is the folder dev of ROLLCALL_CORPUS (../shared/corpus) where it is not given.
// `--no-makers` leaves out the rules that know a maker. Run `npm run build` (or tsc -b) first. `npm run corpus` is the
// same over UDP through the whole product.
import './usage.mjs';
import { join } from 'node:path';
import { argv, stderr, stdout } from 'node:process';
import { classifyFolder } from './corpus/classify.mjs';
import { corpus } from './corpus/folder.mjs';

const words = argv.slice(2);
const only = words.includes('--only') ? words[words.indexOf('--only') + 1] : '';
const [folder = join(corpus, 'dev')] = words.filter((word) => !word.startsWith('--') && word !== only);
const started = Date.now();
const lines = await classifyFolder(folder, { only, makers: !words.includes('--no-makers') });
for (const line of lines) stdout.write(`${JSON.stringify(line)}\n`);
stderr.write(`${lines.length} recordings in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
