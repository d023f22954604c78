/**
 * Notices that the database's host is gone without a word: power lost, cable pulled, packets dropped. TCP alone would wait
 * for a quarter of an hour for the answer to a statement. So a connection of its own asks all the time, and where no answer
 * comes all connections to that host are ended: whoever waits is told at once, and the next connection finds the new primary.
 */
import { setImmediate as otherWork } from 'node:timers/promises';
import type { Clock } from '@rollcall/shared/clock';
import type pg from 'pg';
import type { Logger } from 'pino';

/** How often the database is asked for a sign of life. */
const ASK_MS = 2_000;
/** A database that says nothing for so long to the least question is gone: busy ones answer in milliseconds. */
const ANSWER_MS = 5_000;

/** Asks by `ask` until the answer is called; `silent` is called each time that no answer comes. A refusal is an answer. */
export function watchHost(clock: Clock, ask: () => Promise<unknown>, silent: () => void): () => void {
  let asking = false;
  return clock.every(ASK_MS, async () => {
    if (asking) return;
    asking = true;
    const over = new AbortController();
    const late = async () => {
      await clock.sleep(ANSWER_MS, over.signal);
      // A process that stood still itself first reads what came meanwhile.
      await otherWork();
      await otherWork();
      return false;
    };
    const answered = ask().then(
      () => true,
      () => true,
    );
    if (!(await Promise.race([answered, late()]))) silent();
    over.abort();
    asking = false;
  });
}

/** Asks over a connection of its own, which `connect` makes, and makes anew when it is lost. */
export function askerOf(
  connect: () => pg.Client,
  log: Logger,
): { ask(): Promise<unknown>; end(): Promise<void> } {
  let client: pg.Client | undefined;
  let ended = false;
  const forget = (which: pg.Client) => {
    if (client === which) client = undefined;
  };
  const open = async () => {
    const next = connect();
    next.on('error', () => forget(next));
    next.on('end', () => forget(next));
    await next.connect();
    if (ended) await next.end();
    else client = next;
  };
  return {
    ask: async () => {
      if (!client) return open();
      return client.query('SELECT 1');
    },
    end: async () => {
      ended = true;
      await client?.end().catch((error: unknown) => log.debug({ err: String(error) }, 'closing the watch'));
    },
  };
}
