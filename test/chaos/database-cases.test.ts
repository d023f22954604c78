/** Cases C of the reliability notes, end to end: PostgreSQL as a process that dies, goes away, or has no room. */
import { systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './child.ts';
import { asRoot } from './postgres.ts';
import { databaseKinds, World } from './world.ts';

/** Seconds that PostgreSQL is away in C43; the long form takes the ten minutes of the case. */
const AWAY_SECONDS = Number(process.env.ROLLCALL_AWAY_SECONDS ?? 12);

const SOUND = { lost: 0, doubled: 0, altered: 0, misattributed: 0, foreign: 0, reported: 0, untimely: 0 };

describe.skipIf(!databaseKinds().includes('postgresql'))('a server whose PostgreSQL fails', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.create({ database: 'postgresql', sources: 2, rate: 100 });
  });
  afterAll(() => world?.destroy());

  const postgres = () => {
    if (!world.postgres) throw new Error('no PostgreSQL');
    return world.postgres;
  };
  const through = async () =>
    Number(await postgres().sql('SELECT coalesce(sum(through), 0) FROM collector_streams'));
  const flowing = async (forMs: number) => {
    const before = await through();
    return eventually(async () => (await through()) > before, forMs, 50);
  };

  test('C42: killed in the middle of a transaction: the batch is there whole or not at all', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await flowing(90_000)).toBe(true);
      // Everything of a batch but its last statement is done when this lock holds it up.
      const lock = postgres()
        .sql('BEGIN; LOCK TABLE collector_streams; SELECT pg_sleep(30); COMMIT')
        .catch(() => 'killed');
      const held = await eventually(
        async () => (await postgres().sql(`SELECT count(*) FROM pg_locks WHERE NOT granted`)) !== '0',
        10_000,
      );
      expect(held).toBe(true);
      await postgres().stop('immediate');
      expect(await lock).toBe('killed');
      await postgres().start();
    }
    expect(world.server.running).toBe(true);
  });

  test(
    `C43: away for ${AWAY_SECONDS} s: 503, live but not ready, collectors keep what they have; then ingest again`,
    async () => {
      expect(await flowing(90_000)).toBe(true);
      await postgres().stop('fast');
      await systemClock.sleep(1000);
      const depth = () => world.sources.reduce((sum, { told }) => sum + (told?.depth ?? 0), 0);
      const before = depth();
      const until = systemClock.monotonic() + AWAY_SECONDS * 1000;
      while (systemClock.monotonic() < until) {
        const answer = await fetch(`${world.server.url}/api/devices`, {
          headers: { Authorization: `Bearer ${world.server.token}` },
        });
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([
          503,
          expect.stringMatching(/^\d+$/),
        ]);
        expect(await world.server.status('/api/health/live')).toBe(200);
        expect(await world.server.status('/api/health/ready', 5000)).toBe(503);
        await systemClock.sleep(500);
      }
      expect(depth()).toBeGreaterThan(before + AWAY_SECONDS * 100);
      await postgres().start();
      expect(await flowing(90_000)).toBe(true);
      expect(await world.server.status('/api/health/ready')).toBe(200);
    },
    (AWAY_SECONDS + 120) * 1000,
  );

  test.each(['locked', 'committed'])(
    'the ingest thread dies when a batch is %s: another takes its place, the server stays',
    async (stage) => {
      const { pid } = world.server.child ?? {};
      expect(await world.threadDiesWhen(stage, 3, 120_000)).toBe(true);
      // A thread has the lowest priority: on a busy machine it comes up late.
      expect(await flowing(60_000)).toBe(true);
      expect([world.server.running, world.server.child?.pid]).toEqual([true, pid]);
    },
    120_000,
  );

  test('C44: slow questions of people take no connection from ingest', async () => {
    const lock = postgres().sql('BEGIN; LOCK TABLE schedules; SELECT pg_sleep(4); COMMIT');
    const questions = Array.from({ length: 40 }, () =>
      world.server.status('/api/discovery/schedules', 20_000),
    );
    await systemClock.sleep(500);
    expect(await flowing(2500)).toBe(true);
    await lock;
    await Promise.all(questions);
  });

  test('nothing was lost, doubled, altered or misattributed by any of it', async () => {
    for (const each of world.sources) each.setRate(0);
    expect(await world.drained(180_000)).toEqual([]);
    expect(await world.verdict()).toMatchObject(SOUND);
  });
});

describe.skipIf(!databaseKinds().includes('postgresql') || !asRoot())(
  'a server whose PostgreSQL has no room on its disk',
  () => {
    let world: World;
    beforeAll(async () => {
      world = await World.create({ database: 'postgresql', sources: 2, rate: 500, databaseDisk: 400 });
    });
    afterAll(() => world?.destroy());

    test('C46: 503 that says so, live but nothing acknowledged; goes on by itself when there is room', async () => {
      const { postgres } = world;
      if (!postgres?.disk) throw new Error('no disk');
      const depth = () => world.sources.reduce((sum, { told }) => sum + (told?.depth ?? 0), 0);
      postgres.disk.fill();
      const writes = async () => {
        const answer = await fetch(`${world.server.url}/api/sites`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${world.server.token}`,
            'Content-Type': 'application/json',
          },
          body: JSON.stringify({ name: `site ${systemClock.monotonic()}` }),
        });
        const { error } = (await answer.json()) as { error?: { message: string } };
        return { status: answer.status, retryAfter: answer.headers.get('retry-after'), error };
      };
      const refused = await eventually(async () => {
        const answer = await writes();
        return answer.status === 503 ? answer : undefined;
      }, 60_000);
      expect(refused).toMatchObject({ retryAfter: expect.stringMatching(/^\d+$/) });
      const held = depth();
      expect(await eventually(() => depth() > held + 1000, 30_000)).toBe(true);
      expect(await world.server.status('/api/health/live')).toBe(200);
      expect(world.server.running).toBe(true);
      postgres.disk.free();
      // Without room for its log PostgreSQL gives up, and is started again by whoever runs it.
      if (!postgres.running) await postgres.start();
      for (const each of world.sources) each.setRate(0);
      expect(await world.drained(180_000)).toEqual([]);
      expect(await world.verdict()).toMatchObject(SOUND);
    });
  },
);
