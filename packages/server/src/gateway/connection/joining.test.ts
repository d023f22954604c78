import { randomUUID } from 'node:crypto';
import { CloseCode, type CollectorMessage, PROTOCOL_VERSION } from '@rollcall/shared/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { notifyLinks } from '../../platform/db/notify.ts';
import { ADMIN, batch, call, collectorScene, heartbeat } from '../../testing/collector-scene.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { type Instance, openInstance } from '../../testing/gateway.ts';
import { enrolled, hello, makeKey, newKey, shakeHands } from '../../testing/scripted-collector.ts';

afterAll(closeDatabases);

describe.each(databases())('who a collector is on %s', (_, open) => {
  const scene = collectorScene(open);
  const { site, over, connect, row, confirmed, audited, refusedHello } = scene;
  let db: Database;
  let one: Instance;
  let two: Instance;
  beforeAll(() => {
    ({ db, one, two } = scene);
  });

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
      // A person decides: the first to connect is the collector, the other one is found out again.
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

  describe('operations', () => {
    it('renames, and refuses a name that is taken', async () => {
      const siteId = await site();
      const [a, b] = [await enrolled(db, siteId, 'a'), await enrolled(db, siteId, 'b')];
      const rename = (id: string, name: string) =>
        one.collectors.handlers['collectors.update'](call({ params: { id }, body: { name } }));
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
