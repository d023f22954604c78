// npm run build: compiles every package to its dist/, checking all types on the way, and builds the web application.
// With --product only what runs is compiled: neither the web application's types nor the tests are checked. With --tests
// only the programs that the tests of test/system and test/chaos start.
import './usage.mjs';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bin, bootstrap, root, run } from './bootstrap.mjs';

const PRODUCT = ['packages/server', 'packages/collector', 'packages/lab'];

export function build({ projects = [], web = true } = {}) {
  bootstrap();
  run(bin('tsc'), ['-b', ...projects]);
  if (web) buildWeb();
}

/** The web application, when something it is made of is newer than its build. */
function buildWeb() {
  const web = join(root, 'packages/web');
  const page = join(web, 'dist/site/index.html');
  const sources = [
    join(web, 'src'),
    join(web, 'public'),
    join(web, 'index.html'),
    join(web, 'vite.config.ts'),
  ];
  const newest = Math.max(...[...sources, join(root, 'packages/shared/src')].map(newestIn));
  if (existsSync(page) && statSync(page).mtimeMs >= newest) return;
  // What is tested is what is shipped: under the tests' own NODE_ENV React would be built for development.
  run(join(web, 'node_modules/.bin/vite'), ['build', '--logLevel', 'warn', web], { NODE_ENV: 'production' });
}

function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--product')) build({ projects: PRODUCT });
  else if (process.argv.includes('--tests')) build({ projects: [...PRODUCT, 'test/chaos'], web: false });
  else build();
}
