import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { UnreadBatch } from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { openIngestThread } from './ingest-thread.ts';
import { closeDatabases, createPostgres } from './testing/database.ts';

afterAll(closeDatabases);
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
const RULES = fileURLToPath(new URL('../../../rules/', import.meta.url));
const { TEST_DATABASE_URL } = process.env;

describe.skipIf(!TEST_DATABASE_URL)('the ingest thread', () => {
  /** A thread of which the starts with these numbers fail before there is one. */
  const open = async (failing: number[]) => {
    const { db, url } = await createPostgres(TEST_DATABASE_URL ?? '');
    const clock = new ManualClock();
    let starts = 0;
    const settings = {
      databaseUrl: url,
      samples: { toEngine: false, sampleDays: 14 },
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
      db,
      clock,
      start: async () => void stops.push(await ingesting.start()),
      starts: () => starts,
      said: () => said.join(''),
      take: (batches: UnreadBatch[] = []) =>
        ingesting.take({ ...whose, stream: 'state', gather: () => batches }),
    };
  };

  it('is replaced when it says nothing any more, however often another cannot be made', async () => {
    const { clock, start, starts, said, take } = await open([2, 3]);
    await start();
    expect(await take()).toMatchObject({ count: 0 });
    // It lives, but by this clock it was silent for a minute.
    await clock.pass(60_000);
    await vi.waitFor(
      async () => {
        await clock.pass(1_000);
        expect(starts()).toBe(4);
      },
      { timeout: 20_000 },
    );
    expect(said()).toContain('it said nothing any more');
    expect(said().split('no ingest thread came up')).toHaveLength(3);
    await vi.waitFor(take, { timeout: 40_000, interval: 200 });
  }, 80_000);

  const batch = (text: string): UnreadBatch => ({ from: 0, frame: new TextEncoder().encode(text) });
  const textOf = ({ frame }: UnreadBatch) => new TextDecoder().decode(frame);

  it('gives back the frames of what it could not store, for another try', async () => {
    const { start, take } = await open([]);
    await start();
    const batches = [batch('{"type":"weather"}'), batch('{"type":"tide"}')];
    for (const _ of ['once', 'again']) {
      const handed = batches.map(({ frame }) => frame);
      await expect(take(batches)).rejects.toMatchObject({ code: 'invalid_request' });
      // Moved, not copied.
      expect(handed.map((frame) => frame.byteLength)).toEqual([0, 0]);
      expect(batches.map(textOf)).toEqual(['{"type":"weather"}', '{"type":"tide"}']);
    }
  });

  it('takes along what it had in hand when it dies, and nothing that was not handed over', async () => {
    const { db, clock, start, take } = await open([]);
    await start();
    const inHand = batch(
      `{"type":"observations","epoch":"${randomUUID()}","stream":"state","from":0,"items":[{}]}`,
    );
    const after = batch('{"type":"weather"}');
    await db.transaction(async (sql) => {
      await sql.query('LOCK TABLE collector_streams');
      const failed = expect(take([inHand])).rejects.toMatchObject({ code: 'unavailable' });
      await clock.pass(60_000);
      await failed;
      await expect(take([after])).rejects.toMatchObject({ code: 'unavailable' });
    });
    expect(textOf(inHand)).toBe('');
    expect(textOf(after)).toBe('{"type":"weather"}');
  });

  it('goes behind whoever answers people, where processors are short', async () => {
    const nice = () =>
      readdirSync('/proc/self/task').map((thread) =>
        // proc_pid_stat(5): field 19, counted behind the name, which may hold anything.
        Number(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ')[16]),
      );
    const before = nice();
    const { start } = await open([]);
    await start();
    expect(Math.max(...nice())).toBeGreaterThan(Math.max(...before));
    expect(Math.min(...nice())).toBe(Math.min(...before));
  });

  it('that cannot be made at the start fails the start, and is tried no more', async () => {
    const { clock, start, starts, take } = await open([1]);
    await expect(start()).rejects.toThrow('EAGAIN');
    await clock.pass(60_000);
    expect(starts()).toBe(1);
    await expect(take()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
