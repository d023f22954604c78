import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openIngestThread } from './ingest-thread.ts';
import { closeDatabases, createPostgres } from './testing/database.ts';
import { ManualClock } from './testing/manual-clock.ts';

afterAll(closeDatabases);
const RULES = fileURLToPath(new URL('../../../rules/', import.meta.url));
const { TEST_DATABASE_URL } = process.env;

describe.skipIf(!TEST_DATABASE_URL)('the ingest thread', () => {
  /** A thread of which the starts with these numbers fail before there is one. */
  const open = async (failing: number[]) => {
    const { url } = await createPostgres(TEST_DATABASE_URL ?? '');
    const clock = new ManualClock();
    let starts = 0;
    const settings = {
      databaseUrl: url,
      get folders() {
        starts += 1;
        if (failing.includes(starts)) throw new Error('no thread can be made: EAGAIN');
        return [RULES];
      },
    };
    const said: string[] = [];
    const log = pino({}, { write: (line) => void said.push(line) });
    const ingesting = openIngestThread(settings, { clock, log });
    const whose = { collectorId: randomUUID(), siteId: randomUUID(), epoch: randomUUID(), clockOffsetMs: 0 };
    return {
      clock,
      ingesting,
      starts: () => starts,
      said: () => said.join(''),
      take: () => ingesting.take({ ...whose, stream: 'state', batches: [] }),
    };
  };

  it('is replaced when it says nothing any more, however often another cannot be made', async () => {
    const { clock, ingesting, starts, said, take } = await open([2, 3]);
    const stop = await ingesting.start();
    expect(await take()).toMatchObject({ count: 0 });
    // It lives, but by this clock it was silent for a minute.
    await clock.pass(60_000);
    await vi.waitFor(
      async () => {
        await clock.pass(1_000);
        expect(starts()).toBe(4);
      },
      { timeout: 10_000 },
    );
    expect(said()).toContain('it said nothing any more');
    expect(said().split('no ingest thread came up')).toHaveLength(3);
    await vi.waitFor(take, { timeout: 15_000, interval: 200 });
    await stop();
  }, 40_000);

  it('goes behind whoever answers people, where processors are short', async () => {
    const nice = () =>
      readdirSync('/proc/self/task').map((thread) =>
        // proc_pid_stat(5): field 19, counted behind the name, which may hold anything.
        Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]),
      );
    const before = nice();
    const { ingesting } = await open([]);
    const stop = await ingesting.start();
    expect(Math.max(...nice())).toBeGreaterThan(Math.max(...before));
    expect(Math.min(...nice())).toBe(Math.min(...before));
    await stop();
  });

  it('that cannot be made at the start fails the start, and is tried no more', async () => {
    const { clock, ingesting, starts, take } = await open([1]);
    await expect(ingesting.start()).rejects.toThrow('EAGAIN');
    await clock.pass(60_000);
    expect(starts()).toBe(1);
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
