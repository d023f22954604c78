/**
 * Ingest, put together: whatever happens between a batch and its commit, and what works behind it. It runs in a thread
 * of its own with connections of its own (`ingest-thread.ts`), and on the embedded database in the server's.
 */
import type { Clock } from '@rollcall/shared/clock';
import { ofStreams } from '@rollcall/shared/observation';
import type { Logger } from 'pino';
import { readPresent } from './incidents/conditions/store.ts';
import { createRecorder } from './incidents/record.ts';
import type { RuleBook } from './ingest/classification/rule-book.ts';
import { createIngest } from './ingest/ingest.ts';
import { storeBatches } from './ingest/items.ts';
import { createLinker } from './ingest/links/linker.ts';
import { openSiteQueue } from './ingest/queue/site-queue.ts';
import { type HowSamplesAreKept, storeSamples } from './measurements/samples.ts';
import type { Database } from './platform/db/db.ts';
import type { Stored, WaitingBatches } from './ports.ts';
import { observedJobs } from './scans/observed.ts';

export interface Ingesting {
  /**
   * Stores what it gathers when there is room for it. Those frames, each alone in its memory, are its own until it answers.
   * Fails with `Problem('unavailable')` when nothing can be stored now; frames that are empty then are lost.
   */
  take(waiting: WaitingBatches): Promise<Stored>;
  /** Begins what works behind it; the answer ends everything. */
  start(): Promise<() => Promise<void>>;
}

export function createIngesting({
  db,
  clock,
  log,
  rules,
  samples,
}: {
  db: Database;
  clock: Clock;
  log: Logger;
  rules: RuleBook;
  samples: HowSamplesAreKept;
}): Ingesting {
  const { recordChanges } = createRecorder({ db, clock, log });
  const linker = createLinker({ db, clock, log, recordChanges });
  const { accept } = createIngest({
    db,
    clock,
    log,
    rules: rules.current,
    ...observedJobs({ recordChanges, now: () => clock.now() }),
    applySamples: (sql, measured, from) =>
      storeSamples(sql, measured, { ...from, ...samples, readPresent, now: clock.now() }),
    recordChanges,
    relink: linker.touched,
  });
  const store = (waiting: WaitingBatches) => storeBatches(accept, waiting);
  // The embedded database does one thing at a time. On PostgreSQL the queue is before the thread.
  const queue = db.kind === 'pglite' ? openSiteQueue(ofStreams(() => 1)) : null;
  return {
    take: (waiting) => (queue ? queue(waiting, () => store(waiting)) : store(waiting)),
    start: async () => {
      const stops = [await rules.start(), await linker.start()];
      return async () => {
        for (const stop of stops) await stop();
      };
    },
  };
}
