/** Cases C of the reliability notes, end to end: the server as a process that dies. */
import { systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, tail } from './child.ts';
import { databaseKinds, World } from './world.ts';

const SOUND = { lost: 0, doubled: 0, altered: 0, misattributed: 0, foreign: 0, reported: 0 };

describe.each(databaseKinds())('a server on %s', (database) => {
  let world: World;
  beforeAll(async () => {
    world = await World.create({ database, sources: 2, rate: 100, haste: 0.2 });
  });
  afterAll(() => world?.destroy());

  const allLinked = (forMs: number) =>
    eventually(() => world.sources.every(({ linked }) => linked), forMs, 20);

  test.each(['locked', 'marked', 'committed', 'acknowledged'])(
    'C41: kill -9 when a batch is %s; ready again within seconds',
    async (stage) => {
      expect(await world.diesWhen(stage, 3, 120_000)).toBe(true);
      await world.server.startReady();
      expect(await allLinked(90_000)).toBe(true);
    },
    120_000,
  );

  test('C49: the clock of the server goes back an hour and on ten years: tokens work, observations flow', async () => {
    const stored = async () =>
      (await world.server.api<{ totalCount: number }>('GET', '/api/events?Source=trap&pageSize=1'))
        .totalCount;
    for (const offset of [-3_600_000, 3650 * 86_400_000, 0]) {
      world.setServerClock(offset);
      const before = await stored();
      expect(await eventually(async () => (await stored()) > before, 60_000)).toBe(true);
    }
    expect(await allLinked(90_000)).toBe(true);
  });

  test('C50: told to stop while it stores: says so to everybody, ends by itself with 0', async () => {
    for (const source of world.sources) source.setRate(1000);
    await systemClock.sleep(1000);
    const begun = systemClock.monotonic();
    expect(await world.server.stop()).toMatchObject({ code: 0 });
    expect(systemClock.monotonic() - begun).toBeLessThan(60_000);
    for (const source of world.sources) {
      source.setRate(100);
      expect(tail(source.logFile, 5)).toMatch(/the server (restarts|is about to go)/);
    }
    await world.server.startReady();
    expect(await allLinked(90_000)).toBe(true);
  });

  test('nothing was lost, doubled, altered or misattributed by any of it', async () => {
    for (const each of world.sources) each.setRate(0);
    expect(await world.drained(180_000)).toEqual([]);
    expect(await world.verdict()).toMatchObject(SOUND);
  });
});
