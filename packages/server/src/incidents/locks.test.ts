import { systemClock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sql } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { Scene } from '../testing/incident-scene.ts';
import { lockIncidents } from './conditions/store.ts';

afterAll(closeDatabases);

// The embedded database runs one transaction at a time anyway.
const [, open = () => expect.fail('no PostgreSQL')] =
  databases().find(([name]) => name === 'postgresql') ?? [];

describe.skipIf(!process.env.TEST_DATABASE_URL)('who waits for whom at one site, on PostgreSQL', () => {
  const scene = new Scene();
  const { network, tell, down, up, wait, words } = scene;
  let finish: (() => Promise<void>) | undefined;
  beforeEach(() => scene.begin(open));
  afterEach(() => finish?.());

  /** A transaction that has done `work` and commits when it is told to, at the latest when the test is over. */
  async function pending(work: (sql: Sql) => Promise<void>): Promise<() => Promise<void>> {
    let commit = (): void => undefined;
    const told = new Promise<void>((resolve) => {
      commit = resolve;
    });
    let over: Promise<void> | undefined;
    await new Promise<void>((resolve, reject) => {
      over = scene.db.transaction(async (sql) => {
        await work(sql);
        resolve();
        await told;
      });
      over.catch(reject);
    });
    finish = async () => {
      commit();
      await over;
    };
    return finish;
  }
  const soon = (work: Promise<void>, ms = 500): Promise<string> =>
    Promise.race([work.then(() => 'done'), systemClock.sleep(ms).then(() => 'waits')]);
  /** What waits does so until this test commits, so a stalled machine is given its time. */
  const PATIENT_MS = 30_000;
  const states = () =>
    scene.db.query('SELECT state FROM conditions WHERE site_id = $1 ORDER BY dedup_key', [scene.site]);

  it('an onset that only begins to wait does not wait for who decides; what touches an event does', async () => {
    await network(['a', 'b']);
    await tell(down('a'));
    await wait(25);
    const commit = await pending((sql) => lockIncidents(sql, scene.site));
    const onset = tell(down('b'));
    expect(await soon(onset, PATIENT_MS)).toBe('done');
    expect((await states()).map(({ state }) => state).sort()).toEqual(['held', 'raised']);
    const clear = tell(up('a'));
    expect(await soon(clear)).toBe('waits');
    await commit();
    await clear;
    expect(await words()).toEqual(['device.down a closed']);
  });

  it('an onset waits for who decides while that is more than a second late, and says so once', async () => {
    await network(['a', 'b', 'c', 'd']);
    await tell(down('a'));
    const commit = await pending((sql) => lockIncidents(sql, scene.site));
    scene.now += 20_900;
    expect(await soon(tell(down('b')), PATIENT_MS)).toBe('done');
    expect(scene.said).toEqual([]);
    scene.now += 600;
    const late = [tell(down('c'))];
    expect(await soon(late[0] ?? expect.fail())).toBe('waits');
    late.push(tell(down('d')));
    expect(await states()).toHaveLength(2);
    await commit();
    await Promise.all(late);
    expect(scene.said).toMatchObject([{ siteId: scene.site, lateMs: 1_500, slowed: 1 }]);
    // Decided: nobody waits any more.
    await scene.recorder.evaluateDue();
    finish = undefined;
    const again = await pending((sql) => lockIncidents(sql, scene.site));
    expect(await soon(tell(scene.state('a', uuidv7(), 1, 2)), PATIENT_MS)).toBe('done');
    await again();
  });

  it('a clear waits for an onset that is not committed yet, and is not lost', async () => {
    await network(['a']);
    const commit = await pending((sql) => scene.recorder.recordChanges(sql, [down('a')]));
    const clear = tell(up('a'));
    expect(await soon(clear)).toBe('waits');
    await commit();
    await clear;
    expect(await states()).toEqual([{ state: 'cleared' }]);
    await wait(60);
    expect(await words()).toEqual([]);
  });

  it('the same onset told by two is one', async () => {
    await network(['a']);
    const commit = await pending((sql) => scene.recorder.recordChanges(sql, [down('a')]));
    const again = tell(down('a'));
    expect(await soon(again)).toBe('waits');
    await commit();
    await again;
    expect(await states()).toEqual([{ state: 'held' }]);
    await wait(25);
    expect(await words()).toEqual(['device.down a open']);
  });
});
