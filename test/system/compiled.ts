import { fileURLToPath } from 'node:url';

/** Path of a compiled program, or module, of a package; the suite has compiled it before. */
export const compiled = (name: string, file: string): string =>
  fileURLToPath(new URL(`../../packages/${name}/dist/${file}.js`, import.meta.url));
