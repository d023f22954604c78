import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
let fresh = false;

/** Path of a compiled program of this package (`testing/outbox-writer`), compiled now if the sources are newer. */
export function built(program: string): string {
  if (!fresh) {
    const tsc = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    // Type errors elsewhere in the package are the compiler run's business, not this test's.
    spawnSync(process.execPath, [tsc, '-b', packageFolder], { stdio: 'ignore' });
    fresh = true;
  }
  return join(packageFolder, 'dist', `${program}.js`);
}
