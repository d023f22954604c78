import { randomUUID } from 'node:crypto';
import {
  CloseCode,
  type CollectorMessage,
  PROTOCOL_OLDEST,
  PROTOCOL_VERSION,
} from '@rollcall/shared/protocol';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { notifyLinks } from '../../platform/db/notify.ts';
import type { Call } from '../../platform/http/handler.ts';
import type { AuditRecord } from '../../ports.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { type Instance, openInstance } from '../../testing/gateway.ts';
import { addSite } from '../../testing/rows.ts';
import {
  type Disk,
  enrolled,
  hello,
  makeKey,
  newKey,
  shakeHands,
  talkOver,
} from '../../testing/scripted-collector.ts';
import { createRoster } from './roster.ts';
import type { Session } from './session.ts';

afterAll(closeDatabases);

const ADMIN = {
  userId: randomUUID(),
  name: 'ada',
  role: 'admin' as const,
  sites: 'all' as const,
  via: { kind: 'token' as const, tokenId: randomUUID() },
};
/** A call as the mount would make it; handlers see no more than they declare. */
const call = (more: object): never =>
  ({
    params: {},
    query: { page: 1, pageSize: 25 },
    actor: ADMIN,
    address: '192.0.2.9',
    header: () => undefined,
    ...more,
  }) as unknown as Call<never> as never;

describe.each(databases())('collectors on %s', (name, open) => {
  let db: Database;
  let one: Instance;
  let two: Instance;
  const audited: AuditRecord[] = [];
  const talks: { talk: { hangUp(): void } }[] = [];

  beforeAll(async () => {
    db = await open();
    one = await openInstance(db, {
      audit: async (_sql, record) => {
        audited.push(record);
      },
    });
    two = await openInstance(db);
  });
  afterEach(() => {
    for (const { talk } of talks.splice(0)) talk.hangUp();
  });
  afterAll(async () => {
    await one.stop();
    await two.stop();
  });

  const site = (more: Record<string, unknown> = {}) => addSite(db, `site ${randomUUID()}`, more);
  /** Collector → its last connection. */
  const lines = new Map<string, { hangUp(): void }>();
  /** `dead`: answers no ping, as the server's end of a line that broke without a word. */
  const over = (at: Instance = one, dead = false) => {
    const made = talkOver(at.base, dead ? { autoPong: false } : {});
    talks.push(made);
    return made.talk;
  };
  const connect = async (
    disk: Disk,
    at: Instance = one,
    more: Parameters<typeof shakeHands>[3] = {},
    dead = false,
  ) => {
    // A collector leaves one connection before it opens the next.
    if (!dead) lines.get(disk.id)?.hangUp();
    const talk = over(at, dead);
    lines.set(disk.id, talk);
    const { nonce } = await shakeHands(talk, disk, at.host, more);
    talk.say(heartbeat());
    await talk.next('heartbeat');
    await confirmed(disk);
    return Object.assign(talk, { nonce });
  };
  /** The generation that a collector wrote down is the one that counts. */
  const confirmed = (disk: Disk) =>
    expect.poll(async () => (await row(disk.id)).generation).toBe(disk.generation);
  const row = async (id: string) => {
    const [found] = await db.query<{
      status: string;
      status_reason: string;
      instance: string | null;
      generation: number;
      pending_generation: number | null;
      health: Record<string, unknown>;
      connected: boolean;
    }>('SELECT *, connected_at IS NOT NULL AS connected FROM collectors WHERE id = $1', [id]);
    if (!found) throw new Error('no such collector');
    return found;
  };
  const scan = (siteId: string, targets: string, profile = 'ping') =>
    one.scans.scans.create({ targets, profile, site: siteId }, { userId: null, name: 'test', sites: null });
  const refusedHello = async (
    disk: Disk,
    at: Instance = one,
    more: Parameters<typeof hello>[3] = {},
    host = at.host,
  ) => {
    const talk = over(at);
    const { nonce } = await talk.next('challenge');
    talk.say(hello(disk, { nonce }, host, more));
    return talk.closed;
  };
  const admin = <T extends object>(handlers: T) => handlers;

  describe('joining', () => {
    const token = async (siteId: string) => {
      const made = await one.collectors.handlers['joinTokens.create'](
        call({ body: { siteId, expiresIn: 3600 } }),
      );
      return made.extra.token;
    };
    const join = (text: string, more: object = {}, address = '192.0.2.9') =>
      one.collectors.handlers['collectors.join'](
        call({
          body: {
            token: text,
            hostname: 'probe.example.net',
            publicKey: makeKey().raw.toString('base64'),
            ...more,
          },
          address,
        }),
      );

    it('turns a token into a collector that can connect', async () => {
      const siteId = await site();
      const key = makeKey();
      const { data } = await join(await token(siteId), { publicKey: key.raw.toString('base64') });
      expect(data).toMatchObject({
        name: 'probe',
        site: { id: siteId },
        generation: 0,
        path: '/api/collectors/link',
      });
      const disk = {
        id: data.collectorId,
        key,
        generation: 0,
        epoch: randomUUID(),
        last: { state: -1, event: -1 },
      };
      await connect(disk);
      const { data: shown } = await one.collectors.handlers['collectors.get'](
        call({ params: { id: disk.id } }),
      );
      expect(shown).toMatchObject({ online: true, status: 'active', hostname: 'scripted.example.net' });
    });

    it('case 51: of two hosts that use one token at once exactly one wins, on whichever instance', async () => {
      const siteId = await site();
      const text = await token(siteId);
      const tries = await Promise.allSettled(Array.from({ length: 6 }, () => join(text)));
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const each of tries)
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'unauthorized' });
      await expect(join(text)).rejects.toMatchObject({ code: 'unauthorized' });
      expect(await db.query('SELECT 1 FROM collectors WHERE site_id = $1', [siteId])).toHaveLength(1);
    });

    it('case 52: expired, withdrawn and unknown tokens read the same', async () => {
      const siteId = await site();
      const expired = await token(siteId);
      await db.query(`UPDATE join_tokens SET expires_at = now() - interval '1 second' WHERE site_id = $1`, [
        siteId,
      ]);
      const withdrawn = await token(siteId);
      const { data } = await one.collectors.handlers['joinTokens.list'](
        call({ query: { page: 1, pageSize: 25, site: siteId } }),
      );
      const live = data.find(({ expiresAt }) => expiresAt * 1000 > Date.now());
      await one.collectors.handlers['joinTokens.delete'](call({ params: { id: live?.id } }));
      const messages = await Promise.all(
        [expired, withdrawn].map((text) =>
          join(text, {}, '198.51.100.1').catch(({ code, message }) => ({ code, message })),
        ),
      );
      expect(messages[0]).toEqual(messages[1]);
      expect(messages[0]).toMatchObject({ code: 'unauthorized' });
    });

    it('case 53: refuses a mistyped token before it asks the database, and counts it apart', async () => {
      const text = await token(await site());
      const typo = text.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      const before = { ...one.collectors.enrolment.counts };
      for (const bad of [typo, 'rcj_', 'svc_'.padEnd(44, 'A'), text.toLowerCase(), `${text} `])
        await expect(join(bad, {}, '198.51.100.2')).rejects.toMatchObject({ code: 'unauthorized' });
      expect(one.collectors.enrolment.counts.malformed - before.malformed).toBe(5);
      expect(one.collectors.enrolment.counts.refused).toBe(before.refused);
      await join(text);
    });

    it('case 52: limits who tries in vain, and nobody else', async () => {
      let limited: unknown;
      for (let i = 0; i < 60 && !limited; i++)
        await join('rcj_x', {}, '198.51.100.3').catch((error) => {
          if (error.code === 'rate_limited') limited = error;
        });
      expect(limited).toMatchObject({ headers: { 'Retry-After': expect.any(String) } });
      const siteId = await site();
      for (let i = 0; i < 40; i++) await join(await token(siteId), { name: `many-${i}` }, '198.51.100.4');
    });

    it('numbers names that are taken, refuses a wished one, and leaves the token for another try', async () => {
      const siteId = await site();
      await join(await token(siteId));
      expect((await join(await token(siteId))).data.name).toBe('probe-2');
      const text = await token(siteId);
      await expect(join(text, { name: 'probe' })).rejects.toMatchObject({ code: 'conflict' });
      await join(text, { name: 'other' });
    });

    it('refuses a key that belongs to a collector already: a copied state folder', async () => {
      const publicKey = makeKey().raw.toString('base64');
      await join(await token(await site()), { publicKey });
      await expect(join(await token(await site()), { publicKey })).rejects.toMatchObject({
        code: 'conflict',
      });
    });

    it('case 64: keeps a host name that looks like a command as the text it is', async () => {
      const hostname = '$(touch /tmp/x);`id`.example.net';
      const { data } = await join(await token(await site()), { hostname });
      expect(data.name).toMatch(/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u);
      const { data: shown } = await one.collectors.handlers['collectors.get'](
        call({ params: { id: data.collectorId } }),
      );
      expect(shown.hostname).toBe(hostname);
    });
  });

  describe('identity', () => {
    it('counts the generation up at every connection; a crash on either side of confirming locks nobody out', async () => {
      const disk = await enrolled(db, await site());
      await connect(disk);
      expect(disk.generation).toBe(1);
      expect(await row(disk.id)).toMatchObject({ generation: 1, pending_generation: null });
      // The welcome never arrived: the old number is shown again.
      const talk = over();
      talk.say(hello(disk, { nonce: (await talk.next('challenge')).nonce }, one.host));
      const { generation } = await talk.next('welcome');
      talk.hangUp();
      await connect(disk);
      expect(disk.generation).toBe(generation + 1);
      // The confirmation never arrived: the new number is shown.
      const again = over();
      again.say(hello(disk, { nonce: (await again.next('challenge')).nonce }, one.host));
      disk.generation = (await again.next('welcome')).generation;
      again.hangUp();
      await connect(disk);
      expect((await row(disk.id)).status).toBe('active');
    });

    it('case 54: a copied state folder: both holders are quarantined, on every instance, and an event is raised', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      await connect(disk, one);
      const copy = { ...disk };
      const clone = await connect(copy, two);
      // The copy got ahead; the original shows an old number when it comes again.
      expect(await refusedHello(disk, one)).toMatchObject({ code: CloseCode.quarantined });
      expect(await clone.closed).toMatchObject({ code: CloseCode.quarantined });
      expect(await row(disk.id)).toMatchObject({
        status: 'quarantined',
        status_reason: expect.stringMatching(/^copied key/),
      });
      expect(
        one.raised.filter((change) => 'collectorId' in change && change.collectorId === disk.id).at(-1),
      ).toMatchObject({
        kind: 'collector.quarantined',
        siteId,
        reason: expect.stringContaining('generation 1'),
      });
      for (const holder of [disk, copy])
        expect(await refusedHello(holder)).toMatchObject({ code: CloseCode.quarantined });
      // A person decides: whoever comes first is the collector, the other one is found out again.
      await one.collectors.handlers['collectors.release'](call({ params: { id: disk.id } }));
      await connect(disk);
      expect(await refusedHello(copy)).toMatchObject({ code: CloseCode.quarantined });
    });

    it('case 54: what a copy delivered hides nothing of what the original, released, still has', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      talk.say(batch(disk, 0, [{}, {}]));
      await talk.next('ack');
      // The original is away and collects; its copy goes on from the same sequence.
      const copy = { ...disk, last: { state: 1, event: -1 } };
      const clone = await connect(copy);
      clone.say(batch(copy, 2, [{}, {}, {}]));
      expect(await clone.next('ack')).toMatchObject({ through: 4 });
      disk.last = { state: 9, event: -1 };
      expect(await refusedHello(disk)).toMatchObject({ code: CloseCode.quarantined });
      await clone.closed;
      await one.collectors.handlers['collectors.release'](call({ params: { id: disk.id } }));
      const again = over();
      expect(await shakeHands(again, disk, one.host)).toMatchObject({ through: { state: -1, event: -1 } });
      again.say(batch(disk, 2, Array(8).fill({})));
      expect(await again.next('ack')).toMatchObject({ through: 9 });
    });

    it('case 54: two copies that shake hands at the same time: one of them is confirmed', async () => {
      const disk = await enrolled(db, await site());
      const copy = { ...disk };
      const [a, b] = [over(one), over(two)];
      for (const [talk, holder, at] of [
        [a, disk, one],
        [b, copy, two],
      ] as const)
        talk.say(hello(holder, { nonce: (await talk.next('challenge')).nonce }, at.host));
      const numbers = [(await a.next('welcome')).generation, (await b.next('welcome')).generation];
      expect(new Set(numbers).size).toBe(2);
      a.say({ type: 'confirm', generation: numbers[0] ?? 0 });
      b.say({ type: 'confirm', generation: numbers[1] ?? 0 });
      const late = numbers[0] === Math.max(...numbers) ? b : a;
      expect(await late.closed).toMatchObject({ code: CloseCode.replaced });
    });

    it.each([
      ['one instance', () => one],
      ['two instances', () => two],
    ])(
      'cases 54 and 55: a copy that connects while the original is live, on %s: both are quarantined at once',
      async (_where, second) => {
        const disk = await enrolled(db, await site());
        const original = await connect(disk);
        expect(await refusedHello({ ...disk, key: makeKey() })).toMatchObject({
          code: CloseCode.unauthorized,
        });
        original.say(heartbeat());
        await original.next('heartbeat');
        const begun = performance.now();
        const clone = over(second());
        await shakeHands(clone, { ...disk }, second().host);
        // Checks that overlap decide once.
        for (let i = 0; i < 3; i++) await notifyLinks(db, { verb: 'check', collector: disk.id });
        expect(await original.closed).toMatchObject({ code: CloseCode.quarantined });
        expect(await clone.closed).toMatchObject({ code: CloseCode.quarantined });
        expect(performance.now() - begun).toBeLessThan(30_000);
        expect(await row(disk.id)).toMatchObject({
          status: 'quarantined',
          status_reason: expect.stringMatching(/^copied key: two holders/),
        });
        expect(await refusedHello(disk)).toMatchObject({ code: CloseCode.quarantined });
      },
    );

    it('case 55: a socket that broke without a word is taken over by the same proof, and ends as replaced', async () => {
      const disk = await enrolled(db, await site());
      const older = await connect(disk, one, {}, true);
      const newer = over();
      await shakeHands(newer, disk, one.host);
      newer.say(heartbeat());
      await newer.next('heartbeat');
      await confirmed(disk);
      // Whatever was still on its way on the old line is not heard any more.
      older.say(heartbeat());
      expect(await older.closed).toMatchObject({ code: CloseCode.replaced });
      expect(older.of('heartbeat')).toHaveLength(1);
      newer.say(heartbeat());
      await newer.next('heartbeat');
      expect(await row(disk.id)).toMatchObject({ status: 'active', instance: one.collectors.instance });
    });

    it('case 58: a captured hello opens nothing on another connection, nor does one signed for another host', async () => {
      const disk = await enrolled(db, await site());
      const talk = over();
      const captured = JSON.stringify(hello(disk, await talk.next('challenge'), one.host));
      const replay = over();
      await replay.next('challenge');
      replay.sayRaw(captured);
      expect(await replay.closed).toMatchObject({ code: CloseCode.unauthorized });
      expect(await refusedHello(disk, one, {}, 'evil.example.net')).toMatchObject({
        code: CloseCode.unauthorized,
      });
      expect(await refusedHello({ ...disk, id: randomUUID() })).toMatchObject({
        code: CloseCode.unauthorized,
      });
    });

    it('case 59: revocation closes an open socket at once, on any instance, and for good', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk, two);
      const at = performance.now();
      await one.collectors.handlers['collectors.revoke'](call({ params: { id: disk.id } }));
      expect(await talk.closed).toMatchObject({ code: CloseCode.revoked });
      expect(performance.now() - at).toBeLessThan(10_000);
      expect(await refusedHello(disk, two)).toMatchObject({ code: CloseCode.revoked });
    });

    it('case 59: revocation is found even when the notification is lost', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      await db.query(`UPDATE collectors SET status = 'revoked' WHERE id = $1`, [disk.id]);
      expect(await talk.closed).toMatchObject({ code: CloseCode.revoked });
    });

    it('case 60: a key changes in steps; stopped after any of them, the old or the new one opens the link', async () => {
      const disk = await enrolled(db, await site());
      const rotate = async () => {
        const talk = await connect(disk);
        await one.collectors.handlers['collectors.rotate'](call({ params: { id: disk.id } }));
        await talk.next('rotate');
        return talk;
      };
      // The collector made a key and died before it said so.
      const next = makeKey();
      await rotate();
      expect(await refusedHello({ ...disk, key: next })).toMatchObject({ code: CloseCode.unauthorized });
      await connect(disk);
      // It said so and died before it heard the answer: both open.
      const talk = await rotate();
      talk.say(newKey(disk, talk.nonce, next));
      await talk.next('key-stored');
      await connect(disk);
      // The new one signed a hello that was not confirmed: both still open, whichever the collector kept.
      const before = disk.key;
      const half = over();
      const { nonce } = await half.next('challenge');
      half.say(hello({ ...disk, key: next }, { nonce }, one.host));
      await half.next('welcome');
      half.hangUp();
      await connect(disk);
      // It was confirmed: the old one is dead, and whoever shows it has a copy.
      disk.key = next;
      await connect(disk);
      expect(await refusedHello({ ...disk, key: before })).toMatchObject({ code: CloseCode.quarantined });
    });

    it('attack: who takes a collector over by changing its key is found out when the original comes back', async () => {
      const disk = await enrolled(db, await site());
      const thief = { ...disk, key: disk.key };
      const stolen = await connect(thief);
      await one.collectors.handlers['collectors.rotate'](call({ params: { id: disk.id } }));
      await stolen.next('rotate');
      const mine = makeKey();
      stolen.say(newKey(thief, stolen.nonce, mine));
      await stolen.next('key-stored');
      thief.key = mine;
      const talk = await connect(thief);
      const changed = one.raised.filter(
        (c) => c.kind === 'collector.key-changed' && c.collectorId === disk.id,
      );
      expect(changed).toMatchObject([
        { collectorId: disk.id, address: expect.stringContaining('127.0.0.1') },
      ]);
      expect(audited.filter(({ action }) => action === 'collector.key').slice(-1)).toMatchObject([
        { siteId: expect.any(String), detail: { from: expect.any(String), to: expect.any(String) } },
      ]);
      expect(await refusedHello(disk, two)).toMatchObject({ code: CloseCode.quarantined });
      expect(await talk.closed).toMatchObject({ code: CloseCode.quarantined });
      expect(await row(disk.id)).toMatchObject({ status: 'quarantined' });
    });

    it('attack: a generation that no server gave out locks nobody out', async () => {
      const disk = await enrolled(db, await site());
      const far = { ...disk, generation: 2_000_000_000 };
      expect(await refusedHello(far)).toMatchObject({ code: CloseCode.unauthorized });
      await connect(disk);
    });

    it('case 60: takes no key without proof of its private half', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      await one.collectors.handlers['collectors.rotate'](call({ params: { id: disk.id } }));
      await talk.next('rotate');
      const [mine, other] = [makeKey(), makeKey()];
      talk.say({
        ...newKey(disk, talk.nonce, mine),
        publicKey: other.raw.toString('base64'),
      } as CollectorMessage);
      expect((await talk.next('refused')).reason).toMatch(/not signed/);
      talk.say(newKey(disk, 'another nonce', mine));
      await talk.next('refused');
      expect(
        await db.query('SELECT 1 FROM collectors WHERE id = $1 AND pending_key IS NOT NULL', [disk.id]),
      ).toEqual([]);
    });

    it('cases 35 and 62: an outbox that went back is quarantined; released, it is taken from the start', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      talk.say(batch(disk, 0, Array(10).fill({})));
      expect(await talk.next('ack')).toMatchObject({ through: 9 });
      disk.last = { state: 9, event: -1 };
      await connect(disk);
      disk.last = { state: 4, event: -1 };
      expect(await refusedHello(disk)).toMatchObject({ code: CloseCode.quarantined });
      expect((await row(disk.id)).status_reason).toMatch(/^outbox went back/);
      await one.collectors.handlers['collectors.release'](call({ params: { id: disk.id } }));
      const again = over();
      expect(await shakeHands(again, disk, one.host)).toMatchObject({ through: { state: -1, event: -1 } });
    });

    it('case 21: refuses a version it cannot speak and says which it can', async () => {
      const disk = await enrolled(db, await site());
      const { code, reason } = await refusedHello(disk, one, { version: 99, oldest: 98 });
      expect(code).toBe(CloseCode.version);
      expect(reason).toMatch(new RegExp(`speaks versions 1 to ${PROTOCOL_VERSION}, the collector 98 to 99`));
      expect((await row(disk.id)).status).toBe('active');
      const talk = over();
      expect(await shakeHands(talk, disk, one.host, { version: 7, oldest: 1 })).toMatchObject({
        version: PROTOCOL_VERSION,
      });
    });

    it('tells how far each stream came, so that nothing is sent twice after a reconnect', async () => {
      const disk = await enrolled(db, await site());
      const talk = await connect(disk);
      talk.say(batch(disk, 0, [{}, {}, {}]));
      await talk.next('ack');
      disk.last = { state: 5, event: -1 };
      const again = over(two);
      expect(await shakeHands(again, disk, two.host)).toMatchObject({ through: { state: 2, event: -1 } });
    });

    it('lets each have less under way where many may come; those of other instances, or revoked, do not count', async () => {
      const siteId = await site();
      const disk = await enrolled(db, siteId);
      const crowd = (instance: string | null, status: string) =>
        db.query(
          `INSERT INTO collectors (id, site_id, name, public_key, generation, instance, status, last_seen_at)
           SELECT gen_random_uuid(), $1::uuid, gen_random_uuid()::text, '\\x00', 0, $2, $3, now() FROM generate_series(1, 400)`,
          [siteId, instance, status],
        );
      const share = async () => {
        const three = await openInstance(db);
        const talk = over(three);
        const { limits } = await shakeHands(talk, disk, three.host);
        talk.hangUp();
        await three.stop();
        return limits;
      };
      // Of an embedded database there is one instance.
      if (db.kind !== 'pglite') await crowd(randomUUID(), 'active');
      await crowd(null, 'revoked');
      expect(await share()).toMatchObject({ batchBytes: 120 * 1024 });
      await crowd(null, 'active');
      const many = await share();
      expect(many).toMatchObject({ window: 2 });
      expect(many.batchBytes).toBeLessThan(42 * 1024);
      await db.query(`DELETE FROM collectors WHERE site_id = $1::uuid AND public_key = '\\x00'`, [siteId]);
    });
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
      await one.collectors.roster.writeBeats();
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
      await one.collectors.roster.writeBeats();
      expect(await where()).toEqual(['10.0.1.5/24', '2001:db8::5/64']);
      again.say(heartbeat({}));
      await again.next('heartbeat');
      await one.collectors.roster.writeBeats();
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
          await one.collectors.roster.writeBeats();
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
      const roster = createRoster({
        db,
        clock: new ManualClock(),
        log: pino({ level: 'silent' }),
        raise: async () => undefined,
        jobs: one.scans.queue,
        instance: randomUUID(),
        quarantineDuplicate: async () => undefined,
      });
      const sitting = (id: string, drops: object) =>
        roster.ready({ collector: { id }, clockOffsetMs: 0, beat: { at: 1, drops } } as unknown as Session);
      sitting(bad.id, { 'a\0b': 1 });
      sitting(good.id, { bytes: 2 });
      await roster.writeBeats();
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
        await one.collectors.roster.writeBeats();
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
      await one.collectors.roster.noteAbsent();
      expect(events()).toEqual([]);
      await db.query(`UPDATE collectors SET last_seen_at = now() - interval '16 seconds' WHERE id = $1`, [
        disk.id,
      ]);
      await Promise.all([one.collectors.roster.noteAbsent(), two.collectors.roster.noteAbsent()]);
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
      await db.query(`UPDATE collectors SET last_seen_at = now() - interval '90 seconds' WHERE id = $1`, [
        disk.id,
      ]);
      await two.collectors.roster.forgetDead();
      await two.collectors.roster.noteAbsent();
      expect(await row(disk.id)).toMatchObject({ instance: null, connected: false });
      await one.collectors.roster.writeBeats();
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
      await one.collectors.roster.forgetDead();
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

  describe('operations', () => {
    it('renames, and refuses a name that is taken', async () => {
      const siteId = await site();
      const [a, b] = [await enrolled(db, siteId, 'a'), await enrolled(db, siteId, 'b')];
      const rename = (id: string, name: string) =>
        admin(one.collectors.handlers)['collectors.update'](call({ params: { id }, body: { name } }));
      expect((await rename(a.id, 'c')).data.name).toBe('c');
      await expect(rename(b.id, 'c')).rejects.toMatchObject({ code: 'conflict' });
    });

    it('deletes only what is revoked, and releases only what is quarantined', async () => {
      const { id } = await enrolled(db, await site());
      const { handlers } = one.collectors;
      const params = { params: { id } };
      await expect(handlers['collectors.delete'](call(params))).rejects.toMatchObject({ code: 'conflict' });
      await expect(handlers['collectors.release'](call(params))).rejects.toMatchObject({ code: 'conflict' });
      await expect(handlers['collectors.rotate'](call(params))).rejects.toMatchObject({ code: 'conflict' });
      await handlers['collectors.revoke'](call(params));
      await handlers['collectors.delete'](call(params));
      await expect(handlers['collectors.get'](call(params))).rejects.toMatchObject({ code: 'not_found' });
    });

    it('case 105: shows and changes nothing of a site that the caller does not see', async () => {
      const [here, there] = [await site(), await site()];
      const hidden = await enrolled(db, there);
      const actor = { ...ADMIN, sites: [here] };
      const { handlers } = one.collectors;
      for (const id of [
        'collectors.get',
        'collectors.revoke',
        'collectors.release',
        'collectors.delete',
      ] as const)
        await expect(handlers[id](call({ actor, params: { id: hidden.id } }))).rejects.toMatchObject({
          code: 'not_found',
        });
      expect((await handlers['collectors.list'](call({ actor }))).data).toEqual([]);
      await expect(
        handlers['joinTokens.create'](call({ actor, body: { siteId: there, expiresIn: 60 } })),
      ).rejects.toMatchObject({ code: 'forbidden' });
      expect((await row(hidden.id)).status).toBe('active');
    });
  });
});

const heartbeat = (
  more: Partial<Extract<CollectorMessage, { type: 'heartbeat' }>> = {},
): CollectorMessage => ({
  type: 'heartbeat',
  time: Date.now(),
  outbox: { depth: 0, bytes: 0, oldest: null },
  drops: {},
  ...more,
});
const batch = (disk: Disk, from: number, items: unknown[]): CollectorMessage => ({
  type: 'observations',
  epoch: disk.epoch,
  stream: 'state',
  from,
  items,
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
