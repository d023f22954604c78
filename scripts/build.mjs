// Compiles every package to its dist/ (and checks all types on the way).
import { fileURLToPath } from 'node:url';
import { bin, bootstrap, run } from './bootstrap.mjs';

export function build() {
  bootstrap();
  run(bin('tsc'), ['-b']);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
