/** The program of the ingest thread; `ingest-thread.ts` starts it, and says what goes in and out. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock as clock } from '@rollcall/shared/clock';
import { openRuleBook } from './ingest/classification/rule-book.ts';
import {
  ALIVE_MS,
  type FromThread,
  framesOf,
  memoryOf,
  type ThreadSettings,
  type ToThread,
} from './ingest-thread.ts';
import { createIngesting } from './ingesting.ts';
import { openDatabase } from './platform/db/db.ts';
import { openLog, plainError } from './platform/ops/log.ts';
import { Problem } from './platform/problem.ts';

/** Of the thread; an ordinary one has 0. */
const NICE = 15;

const { databaseUrl, folders, samples } = workerData as ThreadSettings;
const tell = (message: FromThread, moved: Uint8Array[] = []): void =>
  parentPort?.postMessage(message, memoryOf(moved));

const log = openLog(
  { logLevel: 'debug' },
  { destination: { write: (line) => tell({ tell: 'log', line }) }, terminal: false },
);
const db = await openDatabase({ url: databaseUrl }, log);
const rules = openRuleBook({ db, log, folders });
const ingesting = createIngesting({ db, clock, log, rules, samples });
const end = await ingesting.start();
clock.every(ALIVE_MS, () => tell({ tell: 'alive' }));

/**
 * Where processors are short, whoever asks goes before what is stored: Linux takes a nice value for a thread alone
 * (setpriority(2), NOTES). Elsewhere it stays as it is.
 */
function yieldToPeople(): void {
  try {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), NICE);
  } catch (error) {
    log.debug(plainError(error), 'the ingest thread has the priority of all others');
  }
}

parentPort?.on('message', async (order: ToThread) => {
  if (order.do === 'stop') {
    await end();
    await db.close();
    process.exit();
  }
  const { id, gathered } = order;
  const { batches, ...whose } = gathered;
  try {
    tell({ tell: 'stored', id, stored: await ingesting.take({ ...whose, gather: () => batches }) });
  } catch (error) {
    const frames = framesOf(gathered);
    if (error instanceof Problem)
      tell({ tell: 'refused', id, code: error.code, message: error.message, frames }, frames);
    else tell({ tell: 'failed', id, error: plainError(error) });
  }
});
// Not before: until it takes batches nothing is stored, so it comes up as fast as it can.
yieldToPeople();
tell({ tell: 'alive' });
