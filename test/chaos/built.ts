/** Compiles the packages and this harness if their sources are newer: the processes of a test run what is built. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './server.ts';

export function buildOnce(): void {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  // Type errors elsewhere are the compiler run's business, not these tests'.
  spawnSync(tsc, ['-b', 'test/chaos'], { cwd: ROOT, stdio: 'ignore' });
}
