// Breaks a running system on purpose and proves that nothing of what was observed was lost, doubled or altered.
//
//   npm run chaos -- [--seed N] [--minutes M] [--database pglite|postgresql|both] [--sources N] [--rate N]
//                    [--least N] [--observations N] [--only KIND,…] [--short]
//
// Real processes; PostgreSQL in a cluster of its own; loopback only. The schedule follows from the seed. Runs for M
// minutes on each database, and up to M more until every kind of fault met every phase --least times and so much was
// observed. Exit code 1 when anything was lost, doubled, altered or misattributed, when a process did not come back, or
// when a kind of fault never met a phase (--short: when a kind of fault was never met).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bootstrap.mjs';
import { build } from './build.mjs';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  build();
  const child = spawn(process.execPath, [join(root, 'test/chaos/dist/main.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}
