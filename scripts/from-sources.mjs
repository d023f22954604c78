// node --import …/scripts/from-sources.mjs PROGRAM.ts: a program, or a thread of one, runs from the sources of all packages.
import { register } from 'node:module';

process.setSourceMapsEnabled(true);
register('./source-hooks.mjs', import.meta.url);
