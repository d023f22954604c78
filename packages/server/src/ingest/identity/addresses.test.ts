import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { answered, asked, NOW, openSite, port, type TestSite, table } from '../testing/site.ts';

afterAll(closeDatabases);

describe.each(databases())('addresses on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  const listed = async (site: TestSite) =>
    (
      await db.query(
        'SELECT host(address) AS address FROM device_addresses WHERE site_id = $1::uuid ORDER BY address',
        [site.siteId],
      )
    ).map(({ address }) => address);
  const INSIDE = ['127.0.0.1', '::1', 'fe80::1', 'fe80::21b:54ff:fe00:7', '169.254.1.1', '0.0.0.0'];
  const box = {
    sysName: 'r1',
    table: ['10.0.0.1', '10.0.1.1', ...INSIDE],
    engineId: '80001f8803001b54000007',
  };

  it('that every box has are listed as facts of its interfaces, and are no evidence', async () => {
    const site = await openSite(db);
    const walk = asked(box, '10.0.0.1');
    const rows = [
      ...box.table.map((address, i) => ({ address, ifIndex: i + 1 })),
      { address: '10.53.53.53', ifIndex: 1, type: 'anycast' },
    ];
    await site.send([walk, table(walk, 'addresses', rows)]);
    expect((await listed(site)).toSorted()).toEqual(
      [
        '10.0.0.1',
        '10.0.1.1',
        '10.53.53.53',
        ...INSIDE.filter((address) => address !== '0.0.0.0'),
      ].toSorted(),
    );
    const evidence = await db.query<{ value: string }>(
      `SELECT value FROM evidence WHERE site_id = $1::uuid AND kind IN ('address', 'own-address')`,
      [site.siteId],
    );
    expect(evidence.filter(({ value }) => INSIDE.includes(value))).toEqual([]);
  });

  it('a trap from one of them is of nobody, whatever a device lists', async () => {
    const site = await openSite(db);
    await site.send([asked(box, '10.0.0.1')]);
    const [device] = await site.devices();
    for (const address of INSIDE)
      await db.query(
        `INSERT INTO device_addresses (site_id, device_id, address, origin, first_seen, last_seen)
         VALUES ($1::uuid, $2::uuid, $3::inet, 'table', now(), now())`,
        [site.siteId, device?.id, address],
      );
    const items = [...INSIDE, '10.0.0.1'].map((address) => ({
      kind: 'trap',
      at: NOW,
      address,
      trapOid: '1.3.6.1.6.3.1.1.5.5',
      varbinds: [],
    }));
    const stream = { collectorId: site.collectors[0] as string, siteId: site.siteId, epoch: uuidv7() };
    site.changes.length = 0;
    await site.ingest.accept({ ...stream, stream: 'event', from: 0, items, clockOffsetMs: 0 });
    const traps = site.changes.filter(({ kind }) => kind === 'trap.received');
    expect(traps.map((each) => 'deviceId' in each && each.deviceId)).toEqual([
      ...INSIDE.map(() => null),
      device?.id,
    ]);
  });

  it('a box read at one of them is at the address that it lists, and its tables are its own', async () => {
    const site = await openSite(db);
    const walk = asked(box, '127.0.0.1');
    await site.send([answered('127.0.0.1'), answered('fe80::1'), walk]);
    await site.send([table(walk, 'interfaces', [port(1, 'a')])]);
    expect(await site.devices()).toMatchObject([{ ip: '10.0.0.1', name: 'r1', interface_count: 1 }]);
    await site.send([asked(box, '10.0.0.1')]);
    expect(await site.devices()).toHaveLength(1);
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.new']);
  });

  it('a box that was read at one of them and lists no other is not known', async () => {
    const site = await openSite(db);
    await site.send([asked({ sysName: 'alone', table: ['127.0.0.1', '172.17.0.1'] }, '127.0.0.1')]);
    expect(await site.devices()).toEqual([]);
  });

  it('a virtual hardware address is not the one of the box that answers', async () => {
    const site = await openSite(db);
    await site.send([answered('10.0.0.254', { mac: '00:00:5e:00:01:07' })]);
    expect(await site.devices()).toMatchObject([{ mac_address: null }]);
  });
});
