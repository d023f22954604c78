import { randomUUID } from 'node:crypto';
import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import type { Actor } from '../platform/http/handler.ts';
import { keyring } from '../platform/keys/keyring.ts';
import { reseal } from '../platform/keys/reseal.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addSite, asCaller, caller } from '../testing/rows.ts';
import { createCredentialFeature } from './feature.ts';

afterAll(closeDatabases);
const KEY = Buffer.alloc(32, 7);
const CANARY = 'canary-9f2c-community';
const log = pino({ level: 'silent' });

describe.each(databases())('credentials on %s', (_name, open) => {
  let db: Database;
  let feature: ReturnType<typeof createCredentialFeature>;
  let ask: ReturnType<typeof asCaller>;
  let siteId: string;
  const ada = caller('admin');
  const as = (actor: Actor) => {
    ask = asCaller(feature.handlers, actor);
  };
  const featureWith = (keys: Buffer[]) =>
    createCredentialFeature({ db, log, audit: async () => undefined, keyring: keyring(keys) });

  beforeAll(async () => {
    db = await open();
    feature = featureWith([KEY]);
  });
  beforeEach(async () => {
    as(ada);
    siteId = await addSite(db, `site ${randomUUID()}`);
  });

  const credential = (more: Record<string, unknown>) => ({
    body: {
      name: `c ${randomUUID()}`,
      version: 'v2c',
      ...(more.version === 'v3' ? {} : { community: CANARY }),
      ...more,
    },
  });

  it('case 119, 150: take a secret and never give it back, by no answer and by no row', async () => {
    const { data } = await ask('credentials.create', credential({}));
    expect(data).toMatchObject({ version: 'v2c', secret: 'set', allSites: true, user: null });
    const shown = JSON.stringify([
      data,
      await ask('credentials.get', { params: { id: data.id } }),
      await ask('credentials.list', {}),
      await ask('credentials.update', { params: { id: data.id }, body: { position: 5 } }),
    ]);
    expect(shown).not.toContain(CANARY);
    const [row] = await db.query<{ text: string; sealed: Uint8Array }>(
      'SELECT c::text AS text, sealed FROM credentials c WHERE id = $1',
      [data.id],
    );
    expect(row?.text).not.toContain(CANARY);
    expect(row?.text).not.toContain(Buffer.from(CANARY).toString('hex'));
    expect(await feature.ofSite(siteId, [data.id])).toEqual([
      { id: data.id, version: 'v2c', community: CANARY },
    ]);
  });

  it('go to collectors in the order they are tried, complete, each to its sites', async () => {
    const other = await addSite(db, `other ${randomUUID()}`);
    const v3 = {
      version: 'v3',
      user: 'monitor',
      authProtocol: 'sha256',
      authKey: 'authentication',
      privProtocol: 'aes256r',
      privKey: 'encryption phrase',
      contextName: 'vlan-7',
      siteIds: [siteId],
      position: 1,
    };
    const { data: first } = await ask('credentials.create', credential(v3));
    const { data: second } = await ask(
      'credentials.create',
      credential({ siteIds: [siteId, other], position: 2 }),
    );
    const ids = [first.id, second.id];
    const { siteIds: _s, position: _p, ...wire } = v3;
    expect(await feature.ofSite(siteId, ids)).toEqual([
      { id: first.id, ...wire },
      { id: second.id, version: 'v2c', community: CANARY },
    ]);
    expect(await feature.ofSite(other, ids)).toMatchObject([{ id: second.id }]);
  });

  it('go to collectors in the order in which they are listed, also where only capitals tell names apart', async () => {
    const site = await addSite(db, `order ${randomUUID()}`);
    const mark = randomUUID();
    for (const name of ['b', 'C', 'A', 'd']) {
      await ask('credentials.create', credential({ name: `${name} ${mark}`, siteIds: [site] }));
    }
    const { data: listed } = await ask('credentials.list', {
      query: { site: [site], page: '1', pageSize: '100' },
    });
    const own = listed.filter(({ name }: { name: string }) => name.endsWith(mark));
    expect(own.map(({ name }: { name: string }) => name[0]).join('')).toBe('AbCd');
    const ids = own.map(({ id }: { id: string }) => id);
    expect((await feature.ofSite(site, ids)).map(({ id }) => id)).toEqual(ids);
  });

  it('keep the secrets that a change leaves out, and check the whole', async () => {
    const v3 = { version: 'v3', user: 'u', authProtocol: 'md5', authKey: 'authentication' };
    const { data } = await ask('credentials.create', credential(v3));
    const update = (body: object) => ask('credentials.update', { params: { id: data.id }, body });
    await update({ user: 'other' });
    expect(await feature.ofSite(siteId, [data.id])).toMatchObject([
      { user: 'other', authKey: 'authentication' },
    ]);
    await expect(update({ privProtocol: 'des' })).rejects.toThrow(/privKey/);
    await expect(update({ community: 'x' })).rejects.toThrow(/does not apply to SNMP v3/);
    await update({ authProtocol: 'none' });
    expect(await feature.ofSite(siteId, [data.id])).toEqual([
      {
        id: data.id,
        version: 'v3',
        user: 'other',
        authProtocol: 'none',
        privProtocol: 'none',
        contextName: '',
      },
    ]);
    await expect(
      ask('credentials.create', credential({ ...v3, authProtocol: 'none', privProtocol: 'des' })),
    ).rejects.toThrow(/privacy without authentication/);
  });

  it('case 149: are sealed anew under a new key, row by row, whatever was done before', async () => {
    const { data } = await ask('credentials.create', credential({}));
    const rotated = featureWith([Buffer.alloc(32, 8), KEY]);
    expect(await rotated.ofSite(siteId, [data.id])).toHaveLength(1);
    const [before] = await db.query<{ n: number }>('SELECT count(*) AS n FROM credentials');
    const anew = keyring([Buffer.alloc(32, 8), KEY]);
    expect(await reseal(db, anew, log)).toBe(before?.n);
    expect(await reseal(db, anew, log)).toBe(0);
    expect(await featureWith([Buffer.alloc(32, 8)]).ofSite(siteId, [data.id])).toHaveLength(1);
    // The old key alone opens none of them any more; a damaged row does not stop the others.
    expect(await feature.ofSite(siteId, [data.id])).toEqual([]);
    expect(await reseal(db, keyring([KEY, Buffer.alloc(32, 8)]), log)).toBe(before?.n);
  });

  it('case 148: a row put in place of another opens nothing', async () => {
    const [{ data: a }, { data: b }] = await Promise.all([
      ask('credentials.create', credential({})),
      ask('credentials.create', credential({ community: 'other' })),
    ]);
    await db.query(
      'UPDATE credentials SET sealed = (SELECT sealed FROM credentials WHERE id = $2) WHERE id = $1',
      [a.id, b.id],
    );
    expect(await feature.ofSite(siteId, [a.id, b.id])).toMatchObject([{ id: b.id }]);
    await db.query('DELETE FROM credentials WHERE id = $1', [a.id]);
  });

  it('are told with where they worked last', async () => {
    const { data } = await ask('credentials.create', credential({}));
    const device = randomUUID();
    await db.query(
      `INSERT INTO devices (site_id, id, name, credential_id, first_seen) VALUES ($1, $2, 'd', $3, now())`,
      [siteId, device, data.id],
    );
    await db.query('INSERT INTO sightings (site_id, device_id, last_seen) VALUES ($1, $2, now())', [
      siteId,
      device,
    ]);
    for (const address of ['10.0.0.5', '10.0.1.5'])
      await db.query(
        `INSERT INTO device_addresses (site_id, device_id, address, origin, first_seen, last_seen)
         VALUES ($1, $2, $3, 'reached', now(), now())`,
        [siteId, device, address],
      );
    const job = { siteId, spans: [{ first: '10.0.0.1', count: 14 }], settings: BUILT_IN_PROFILES.standard };
    expect((await feature.forJob(job)).known).toEqual({ '10.0.0.5': data.id });
    expect(await feature.forJob({ ...job, settings: BUILT_IN_PROFILES.ping })).toEqual({
      credentials: [],
      known: {},
    });
  });

  it('belong to sites: an administrator of some sees and changes only what concerns them alone', async () => {
    const other = await addSite(db, `other ${randomUUID()}`);
    const { data: everywhere } = await ask('credentials.create', credential({}));
    const { data: there } = await ask('credentials.create', credential({ siteIds: [other] }));
    as({ ...ada, sites: [siteId] });
    await expect(ask('credentials.get', { params: { id: there.id } })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect((await ask('credentials.get', { params: { id: everywhere.id } })).data.name).toBe(everywhere.name);
    for (const id of ['credentials.update', 'credentials.delete'] as const)
      await expect(ask(id, { params: { id: everywhere.id }, body: { position: 1 } })).rejects.toMatchObject({
        code: 'forbidden',
      });
    await expect(ask('credentials.create', credential({}))).rejects.toMatchObject({ code: 'forbidden' });
    await expect(ask('credentials.create', credential({ siteIds: [siteId, other] }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await ask('credentials.create', credential({ siteIds: [siteId] }));
    await expect(ask('credentials.create', credential({ allSites: false }))).rejects.toThrow(/siteIds/);
  });

  it('attack: an administrator of a site learns no name of a credential of others', async () => {
    const other = await addSite(db, `other ${randomUUID()}`);
    const there = credential({ siteIds: [other] });
    await ask('credentials.create', there);
    const here = { body: { ...there.body, siteIds: [siteId] } };
    as({ ...ada, sites: [siteId] });
    await ask('credentials.create', here);
    await expect(ask('credentials.create', here)).rejects.toMatchObject({ code: 'conflict' });
  });
});
