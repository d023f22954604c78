// npm test [-- vitest arguments]: the fast tests, from the sources: no build, no PostgreSQL, no browser, no root needed.
// npm run test:system | test:realnet | test:web | test:chaos [-- vitest arguments]: one of the slow suites; compiles first what it runs.
// npm run test:all: everything there is. docs/testing.md says what is in which suite, and what each needs.
//
// Where TEST_DATABASE_URL names a PostgreSQL server, what concerns the database is tried there too.
import './usage.mjs';
import { spawnSync } from 'node:child_process';
import { bin, bootstrap, root } from './bootstrap.mjs';

const [suite = 'fast', ...words] = process.argv.slice(2);
bootstrap();
// `fast` is two projects.
const projects = suite === 'fast' ? 'fast*' : suite;
// Their files wait for other processes half of the time: two at once leave much of two cores idle.
const workers = suite === 'system' ? ['--maxWorkers', '3'] : [];
const result = spawnSync(bin('vitest'), ['run', '--project', projects, ...workers, ...words], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(result.status ?? 1);
