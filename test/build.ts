/** Set-up of the suites that run programs: compiles what is newer than its build, so that one test needs no `npm run build`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const root = fileURLToPath(new URL('..', import.meta.url));

export default function build({ name }: TestProject): void {
  const words = ['scripts/build.mjs', name === 'web' ? '--product' : '--tests'];
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the tests run compiled programs, and these do not compile: see above');
}
