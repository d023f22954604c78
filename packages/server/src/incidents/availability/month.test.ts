import type { Availability } from '@rollcall/shared/api/availability';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { Scene } from '../../testing/incident-scene.ts';
import { randomOf } from '../../testing/outages/network.ts';
import { asCaller, caller, insert } from '../../testing/rows.ts';
import { availabilityHandlers } from './handlers.ts';

afterAll(closeDatabases);

/** `TEST_MONTH=SEED,OUTAGES` plays another month and prints what became of it. */
const [seed = 1, outages = 6] = (process.env.TEST_MONTH ?? '').split(',').filter(Boolean).map(Number);
const MONTH_S = 30 * 86_400;
/** A core, three rooms, three switches in each, two hosts at each switch; by name the one before it. */
const PARENTS = new Map<string, string>();
for (const room of ['a', 'b', 'c']) {
  PARENTS.set(room, 'core');
  for (const n of [1, 2, 3]) {
    PARENTS.set(`${room}${n}`, room);
    for (const host of ['x', 'y']) PARENTS.set(`${room}${n}${host}`, `${room}${n}`);
  }
}
const names = ['core', ...PARENTS.keys()];
const isBehind = (name: string, root: string): boolean =>
  name === root || (PARENTS.has(name) && isBehind(PARENTS.get(name) ?? '', root));

describe.each(databases())('a month on %s', (_name, open) => {
  const scene = new Scene();
  const random = randomOf(seed);
  const { tell, down, up, mark, wait } = scene;

  /** So many seconds in which nothing happens but that time goes on. */
  const pass = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 21_600) {
      scene.now += Math.min(21_600, left) * 1000;
      await scene.recorder.evaluateDue();
    }
  };
  const turn = async (all: readonly string[], to: 'up' | 'down') => {
    for (const name of all) await mark(name, to);
    await tell(...all.map(to === 'up' ? up : down));
  };

  it('of outages is told case by case, and adds up to the second', async () => {
    await scene.begin(open);
    await scene.network(
      names,
      [...PARENTS].map(([name, parent]) => `${parent}>${name}`),
    );
    const [begin, since] = [scene.now, '2026-10-01T00:00:00Z'];
    const own = { site_id: scene.site, since };
    await scene.db.query('DELETE FROM monitoring_history WHERE site_id = $1', [scene.site]);
    await insert(
      scene.db,
      'monitoring_history',
      [...scene.devices.values()].map((device_id) => ({ ...own, device_id })),
    );
    await insert(scene.db, 'connection_history', [{ ...own, collector_id: uuidv7(), until: null }]);

    const downFor = new Map(names.map((name) => [name, 0]));
    for (let i = 0; i < outages; i++) {
      await pass(4000 + Math.floor((random() * MONTH_S) / outages / 2));
      const root = names[1 + Math.floor(random() * (names.length - 1))] ?? '';
      const all = names.filter((name) => isBehind(name, root)).sort(() => random() - 0.5);
      const seconds = 150 + Math.floor(random() ** 3 * 10_000);
      await turn(all, 'down');
      await wait(120);
      await pass(seconds - 120);
      await turn(all, 'up');
      for (const name of all) downFor.set(name, (downFor.get(name) ?? 0) + seconds);
      await wait(200);
      // Too short for an event.
      await turn(all, 'down');
      await wait(4);
      await turn(all, 'up');
      await wait(10);
    }
    await pass(MONTH_S - (scene.now - begin) / 1000);

    const query = {
      of: 'devices',
      site: scene.site,
      ...{ from: `${begin / 1000}`, to: `${begin / 1000 + MONTH_S}`, pageSize: '100' },
    };
    const { data } = await asCaller(
      availabilityHandlers({ db: scene.db, clock: scene.clock }),
      caller('operator', [scene.site]),
    )('availability.list', { query });
    const told = (data as Availability[]).map((one) => [one.device, one.down, one.up, one.notObserved]);
    const truth = [...downFor].map(([name, seconds]) => [name, seconds, MONTH_S - seconds, 0]);
    expect(told.sort()).toEqual(truth.sort());
    const cases = await scene.db.query('SELECT status FROM cases WHERE site_id = $1', [scene.site]);
    expect(cases).toEqual(Array.from({ length: outages }, () => ({ status: 2 })));
    expect(
      await scene.db.query('SELECT 1 FROM conditions WHERE site_id = $1 AND present', [scene.site]),
    ).toEqual([]);
    if (process.env.TEST_MONTH)
      process.stdout.write(
        `seed ${seed}: ${outages} outages, ${(await scene.events()).length} events, none open\n`,
      );
  }, 900_000);
});
