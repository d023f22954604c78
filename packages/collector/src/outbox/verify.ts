/**
 * Reads a whole store in a process of its own before this one opens it: LMDB maps its file into memory and follows
 * whatever page numbers it finds there, so a truncated or foreign file ends the process that reads it (seen here:
 * SIGBUS after truncation, SIGSEGV on junk). Better a child's than the daemon's, at every start again.
 */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { STREAMS, type Stream } from '@rollcall/shared/observation';
import { type Meta, parseMeta } from './store.ts';

/** Longest a store may take to be read; the default bound of the outbox is read in seconds from a slow disk. */
const LONGEST_MS = 300_000;

const READER = `
const { writeSync } = require('node:fs');
const { open } = require(process.argv[1]);
const env = open({ path: process.argv[2], readOnly: true, noSubdir: false, maxDbs: 5, encoding: 'binary' });
const meta = env.openDB('meta', { encoding: 'string' });
writeSync(1, JSON.stringify({ meta: meta ? meta.get('meta') ?? null : null }) + '\\n');
const counts = {};
for (const stream of ${JSON.stringify(STREAMS)}) {
  counts[stream] = 0;
  const table = env.openDB(stream, { encoding: 'binary' });
  if (table) for (const { value } of table.getRange({})) if (value[value.length - 1] !== undefined) counts[stream]++;
}
writeSync(1, JSON.stringify({ counts }) + '\\n');
process.exit(0);
`;

export interface Verdict {
  /** Whether every page that is in use could be read. */
  readable: boolean;
  /** What the meta row says, as far as it could be read. */
  meta: Meta | null;
  /** Records found; null when the reader did not get through. */
  counts: Record<Stream, number> | null;
}

/** Reads the store in `folder`; never throws for what is in it. */
export function verify(folder: string): Promise<Verdict> {
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['-e', READER, lmdb, folder],
      { timeout: LONGEST_MS, killSignal: 'SIGKILL', env: {}, windowsHide: true },
      (error, stdout) => {
        const lines = stdout.split('\n');
        const counts = (part(lines[1]) as { counts?: Verdict['counts'] } | null)?.counts ?? null;
        const meta = parseMeta((part(lines[0]) as { meta?: string | null } | null)?.meta);
        resolve({ readable: !error && counts !== null, meta, counts });
      },
    );
  });
}

function part(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    return null;
  }
}
