/** Cases A of the reliability notes, end to end: real collectors' outbox and link, a real server, both databases. */
import { readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './child.ts';
import type { SourceProcess } from './collector.ts';
import { databaseKinds, World } from './world.ts';

const RATE = 40;
const DAY_MS = 86_400_000;

describe.each(databaseKinds())('the link to a server on %s', (database) => {
  let world: World;
  beforeAll(async () => {
    world = await World.create({ database, sources: 4, rate: RATE, haste: 0.2 });
  });
  afterAll(() => world?.destroy());

  const source = (index: number): SourceProcess => {
    const found = world.sources[index];
    if (!found) throw new RangeError(`no source ${index}`);
    return found;
  };
  const linked = (each: SourceProcess, forMs = 90_000) => eventually(() => each.linked, forMs, 10);
  const storedTraps = async (): Promise<number> =>
    (await world.server.api<{ totalCount: number }>('GET', '/api/events?Source=trap&pageSize=1')).totalCount;
  /** How many links of a source the server has seen end. */
  const linkEnded = (each: SourceProcess): number =>
    readFileSync(world.server.logFile, 'utf8')
      .split('\n')
      .filter(
        (line) => line.includes(each.id) && /"(closing a collector link|a collector link ended)"/.test(line),
      ).length;
  const seconds = (since: number) => (systemClock.monotonic() - since) / 1000;

  test('A1, A24: stored, the acknowledgement lost with the connection: recognised when it comes again', async () => {
    const one = source(0);
    for (let round = 0; round < 5; round++) {
      expect(await linked(one)).toBe(true);
      const before = await storedTraps();
      await one.proxy.change({ stalled: ['down'] });
      expect(await eventually(async () => (await storedTraps()) > before, 60_000)).toBe(true);
      one.proxy.strike('reset');
      await one.proxy.calm();
    }
    expect(await one.settled(90_000)).toBe(true);
  });

  test('A10: ten outages, the next one during the drain of the last', async () => {
    const one = source(1);
    for (let round = 0; round < 10; round++) {
      await one.proxy.change({ newcomers: 'refuse' });
      one.setRate(2000);
      await eventually(() => (one.told?.depth ?? 0) > 500, 5000);
      one.setRate(RATE);
      await one.proxy.calm();
      await linked(one);
    }
    expect(await one.settled(60_000)).toBe(true);
  });

  test('A16: an acknowledgement lost, and thirty days until the next try', async () => {
    const one = source(2);
    expect(await linked(one)).toBe(true);
    const before = await storedTraps();
    await one.proxy.change({ stalled: ['down'] });
    expect(await eventually(async () => (await storedTraps()) > before + 10, 60_000)).toBe(true);
    await one.kill();
    await one.proxy.calm();
    world.setServerClock(30 * DAY_MS);
    writeFileSync(one.clockFile, String(30 * DAY_MS));
    await one.startSpeaking();
    expect(await linked(one)).toBe(true);
    expect(await one.settled(90_000)).toBe(true);
    world.setServerClock(0);
    writeFileSync(one.clockFile, '0');
  });

  // 25 s of silence are enough for either side; the line itself would tell after hours.
  // What is silent is a matter of the line, whatever the server stores in: with one kind, both beside each other.
  describe.skipIf(database !== databaseKinds().at(-1)).concurrent('silence', () => {
    test('A3, A4: a line that carries nothing, both ways or one way, is given up on both sides', async () => {
      const ways = [['up', 'down'], ['up'], ['down']] as const;
      const within = await Promise.all(
        ways.map(async (directions, index) => {
          const one = source(index);
          await linked(one);
          const [begun, ended] = [systemClock.monotonic(), linkEnded(one)];
          // Nobody gets through meanwhile: the server has to notice by itself that the old line is dead.
          await one.proxy.change({ newcomers: 'mute' });
          one.proxy.lose(directions);
          const near = await eventually(() => !one.linked && seconds(begun), 60_000);
          const far = await eventually(() => linkEnded(one) > ended && seconds(begun), 60_000);
          return { near, far };
        }),
      );
      for (const { near, far } of within) {
        expect(near).toBeLessThan(60);
        expect(far).toBeLessThan(60);
      }
      for (const index of [0, 1, 2]) {
        await source(index).proxy.calm();
        expect(await linked(source(index), 90_000)).toBe(true);
      }
    });

    test('A8: two seconds of delay and stalls of ten: no more than one reconnect a minute', async () => {
      const one = source(3);
      await linked(one);
      const before = one.proxy.accepted;
      await one.proxy.change({ delayMs: 2000 });
      for (let round = 0; round < 2; round++) {
        await systemClock.sleep(5000);
        await one.proxy.change({ stalled: ['up', 'down'] });
        await systemClock.sleep(10_000);
        await one.proxy.change({ stalled: [] });
      }
      expect(one.proxy.accepted - before).toBeLessThanOrEqual(1);
      await one.proxy.calm();
      expect(await linked(one, 90_000)).toBe(true);
    });
  });

  test('A19: poison becomes dead letters with its reason, visible, and holds up nothing', async () => {
    const one = source(3);
    one.setRate(1500);
    expect(await eventually(() => (one.told?.n ?? 0) > 2100, 90_000)).toBe(true);
    one.setRate(0);
    expect(await one.drained(180_000)).toBe(true);
    const { data } = await world.server.api<{
      data: { reason: string; collectorId: string; body: string }[];
    }>('GET', `/api/dead-letters?collector=${one.id}&pageSize=100`);
    expect([...new Set(data.map(({ reason }) => reason))].sort()).toEqual([
      'address: not a literal address',
      'text with a NUL',
    ]);
  });

  test('nothing was lost, doubled, altered or misattributed by any of it', async () => {
    for (const each of world.sources) each.setRate(0);
    expect(await world.drained(180_000)).toEqual([]);
    expect(await world.verdict()).toMatchObject({
      lost: 0,
      doubled: 0,
      altered: 0,
      misattributed: 0,
      foreign: 0,
      reported: 0,
    });
  });
});
