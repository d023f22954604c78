import { randomUUID } from 'node:crypto';
import { CloseCode, PROTOCOL_OLDEST, PROTOCOL_VERSION } from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { batch, call, collectorScene, heartbeat } from '../../testing/collector-scene.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { type Instance, openInstance } from '../../testing/gateway.ts';
import { enrolled, shakeHands } from '../../testing/scripted-collector.ts';
import { Roster } from './roster.ts';
import type { Session } from './session.ts';

afterAll(closeDatabases);

describe.each(databases())('a link on %s', (name, open) => {
  const scene = collectorScene(open);
  const { site, over, connect, row, scan, confirmed } = scene;
  let db: Database;
  let one: Instance;
  let two: Instance;
  beforeAll(() => {
    ({ db, one, two } = scene);
  });

  describe('work', () => {
    // The stated window (docs/upgrade.md): every version from the oldest that is spoken to the present one.
    const spoken = Array.from(
      { length: PROTOCOL_VERSION - PROTOCOL_OLDEST + 1 },
      (_, n) => PROTOCOL_OLDEST + n,
    );
    it.each(spoken)(
      'goes to a collector of protocol %i and back until the scan is complete',
      async (version) => {
        const siteId = await site();
        const disk = await enrolled(db, siteId);
        const talk = await connect(disk, one, { version, oldest: PROTOCOL_OLDEST });
        const { id } = await scan(siteId, '10.0.0.0/29');
        const { assignment } = await talk.next('assign');
        expect(assignment).toMatchObject({
          fence: 1,
          spans: [{ first: '10.0.0.1', count: 6 }],
          credentials: [],
        });
        talk.say({ type: 'progress', job: assignment.job, fence: 1, probed: 3, alive: 1, devices: 1 });
        await expect.poll(async () => (await one.scans.scans.get(db, null, id)).addressesProbed).toBe(3);
        talk.say(batch(disk, 0, [outcomes(assignment, '_i_s__'), jobEnd(assignment)]));
        await talk.next('ack');
        expect(await one.scans.scans.detail(null, id)).toMatchObject({
          status: 'completed',
          addressesProbed: 6,
          hostsAlive: 2,
          jobs: [{ status: 'done', collectorId: disk.id, progress: 1, attempt: 1 }],
        });
      },
    );

    it('says of a scan without a collector that it waits, and for whom', async () => {
      const siteId = await site({ name: `Nowhere ${randomUUID()}` });
      const { id, statusReason } = await scan(siteId, '10.0.0.0/30');
      expect(statusReason).toMatch(/^waits: no collector of site Nowhere .* is online$/);
      const disk = await enrolled(db, siteId);
      const talk = await connect(disk);
      await talk.next('assign');
      expect(await one.scans.scans.get(db, null, id)).toMatchObject({ status: 'running', statusReason: '' });
    });

    it('case 57: hands out secrets of the own site only, and none where no agent is asked', async () => {
      const [here, there] = [await site(), await site()];
      for (const [name, siteId] of [
        ['here', here],
        ['there', there],
      ] as const)
        await one.credentials.handlers['credentials.create'](
          call({
            body: {
              name: `${name} ${siteId}`,
              version: 'v2c',
              community: `secret of ${name}`,
              allSites: false,
              siteIds: [siteId],
              position: 100,
            },
          }),
        );
      const disk = await enrolled(db, here);
      const talk = await connect(disk);
      await scan(here, '10.0.0.0/30', 'standard');
      expect((await talk.next('assign')).assignment.credentials).toMatchObject([
        { version: 'v2c', community: 'secret of here' },
      ]);
      await scan(here, '10.0.1.0/30', 'ping');
      expect((await talk.next('assign')).assignment.credentials).toEqual([]);
    });

    it('case 56: an outcome about a job of another site changes nothing', async () => {
      const [here, there] = [await site(), await site()];
      const [victim, thief] = [await enrolled(db, here), await enrolled(db, there)];
      const talk = await connect(victim);
      const { id } = await scan(here, '10.0.0.0/30');
      const { assignment } = await talk.next('assign');
      const lying = await connect(thief);
      lying.say({ type: 'outcome', job: assignment.job, fence: 1, result: 'failed', reason: 'ha' });
      lying.say({ type: 'progress', job: assignment.job, fence: 1, probed: 2, alive: 2, devices: 2 });
      await lying.next('cancel');
      expect(await one.scans.scans.detail(null, id)).toMatchObject({
        hostsAlive: 0,
        jobs: [{ status: 'leased' }],
      });
    });

    it('cancels at once on whichever instance the collector is', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      const talk = await connect(disk, two);
      const { id } = await scan(siteId, '10.0.0.0/30');
      const { assignment } = await talk.next('assign');
      const at = performance.now();
      await one.scans.scans.cancel(null, id);
      expect(await talk.next('cancel')).toEqual({ type: 'cancel', job: assignment.job, fence: 1 });
      expect(performance.now() - at).toBeLessThan(10_000);
    });

    it('case 22: a job cancelled while its collector was away is not started again', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      const talk = await connect(disk);
      const { id } = await scan(siteId, '10.0.0.0/30');
      const { assignment } = await talk.next('assign');
      talk.hangUp();
      await one.scans.scans.cancel(null, id);
      const again = over();
      await shakeHands(again, disk, one.host, {}, [{ job: assignment.job, fence: 1 }]);
      expect(await again.next('cancel')).toMatchObject({ job: assignment.job });
    });

    it('lets a collector go on with its job after a break of the link, without a new lease', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      const talk = await connect(disk);
      const { id } = await scan(siteId, '10.0.0.0/30');
      const { assignment } = await talk.next('assign');
      talk.hangUp();
      const again = over(two);
      await shakeHands(again, disk, two.host, {}, [{ job: assignment.job, fence: 1 }]);
      again.say(batch(disk, 0, [outcomes(assignment, '__'), jobEnd(assignment)]));
      await again.next('ack');
      expect(await one.scans.scans.get(db, null, id)).toMatchObject({ status: 'completed' });
    });

    it('gives a job to somebody else at once when its collector comes back without it', async () => {
      const siteId = await site();
      const [lost, other] = [await enrolled(db, siteId), await enrolled(db, siteId)];
      const talk = await connect(lost);
      await scan(siteId, '10.0.0.0/30');
      const { assignment } = await talk.next('assign');
      const helper = await connect(other, two);
      talk.hangUp();
      // Its outbox is empty: everything it ever collected has arrived.
      await connect(lost, one, { capacity: 0 });
      expect((await helper.next('assign')).assignment).toMatchObject({ job: assignment.job, fence: 2 });
    });

    it('case 17: serves a crowd that comes back in the same moment', async () => {
      const siteId = await site();
      const disks = await Promise.all(Array.from({ length: 60 }, () => enrolled(db, siteId)));
      await Promise.all(disks.map((disk, i) => connect(disk, i % 2 ? one : two)));
      expect(
        await db.query('SELECT 1 FROM collectors WHERE site_id = $1 AND instance IS NOT NULL', [siteId]),
      ).toHaveLength(60);
    });
  });

  describe('presence', () => {
    it('writes down what collectors say of themselves, and shows it', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      talk.say(
        heartbeat({
          outbox: { depth: 7, bytes: 900, oldest: 1_763_700_000_123 },
          drops: { bytes: 2 },
          rssBytes: 5,
          addresses: ['10.0.1.5/24', '2001:db8::5/64'],
        }),
      );
      await talk.next('heartbeat');
      await one.collectors.roster.presence.writeBeats();
      const where = async () =>
        (await db.query('SELECT addresses FROM collectors WHERE id = $1', [disk.id]))[0]?.addresses;
      expect(await where()).toEqual(['10.0.1.5/24', '2001:db8::5/64']);
      const { data } = await one.collectors.handlers['collectors.get'](call({ params: { id: disk.id } }));
      expect(data.health).toEqual({
        at: expect.any(Number),
        outbox: { depth: 7, bytes: 900, oldest: 1_763_700_000 },
        drops: { bytes: 2 },
        rssBytes: 5,
        loopDelayMs: null,
        watch: null,
        engines: [{ name: 'datagram', ok: true, reason: '' }],
        capacity: 4,
      });
      // A connection that has not spoken yet takes nothing back; one that tells no addresses does.
      talk.hangUp();
      const again = over();
      await shakeHands(again, disk, one.host);
      await confirmed(disk);
      await one.collectors.roster.presence.writeBeats();
      expect(await where()).toEqual(['10.0.1.5/24', '2001:db8::5/64']);
      again.say(heartbeat({}));
      await again.next('heartbeat');
      await one.collectors.roster.presence.writeBeats();
      expect(await where()).toBeNull();
    });

    // The embedded database has one session.
    it.skipIf(name === 'pglite')(
      'waits for nothing that is being stored, nor does a new connection, nor a revocation',
      async () => {
        const disk = await enrolled(db, await site());
        await connect(disk);
        await db.query('UPDATE collectors SET last_seen_at = NULL WHERE id = $1', [disk.id]);
        await db.ingest.transaction(async (sql) => {
          // The first window of a stream names its collector: the foreign key holds that row until it is committed.
          await sql.query(
            `INSERT INTO collector_streams (collector_id, epoch, stream, through) VALUES ($1, $2, 'event', 0)`,
            [disk.id, randomUUID()],
          );
          await one.collectors.roster.presence.writeBeats();
          const [{ seen } = expect.fail('no row')] = await db.query(
            'SELECT last_seen_at IS NOT NULL AS seen FROM collectors WHERE id = $1',
            [disk.id],
          );
          expect(seen).toBe(true);
          const talk = await connect(disk);
          await one.collectors.handlers['collectors.revoke'](call({ params: { id: disk.id } }));
          expect(await talk.closed).toMatchObject({ code: CloseCode.revoked });
        });
      },
    );

    it.skipIf(name === 'pglite')(
      'released, leaves no mark of a window that was being stored meanwhile',
      async () => {
        const disk = await enrolled(db, await site());
        await db.query(`UPDATE collectors SET status = 'quarantined' WHERE id = $1`, [disk.id]);
        let released: Promise<unknown> | undefined;
        await db.ingest.transaction(async (sql) => {
          await sql.query(
            `INSERT INTO collector_streams (collector_id, epoch, stream, through) VALUES ($1, $2, 'state', 9)`,
            [disk.id, disk.epoch],
          );
          released = one.collectors.handlers['collectors.release'](call({ params: { id: disk.id } }));
          await new Promise((resolve) => setTimeout(resolve, 300));
        });
        await released;
        expect(
          await db.query('SELECT through FROM collector_streams WHERE collector_id = $1', [disk.id]),
        ).toEqual([]);
        expect(await row(disk.id)).toMatchObject({ status: 'active' });
      },
    );

    it('attack: what one collector says of itself, and nothing can store, keeps no other offline', async () => {
      const [bad, good] = [await enrolled(db, await site()), await enrolled(db, await site())];
      const roster = new Roster({
        db,
        clock: new ManualClock(),
        log: pino({ level: 'silent' }),
        recordChanges: async () => undefined,
        jobs: one.scans.queue,
        instance: randomUUID(),
        quarantineDuplicate: async () => undefined,
      });
      const sitting = (id: string, drops: object) =>
        roster.ready({ collector: { id }, clockOffsetMs: 0, beat: { at: 1, drops } } as unknown as Session);
      sitting(bad.id, { 'a\0b': 1 });
      sitting(good.id, { bytes: 2 });
      await roster.presence.writeBeats();
      expect(await row(good.id)).toMatchObject({ connected: true, health: { drops: { bytes: 2 } } });
      expect(await row(bad.id)).toMatchObject({ connected: false });
      for (const { id } of [bad, good])
        await db.query('UPDATE collectors SET instance = NULL, connected_at = NULL WHERE id = $1', [id]);
    });

    it('raises an event when a clock leaves the bound, once, and when it is back', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      const beat = async (off: number) => {
        for (let i = 0; i < 2; i++) {
          talk.say(heartbeat({ time: Date.now() + off }));
          await talk.next('heartbeat');
        }
        await one.collectors.roster.presence.writeBeats();
      };
      const clocks = () =>
        one.raised.filter((change) => change.kind === 'collector.clock' && change.collectorId === disk.id);
      await beat(60_000);
      await beat(60_000);
      expect(clocks()).toMatchObject([{ ok: false }]);
      await beat(0);
      expect(clocks()).toMatchObject([{ ok: false }, { ok: true }]);
    });

    it('says that a collector is away after 15 s, not before, once and since its last word, and when it is back', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      const talk = await connect(disk);
      talk.hangUp();
      await expect.poll(async () => (await row(disk.id)).instance).toBeNull();
      const events = () =>
        [...one.raised, ...two.raised].flatMap((change) =>
          'collectorId' in change && change.collectorId === disk.id ? change.kind : [],
        );
      await one.collectors.roster.presence.noteAbsent();
      expect(events()).toEqual([]);
      await db.query(`UPDATE collectors SET last_seen_at = now() - interval '16 seconds' WHERE id = $1`, [
        disk.id,
      ]);
      await Promise.all([
        one.collectors.roster.presence.noteAbsent(),
        two.collectors.roster.presence.noteAbsent(),
      ]);
      expect(events()).toEqual(['collector.offline']);
      const said = [...one.raised, ...two.raised].findLast(({ kind }) => kind === 'collector.offline');
      expect(Date.now() - (said?.at ?? 0)).toBeGreaterThan(15_000);
      await connect(disk);
      expect(events().sort()).toEqual(['collector.offline', 'collector.online']);
    });

    it('counts the time that a link was silent before it was closed as time away', async () => {
      const disk = await enrolled(db, await site());
      const clock = new ManualClock();
      const third = await openInstance(db, { clock });
      await connect(disk, third, {}, true);
      await clock.pass(26_000);
      await expect.poll(async () => (await row(disk.id)).instance).toBeNull();
      const [{ silent } = expect.fail('no row')] = await db.query<{ silent: number }>(
        'SELECT extract(epoch FROM now() - last_seen_at)::float8 AS silent FROM collectors WHERE id = $1',
        [disk.id],
      );
      expect(silent).toBeGreaterThan(24);
      await third.stop();
    });

    it('is there again after its instance could not write for a while', async () => {
      const disk = await enrolled(db, await site());
      await connect(disk);
      // Its own instance writes by itself, too: on a busy machine in between.
      const isForgotten = async () => {
        await db.query(`UPDATE collectors SET last_seen_at = now() - interval '90 seconds' WHERE id = $1`, [
          disk.id,
        ]);
        await two.collectors.roster.presence.forgetDead();
        await two.collectors.roster.presence.noteAbsent();
        return row(disk.id);
      };
      await expect.poll(isForgotten).toMatchObject({ instance: null, connected: false });
      await one.collectors.roster.presence.writeBeats();
      expect(await row(disk.id)).toMatchObject({ instance: one.collectors.instance, connected: true });
      expect(one.raised.at(-1)).toMatchObject({ kind: 'collector.online', collectorId: disk.id });
    });

    it('says of nobody that he is away right after a start', async () => {
      const disk = await enrolled(db, await site());
      await db.query(
        `UPDATE collectors SET connected_at = now(), last_seen_at = now() - interval '1 hour' WHERE id = $1`,
        [disk.id],
      );
      const clock = new ManualClock();
      const third = await openInstance(db, { clock });
      const said = (...by: Instance[]) =>
        by.flatMap(({ raised }) =>
          raised.filter((change) => 'collectorId' in change && change.collectorId === disk.id),
        );
      await clock.pass(55_000);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(said(third)).toEqual([]);
      // One of those that run since a minute of real time may come first.
      for (let i = 0; i < 20 && said(one, two, third).length === 0; i++) {
        await clock.pass(10_000);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(said(one, two, third)).toMatchObject([{ kind: 'collector.offline' }]);
      await third.stop();
    });

    it('forgets what a dead instance left behind', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      await db.query(
        `UPDATE collectors SET instance = 'dead', connected_at = now(), last_seen_at = now() - interval '50 seconds' WHERE id = $1`,
        [disk.id],
      );
      const get = async () =>
        (await one.collectors.handlers['collectors.get'](call({ params: { id: disk.id } }))).data;
      expect(await get()).toMatchObject({ online: false });
      await one.collectors.roster.presence.forgetDead();
      expect((await row(disk.id)).instance).toBeNull();
    });

    it('case 50: lets everybody go with 1012 when the server stops, with everything stored', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      const third = await openInstance(db);
      const talk = await connect(disk, third);
      talk.say(batch(disk, 0, [{}, {}]));
      // An answer to what was said behind it: the batch has arrived.
      talk.say(heartbeat());
      await talk.next('heartbeat');
      const stopped = third.stop();
      await talk.next('drain');
      expect(await talk.closed).toMatchObject({ code: CloseCode.restart });
      await stopped;
      expect(talk.of('ack')).toMatchObject([{ through: 1 }]);
      expect((await row(disk.id)).instance).toBeNull();
    });
  });
});

const outcomes = ({ job, fence }: { job: string; fence: number }, codes: string) => ({
  kind: 'outcomes',
  job,
  fence,
  at: Date.now(),
  from: 0,
  codes,
});
const jobEnd = ({ job, fence }: { job: string; fence: number }) => ({
  kind: 'job-end',
  job,
  fence,
  at: Date.now(),
  result: 'done',
  counts: {},
});
