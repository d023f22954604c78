/**
 * Ingest in a thread of its own, both ends of it: this module is also the thread's program (`serve`, at the end). Frames are moved there, what became of them comes back. Frames that could not be stored
 * come back themselves, for another try. A thread that dies takes along what it had in hand: that fails with its frames
 * empty, comes from the collectors again, and is stored once, whether its commit came through or not. So it is where something
 * unexpected went wrong.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { Backoff } from '@rollcall/shared/backoff';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import type { UnreadBatch } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { openRuleBook } from './ingest/classification/rule-book.ts';
import { openSiteQueue, WINDOWS } from './ingest/queue/site-queue.ts';
import { createIngesting, type Ingesting } from './ingesting.ts';
import type { HowSamplesAreKept } from './measurements/samples.ts';
import { openDatabase, unavailable } from './platform/db/db.ts';
import { openLog, type PlainError, plainError } from './platform/ops/log.ts';
import { Problem } from './platform/problem.ts';
import type { Stored, WaitingBatches } from './ports.ts';

interface ThreadSettings {
  databaseUrl: string;
  /** Of rules. */
  folders: string[];
  samples: HowSamplesAreKept;
}
type Gathered = Omit<WaitingBatches, 'gather'> & { batches: readonly UnreadBatch[] };
type ToThread = { do: 'take'; id: number; gathered: Gathered } | { do: 'stop' };
type FromThread =
  | { tell: 'stored'; id: number; stored: Stored }
  | { tell: 'refused'; id: number; code: Problem['code']; message: string; frames: Uint8Array[] }
  | { tell: 'failed'; id: number; error: PlainError }
  /** A line of its log. */
  | { tell: 'log'; line: string }
  /** It takes batches, and turns. */
  | { tell: 'alive' };

type Told = Exclude<FromThread, { tell: 'alive' }>;

/** The thread says so often that it turns. */
const ALIVE_MS = 5_000;
/** So many of these without a word: it hangs, and is replaced. */
const SILENT_MOST = 12;
/** Waits before a thread that died is replaced. */
const AGAIN_MS = { first: 500, most: 10_000 };
/** Short-lived objects of the thread, MB: batches outlive them anyway. */
const YOUNG_MB = 24;
/** A thread that was told to end has this long. */
const END_MS = 3_000;
/** Of the thread; an ordinary one has 0. */
const NICE = 15;

/** From its source where this module is a source, else compiled; an installation has it where a checkout does. */
const FROM_SOURCES = import.meta.url.endsWith('.ts');
const PROGRAM = new URL(`./ingest-thread.${FROM_SOURCES ? 'ts' : 'js'}`, import.meta.url);

/** Modules that were loaded into this process before its own (`node --import`) belong into its threads as well. */
const PRELOADS = process.execArgv.flatMap((flag, i, all) =>
  flag === '--import' ? [flag, all[i + 1] ?? ''] : flag.startsWith('--import=') ? [flag] : [],
);
/** A test runner compiles for itself alone: its threads need what runs sources elsewhere. */
if (FROM_SOURCES)
  PRELOADS.push('--import', new URL('../../../scripts/from-sources.mjs', import.meta.url).href);

export function openIngestThread(
  settings: ThreadSettings,
  { clock, log }: { clock: Clock; log: Logger },
): Ingesting {
  const waiting = new Map<number, PendingRequest>();
  const backoff = new Backoff(AGAIN_MS);
  const over = new AbortController();
  /** The one that runs, and whether it takes batches yet. */
  let thread: Worker | undefined;
  let takes = false;
  let asked = 0;

  /** Starts a thread; resolves when it takes batches, and fails when it does not come to that. */
  const begin = async (): Promise<void> => {
    const { worker, alive, ended } = startThread(settings, clock, onMessage);
    thread = worker;
    const gone = ended.then((reason) => {
      const took = takes;
      thread = undefined;
      takes = false;
      for (const { reject } of waiting.values())
        reject(new Problem('unavailable', `what was being stored is to be sent again: ${reason}`));
      waiting.clear();
      if (took && !over.signal.aborted) {
        log.error({ reason }, 'the ingest thread ended; another takes its place');
        void replace();
      }
      return reason;
    });
    const reason = await Promise.race([alive, gone]);
    if (reason !== undefined) throw new Error(`ingest: ${reason}`);
    takes = true;
  };

  /** Tries until a thread takes batches again, or until the end of everything. */
  const replace = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        await backoff.wait(clock, over.signal);
        if (!over.signal.aborted) return await begin();
      } catch (error) {
        if (!over.signal.aborted) log.error({ err: error }, 'no ingest thread came up; it is tried again');
      }
    }
  };

  const onMessage = (message: Told): void => {
    if (message.tell === 'log') {
      const { level, time: _, msg, ...about } = JSON.parse(message.line) as LogLine;
      log[level](about, msg);
      return;
    }
    const { id } = message;
    const asker = waiting.get(id);
    waiting.delete(id);
    if (message.tell === 'stored') {
      backoff.reset();
      asker?.resolve(message.stored);
    } else if (message.tell === 'refused') {
      for (const [i, batch] of asker?.batches.entries() ?? []) batch.frame = message.frames[i] ?? batch.frame;
      asker?.reject(new Problem(message.code, message.message));
    } else asker?.reject(Object.assign(new Error(message.error.message), message.error));
  };

  const hand = ({ gather, ...whose }: WaitingBatches): Promise<Stored> =>
    new Promise((resolve, reject) => {
      if (!thread || !takes) return reject(unavailable('no ingest thread'));
      asked += 1;
      const gathered: Gathered = { ...whose, batches: gather() };
      thread.postMessage(
        { do: 'take', id: asked, gathered } satisfies ToThread,
        memoryOf(framesOf(gathered)),
      );
      waiting.set(asked, { batches: gathered.batches, resolve, reject });
    });
  const queue = openSiteQueue(WINDOWS);

  return {
    take: (waiting) => queue(waiting, () => hand(waiting)),
    start: async () => {
      await begin();
      return async () => {
        over.abort();
        const leaving = thread;
        if (!leaving) return;
        const ended = new Promise((resolve) => leaving.once('exit', resolve));
        leaving.postMessage({ do: 'stop' } satisfies ToThread);
        const late = new AbortController();
        await Promise.race([ended, clock.sleep(END_MS, late.signal)]);
        late.abort();
        await leaving.terminate();
      };
    },
  };
}

/** A thread: `alive` resolves when it takes batches, `ended` when it is gone, with the reason. One that hangs is ended. */
function startThread(settings: ThreadSettings, clock: Clock, onMessage: (message: Told) => void) {
  const worker = new Worker(PROGRAM, {
    workerData: { ingest: settings },
    execArgv: PRELOADS,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    name: 'ingest',
  });
  let [silent, reason] = [0, 'it ended by itself'];
  const stopWatching = clock.every(ALIVE_MS, () => {
    silent += 1;
    if (silent < SILENT_MOST) return;
    reason = 'it said nothing any more';
    void worker.terminate();
  });
  worker.on('error', (error) => {
    reason = error.message;
  });
  const alive = new Promise<void>((resolve) => {
    worker.on('message', (message: FromThread) => {
      silent = 0;
      if (message.tell === 'alive') resolve();
      else onMessage(message);
    });
  });
  const ended = new Promise<string>((resolve) => {
    worker.on('exit', () => {
      stopWatching();
      resolve(reason);
    });
  });
  return { worker, alive, ended };
}

interface PendingRequest {
  batches: readonly UnreadBatch[];
  resolve(stored: Stored): void;
  reject(error: unknown): void;
}

const framesOf = ({ batches }: Pick<Gathered, 'batches'>): Uint8Array[] => batches.map(({ frame }) => frame);
/** What to move instead of copying it. */
const memoryOf = (frames: readonly Uint8Array[]): ArrayBuffer[] =>
  frames.map(({ buffer }) => buffer as ArrayBuffer);

interface LogLine {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  time: string;
  msg: string;
}

/** The thread's program. */
async function serve({ databaseUrl, folders, samples }: ThreadSettings, port: MessagePort): Promise<void> {
  const tell = (message: FromThread, moved: Uint8Array[] = []): void =>
    port.postMessage(message, memoryOf(moved));
  const log = openLog(
    { logLevel: 'debug' },
    { destination: { write: (line) => tell({ tell: 'log', line }) }, terminal: false },
  );
  const db = await openDatabase({ url: databaseUrl }, log);
  const rules = openRuleBook({ db, log, folders });
  const ingesting = createIngesting({ db, clock: systemClock, log, rules, samples });
  const end = await ingesting.start();
  systemClock.every(ALIVE_MS, () => tell({ tell: 'alive' }));
  const take = async (id: number, { batches, ...whose }: Gathered): Promise<void> => {
    try {
      tell({ tell: 'stored', id, stored: await ingesting.take({ ...whose, gather: () => batches }) });
    } catch (error) {
      const frames = framesOf({ batches });
      if (error instanceof Problem)
        tell({ tell: 'refused', id, code: error.code, message: error.message, frames }, frames);
      else tell({ tell: 'failed', id, error: plainError(error) });
    }
  };
  port.on('message', async (order: ToThread) => {
    if (order.do === 'take') return take(order.id, order.gathered);
    await end();
    await db.close();
    process.exit();
  });
  // Not before: until it takes batches nothing is stored, so it comes up as fast as it can.
  yieldToPeople(log);
  tell({ tell: 'alive' });
}

/**
 * Where processors are short, anyone who asks goes before what is stored: Linux takes a nice value for a thread alone
 * (setpriority(2), NOTES). Elsewhere it stays as it is.
 */
function yieldToPeople(log: Logger): void {
  try {
    const [, , thread] = readlinkSync('/proc/thread-self').split('/');
    setPriority(Number(thread), NICE);
  } catch (error) {
    log.debug(plainError(error), 'the ingest thread has the priority of all others');
  }
}

const { ingest } = (workerData ?? {}) as { ingest?: ThreadSettings };
if (ingest && parentPort) await serve(ingest, parentPort);
