// npm test [-- vitest arguments]: installs what is missing, builds, runs every test. On the embedded database always;
// where TEST_DATABASE_URL names a PostgreSQL server, the database suites run there too.
import { spawnSync } from 'node:child_process';
import { bin, root } from './bootstrap.mjs';
import { build } from './build.mjs';

build();
const result = spawnSync(bin('vitest'), ['run', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
process.exit(result.status ?? 1);
