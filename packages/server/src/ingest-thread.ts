/**
 * Ingest in a thread of its own: frames are moved there, what became of them comes back. Frames that could not be stored
 * come back themselves, for another try. A thread that dies takes along what it had in hand: that fails with its frames
 * empty, comes from the collectors again, and is stored once, whether its commit came through or not. So it is where something
 * unexpected went wrong.
 */
import { Worker } from 'node:worker_threads';
import { Backoff } from '@rollcall/shared/backoff';
import type { Clock } from '@rollcall/shared/clock';
import type { UnreadBatch } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { openSiteQueue, WINDOWS } from './ingest/queue/site-queue.ts';
import type { Stored, Unread } from './ingest/queue/unread.ts';
import type { Ingesting } from './ingesting.ts';
import type { HowSamplesAreKept } from './measurements/samples.ts';
import { unavailable } from './platform/db/db.ts';
import type { PlainError } from './platform/ops/log.ts';
import { Problem } from './platform/problem.ts';

export interface ThreadSettings {
  databaseUrl: string;
  /** Of rules. */
  folders: string[];
  samples: HowSamplesAreKept;
}
/** Batches of one stream, in order, and whose they are. */
export interface Gathered extends Omit<Unread, 'gather'> {
  batches: readonly UnreadBatch[];
}
export type ToThread = { do: 'take'; id: number; gathered: Gathered } | { do: 'stop' };
export type FromThread =
  | { tell: 'stored'; id: number; stored: Stored }
  | { tell: 'refused'; id: number; code: Problem['code']; message: string; frames: Uint8Array[] }
  | { tell: 'failed'; id: number; error: PlainError }
  /** A line of its log. */
  | { tell: 'log'; line: string }
  /** It takes batches, and turns. */
  | { tell: 'alive' };

type Told = Exclude<FromThread, { tell: 'alive' }>;

/** The thread says so often that it turns. */
export const ALIVE_MS = 5_000;
/** So many of these without a word: it hangs, and is replaced. */
const SILENT_MOST = 12;
/** Waits before a thread that died is replaced. */
const AGAIN_MS = { first: 500, most: 10_000 };
/** Short-lived objects of the thread, MB: batches outlive them anyway. */
const YOUNG_MB = 24;
/** A thread that was told to end has this long. */
const END_MS = 3_000;

/** From its source where this module is a source, else compiled; an installation has it where a checkout does. */
const FROM_SOURCES = import.meta.url.endsWith('.ts');
const PROGRAM = new URL(`./ingest-main.${FROM_SOURCES ? 'ts' : 'js'}`, import.meta.url);

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
  const waiting = new Map<number, Asker>();
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

  const hand = ({ gather, ...whose }: Unread): Promise<Stored> =>
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
    take: (unread) => queue(unread, () => hand(unread)),
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
    workerData: settings,
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

interface Asker {
  batches: readonly UnreadBatch[];
  resolve(stored: Stored): void;
  reject(error: unknown): void;
}

export const framesOf = ({ batches }: Gathered): Uint8Array[] => batches.map(({ frame }) => frame);
/** What to move instead of copying it. */
export const memoryOf = (frames: readonly Uint8Array[]): ArrayBuffer[] =>
  frames.map(({ buffer }) => buffer as ArrayBuffer);

interface LogLine {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  time: string;
  msg: string;
}
