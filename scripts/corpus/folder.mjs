import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Recordings of real devices. Their licence keeps them out of the repository. */
export const corpus = resolve(root, process.env.ROLLCALL_CORPUS ?? '../shared/corpus');
