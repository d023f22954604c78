// Writes the files that are made from the sources. usage: node scripts/gen.mjs [--check]
// --check writes nothing, and ends with 1 where a file on disk is not what the sources give.
import './usage.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bin, bootstrap, root, run } from './bootstrap.mjs';
import { timesTable } from './times.mjs';

/** Path from the root → how its text is made, once the packages are built. */
const files = {
  'docs/openapi.json': async () => {
    const { operations } = await import('../packages/shared/dist/api/index.js');
    const { webhooks } = await import('../packages/shared/dist/api/notices.js');
    const { openApiDocument } = await import('../packages/server/dist/platform/http/openapi.js');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return `${JSON.stringify(openApiDocument(operations, version, webhooks), null, 2)}\n`;
  },
  'docs/events-and-cases.md': async () => {
    const { kindsTable } = await import('../packages/server/dist/incidents/kinds/table.js');
    return between('docs/events-and-cases.md', 'kinds', kindsTable());
  },
  'docs/architecture.md': () =>
    between('docs/architecture.md', 'times', timesTable(root, ['shared', 'server', 'collector'])),
};

/** A page with a new text between `<!-- NAME: … -->` and `<!-- /NAME -->`. */
function between(path, name, text) {
  const page = readFileSync(join(root, path), 'utf8');
  const marks = new RegExp(`(<!-- ${name}: [^>]*-->)[\\s\\S]*(<!-- /${name} -->)`);
  if (!marks.test(page)) throw new Error(`${path} has lost the marks of its table`);
  return page.replace(marks, (_all, begin, end) => `${begin}\n${text}\n${end}`);
}

const check = parseArgs({ options: { check: { type: 'boolean' } } }).values.check;
bootstrap();
run(bin('tsc'), ['-b', 'packages/server']);
let stale = false;
for (const [path, make] of Object.entries(files)) {
  const text = await make();
  const file = join(root, path);
  const before = read(file);
  if (before === text) continue;
  if (check) {
    stale = true;
    console.error(`rollcall: ${path} is not what the sources give; run: node scripts/gen.mjs`);
  } else {
    writeFileSync(file, text);
    console.error(`rollcall: wrote ${path}`);
  }
}
process.exit(stale ? 1 : 0);

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
