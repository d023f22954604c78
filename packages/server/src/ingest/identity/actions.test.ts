import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { asked, type Box, openSite, port, type TestSite, table } from '../testing/site.ts';
import { identityActions, type Person } from './actions.ts';

afterAll(closeDatabases);

const twin = (n: number): Box => ({
  sysName: 'cluster',
  engineId: `80001f88800000000000${n}${n}00`,
  serials: ['FG100FTK20001234'],
  macs: [`00:86:9c:00:00:0${n}`],
  table: [`10.0.0.${n}`],
});
const router: Box = {
  sysName: 'r1',
  engineId: '800000090300001b54000099',
  table: ['10.0.0.7', '10.0.1.7', '10.0.2.7'],
};

describe.each(databases())('a person on identity, on %s', (_name, open) => {
  let db: Database;
  let by: Person;
  beforeAll(async () => {
    db = await open();
    by = { userId: uuidv7(), name: 'ada', note: async () => undefined };
    await db.query(
      `INSERT INTO users (id, name, password_hash, role) VALUES ($1::uuid, 'ada', '', 'operator')`,
      [by.userId],
    );
  });
  const actions = (site: TestSite) =>
    identityActions({
      db,
      clock: {
        now: site.clock.now,
        monotonic: site.clock.now,
        sleep: async () => undefined,
        every: () => () => undefined,
      },
      recordChanges: async (_sql, changes) => {
        site.changes.push(...changes);
      },
    });
  const idAt = async (site: TestSite, address: string) =>
    (
      await db.query<{ device_id: string }>(
        `SELECT device_id FROM evidence WHERE site_id = $1::uuid AND kind = 'address' AND value = $2`,
        [site.siteId, address],
      )
    )[0]?.device_id as string;
  const pair = async () => {
    const site = await openSite(db);
    const scan = () => site.send([asked(twin(1), '10.0.0.1'), asked(twin(2), '10.0.0.2')]);
    await scan();
    return { site, scan, first: await idAt(site, '10.0.0.1'), second: await idAt(site, '10.0.0.2') };
  };

  it('keeps what was measured of both, of the one that stays where both were, and gives it back by a split', async () => {
    const { site, first, second } = await pair();
    const sample = (device: string, minute: number, sent: number) =>
      db.query(
        `INSERT INTO samples (site_id, device_id, at, part, over_ms, data)
         VALUES ($1::uuid, $2::uuid, to_timestamp($3), -1, 60000, jsonb_build_object('sent', $4::int))`,
        [site.siteId, device, minute * 60, sent],
      );
    const chunk = (device: string, hour: number, word: string) =>
      db.query(
        `INSERT INTO sample_chunks (site_id, device_id, step, begins, data)
         VALUES ($1::uuid, $2::uuid, 0, to_timestamp($3), convert_to($4, 'UTF8'))`,
        [site.siteId, device, hour * 3600, word],
      );
    for (const minute of [1, 2]) await sample(first, minute, 1);
    for (const minute of [2, 3]) await sample(second, minute, 2);
    await chunk(first, 1, 'first');
    for (const hour of [1, 2]) await chunk(second, hour, 'second');
    const [port, sensor] = [uuidv7(), uuidv7()];
    await db.query(
      `INSERT INTO interfaces (site_id, id, device_id, if_index, name, first_seen, last_seen)
       VALUES ($1::uuid, $2::uuid, $3::uuid, 70, 'eth70', now(), now())`,
      [site.siteId, port, second],
    );
    await db.query(
      `INSERT INTO sensors (site_id, id, device_id, key, kind, name, component, health, health_since, first_seen, last_seen)
       VALUES ($1::uuid, $2::uuid, $3::uuid, '1.2.3', 'temperature', 'Inlet', '', 3, now(), now(), now())`,
      [site.siteId, sensor, second],
    );
    await actions(site).merge(by, first, second);
    const merged = () =>
      db.query('SELECT id, into_id AS into FROM merged_devices WHERE site_id = $1::uuid', [site.siteId]);
    expect(await merged()).toEqual([{ id: second, into: first }]);
    const kept = () =>
      db.query(
        `SELECT device_id AS id, data ->> 'sent' AS word FROM samples WHERE site_id = $1::uuid
         UNION ALL SELECT device_id, convert_from(data, 'UTF8') FROM sample_chunks WHERE site_id = $1::uuid ORDER BY word`,
        [site.siteId],
      );
    expect(await kept()).toEqual(['1', '1', '2', 'first', 'second'].map((word) => ({ id: first, word })));
    const named = () =>
      db.query(
        `SELECT device_id AS id, name FROM interfaces WHERE site_id = $1::uuid AND id = $2::uuid
         UNION ALL SELECT device_id, name FROM sensors WHERE site_id = $1::uuid AND id = $3::uuid`,
        [site.siteId, port, sensor],
      );
    expect(await named()).toEqual(['eth70', 'Inlet'].map((name) => ({ id: first, name })));

    await actions(site).split(by, first, ['10.0.0.2']);
    expect(await kept()).toEqual([
      ...['1', '1'].map((word) => ({ id: first, word })),
      { id: second, word: '2' },
      { id: first, word: 'first' },
      { id: second, word: 'second' },
    ]);
    expect(await named()).toEqual(['eth70', 'Inlet'].map((name) => ({ id: second, name })));
  });

  it('finds the port of a record among those of the one that stays, walked for the first time', async () => {
    const site = await openSite(db);
    const lan = { engineId: '80001f888000000000000a00', table: ['10.0.0.1', '10.0.0.2'] };
    await site.send([asked({ sysName: 'sw', macs: ['00:86:9c:00:00:0a'] }, '10.0.0.1')]);
    const walked = (box: Box, address: string, ifIndex: number) => {
      const device = asked(box, address);
      return site.send([device, table(device, 'interfaces', [port(ifIndex, 'eth0')])]);
    };
    await walked({ ...lan, table: [] }, '10.0.0.2', 7);
    const [first, second] = await site.devices();
    await db.query(`UPDATE interfaces SET note = 'mine', own_text = 'mine' WHERE device_id = $1::uuid`, [
      second?.id,
    ]);
    await walked({ ...lan, sysName: 'sw', macs: ['00:86:9c:00:00:0a'] }, '10.0.0.1', 1);
    expect((await site.devices()).map(({ id }) => id)).toEqual([first?.id]);
    const ports = await db.query('SELECT name, note FROM interfaces WHERE site_id = $1::uuid', [site.siteId]);
    expect(ports).toEqual([{ name: 'eth0', note: 'mine' }]);
  });

  it('merges what ingest would not, keeps it merged, and gives the record back by a split', async () => {
    const { site, scan, first, second } = await pair();
    expect(first).not.toBe(second);
    expect(await actions(site).merge(by, first, second)).toBe(first);
    await scan();
    await scan();
    expect((await site.devices()).map(({ id }) => id)).toEqual([first]);
    expect(await idAt(site, '10.0.0.2')).toBe(first);

    expect(await actions(site).split(by, first, ['10.0.0.2'])).toEqual([second]);
    expect(await db.query('SELECT 1 FROM merged_devices WHERE site_id = $1::uuid', [site.siteId])).toEqual(
      [],
    );
    await scan();
    await scan();
    expect((await site.devices()).map(({ id, ip }) => [id, ip])).toEqual([
      [first, '10.0.0.1'],
      [second, '10.0.0.2'],
    ]);
    const decisions = await db.query(
      'SELECT verb, undone_at IS NOT NULL AS undone FROM identity_decisions WHERE site_id = $1::uuid ORDER BY verb',
      [site.siteId],
    );
    expect(decisions).toEqual([
      { verb: 'merge', undone: true },
      { verb: 'split', undone: false },
    ]);
    expect(site.changes.map(({ kind }) => kind).filter((kind) => /merged|split/.test(kind))).toEqual([
      'device.merged',
      'device.split',
    ]);
  });

  it('keeps apart what a person split, although all evidence says one box', async () => {
    const site = await openSite(db);
    const scan = () =>
      site.send(['10.0.0.7', '10.0.1.7', '10.0.2.7'].map((address) => asked(router, address)));
    await scan();
    const [only] = await site.devices();
    const [other] = await actions(site).split(by, only?.id as string, ['10.0.1.7']);
    await scan();
    await scan();
    expect((await site.devices()).map(({ id }) => id).sort()).toEqual([only?.id, other].sort());
    expect(await idAt(site, '10.0.1.7')).toBe(other);
    await actions(site).merge(by, only?.id as string, other as string);
    await scan();
    expect(await site.devices()).toHaveLength(1);
  });

  it('does nothing that cannot be written down', async () => {
    const { site, first, second } = await pair();
    const full = { ...by, note: () => Promise.reject(new Error('the disk is full')) };
    await expect(actions(site).merge(full, first, second)).rejects.toThrow('the disk is full');
    expect((await site.devices()).map(({ id }) => id)).toEqual([first, second]);
    await actions(site).merge(by, first, second);
    await expect(actions(site).split(full, first, ['10.0.0.2'])).rejects.toThrow('the disk is full');
    expect((await site.devices()).map(({ id }) => id)).toEqual([first]);
  });

  it('refuses what makes no sense, with a reason', async () => {
    const { site, first, second } = await pair();
    const elsewhere = await pair();
    const { merge, split } = actions(site);
    await expect(merge(by, first, first)).rejects.toThrow('with itself');
    await expect(merge(by, first, elsewhere.first)).rejects.toThrow('different sites');
    await expect(merge(by, first, uuidv7())).rejects.toThrow('no such device');
    await expect(split(by, first, ['10.0.0.2'])).rejects.toThrow('10.0.0.2 is not an address of this device');
    await expect(split(by, first, ['10.0.0.1'])).rejects.toThrow('leave it at least one');
    expect((await site.devices()).map(({ id }) => id)).toEqual([first, second]);
  });
});
