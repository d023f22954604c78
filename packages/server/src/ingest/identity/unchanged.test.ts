import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { answered, asked, type Box, NOW, openSite, port, type TestSite, table } from '../testing/site.ts';
import { identityActions } from './actions.ts';

afterAll(closeDatabases);

const box: Box = {
  sysName: 'sw1',
  serials: ['FCW1929B68S'],
  table: ['10.0.0.1', '10.0.1.1'],
  sysUpTime: 1e6,
};
const PORTS = [port(1, 'a'), port(2, 'b')];
const HOUR = 3600_000;

describe.each(databases())('a scan that finds the same, on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  /** Walks the box so many hours after the first time. */
  const scan = async (site: TestSite, hours: number, more: Record<string, unknown> = {}, ports = PORTS) => {
    const at = NOW + hours * HOUR;
    site.clock.set(at);
    const walk = asked({ ...box, sysUpTime: 1e6 + hours * 360_000 }, '10.0.0.1', { at, ...more });
    await site.send([walk, table(walk, 'interfaces', ports, { at })]);
    return walk;
  };
  const sighting = async (site: TestSite) => {
    const [row] = await db.query<Record<string, unknown>>(
      'SELECT last_seen, merged_at, walk FROM sightings WHERE site_id = $1::uuid ORDER BY device_id LIMIT 1',
      [site.siteId],
    );
    const hours = (time: unknown) => ((time as Date).getTime() - NOW) / HOUR;
    return { seen: hours(row?.last_seen), merged: hours(row?.merged_at), walk: row?.walk };
  };
  const ports = async (site: TestSite) =>
    (
      await db.query<{ name: string; gone: boolean; oper_status: number }>(
        `SELECT name, gone_at IS NOT NULL AS gone, oper_status FROM interfaces WHERE site_id = $1::uuid ORDER BY if_index`,
        [site.siteId],
      )
    ).map(({ name, gone, oper_status }) => `${name}${gone ? ' gone' : ''} ${oper_status}`);

  it('writes that the device was seen, and by which walk, and nothing else', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    const before = await site.devices();
    const walk = await scan(site, 1);
    expect(await sighting(site)).toEqual({ seen: 1, merged: 0, walk: walk.walk });
    const { last_seen: _s, walk: _w, ...rest } = (await site.devices())[0] ?? {};
    expect(before[0]).toMatchObject(rest);
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.new']);
  });

  it('takes tables that come in a later batch, and reads those that differ', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    site.clock.set(NOW + HOUR);
    const walk = asked({ ...box, sysUpTime: 1e6 + 360_000 }, '10.0.0.1', { at: NOW + HOUR });
    await site.send([walk]);
    await site.send([table(walk, 'interfaces', [port(1, 'a')], { at: NOW + HOUR })]);
    expect(await ports(site)).toEqual(['a 1', 'b gone 1']);
    expect(await sighting(site)).toMatchObject({ merged: 0 });
    await scan(site, 2);
    expect(await ports(site), 'the ports of the first walk are a change again').toEqual(['a 1', 'b 1']);
  });

  it('merges both walks of a device that a batch holds twice', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    const walks = [1, 2].map((hours) => asked(box, '10.0.0.1', { at: NOW + hours }));
    await site.send([
      walks[0],
      table(walks[0]!, 'interfaces', [port(1, 'a')]),
      walks[1],
      table(walks[1]!, 'interfaces', PORTS),
    ]);
    expect(await ports(site)).toEqual(['a 1', 'b 1']);
    expect(site.changes.map(({ kind }) => kind)).toEqual([
      'device.new',
      'interface.removed',
      'interface.added',
    ]);
  });

  it('looks again where anything happened in between', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    const id = (await site.devices())[0]?.id as string;
    await db.query(
      `INSERT INTO device_addresses (site_id, device_id, address, origin, first_seen, last_seen)
       VALUES ($1, $2, '10.0.1.1', 'reached', now(), now())`,
      [site.siteId, id],
    );
    const happened: Record<string, () => Promise<unknown>> = {
      'it was gone': () =>
        db.query('UPDATE devices SET gone_at = now(), status = $2 WHERE id = $1', [id, 'down']),
      'a scan missed it': () => db.query('UPDATE devices SET missed_scans = 1 WHERE id = $1', [id]),
      'its agent was silent': () => site.send([answered('10.0.0.1', { at: NOW, snmp: 'silent' })]),
      'it was described by other rules': () =>
        db.query(`UPDATE devices SET classified_by = '{"rules": "older"}' WHERE id = $1`, [id]),
      'a person said what it is': () =>
        identityActions({
          db,
          clock: { now: site.clock.now } as never,
          recordChanges: async () => undefined,
        }).split({ userId: uuidv7(), name: 'ada', note: async () => undefined }, id, ['10.0.1.1']),
    };
    let hours = 0;
    for (const [what, happen] of Object.entries(happened)) {
      await happen();
      hours += 1;
      await scan(site, hours);
      expect(await sighting(site), what).toMatchObject({ merged: hours, seen: hours });
      hours += 1;
      await scan(site, hours);
      expect(await sighting(site), `${what}, and then nothing`).toMatchObject({
        merged: hours - 1,
        seen: hours,
      });
    }
    expect((await site.devices())[0]).toMatchObject({ gone_at: null, missed_scans: 0, status: 'up' });
  });

  it('compares ports again that a trap turned', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    await site.ingest.accept({
      collectorId: site.collectors[0]!,
      siteId: site.siteId,
      epoch: uuidv7(),
      stream: 'event',
      from: 0,
      items: [
        {
          kind: 'trap',
          at: NOW,
          address: '10.0.0.1',
          snmpVersion: 'v2c',
          trapOid: '1.3.6.1.6.3.1.1.5.3',
          varbinds: [{ oid: '1.3.6.1.2.1.2.2.1.1.2', type: 'Integer', value: '2' }],
        },
      ],
      clockOffsetMs: 0,
    });
    expect(await ports(site)).toEqual(['a 1', 'b 2']);
    await scan(site, 1);
    expect(await ports(site), 'it is up again').toEqual(['a 1', 'b 1']);
  });

  it('merges what another collector, another address or a restart brings, and everything once a week', async () => {
    const site = await openSite(db, { collectors: 2 });
    await scan(site, 0);
    const at = NOW + HOUR;
    site.clock.set(at);
    const same = { ...box, sysUpTime: 1e6 + 360_000 };
    await site.send([asked(same, '10.0.0.1', { at })], site.collectors[1]);
    expect(await sighting(site)).toMatchObject({ merged: 1 });
    await scan(site, 2);
    expect(await sighting(site)).toMatchObject({ merged: 2 });
    site.clock.set(NOW + 3 * HOUR);
    await site.send([asked(same, '10.0.1.1', { at: NOW + 3 * HOUR })]);
    expect(await sighting(site)).toMatchObject({ merged: 3 });
    await scan(site, 4);
    await scan(site, 5, { system: { ...asked(box, '10.0.0.1').system, sysUpTime: 100 } });
    expect(await sighting(site)).toMatchObject({ merged: 5 });
    expect(site.changes.map(({ kind }) => kind)).toContain('device.restarted');
    const quiet = await openSite(db);
    await scan(quiet, 0);
    await scan(quiet, 7 * 24);
    expect(await sighting(quiet)).toMatchObject({ merged: 0 });
    await scan(quiet, 7 * 24 + 1);
    expect(await sighting(quiet)).toMatchObject({ merged: 7 * 24 + 1 });
  });

  it('takes a device that has the address of another for what it is', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    const other: Box = { sysName: 'printer', serials: ['XX11YY22ZZ'] };
    site.clock.set(NOW + HOUR);
    await site.send([asked(other, '10.0.0.1', { at: NOW + HOUR })]);
    await scan(site, 2);
    const holders = await db.query<{ name: string }>(
      `SELECT d.name FROM evidence e JOIN devices d ON d.id = e.device_id
       WHERE e.site_id = $1::uuid AND e.kind = 'address' AND e.value = '10.0.0.1'`,
      [site.siteId],
    );
    expect(holders).toEqual([{ name: 'sw1' }]);
    expect(await sighting(site)).toMatchObject({ merged: 2 });
  });

  it('finds that a host which was met in between is the device, by a MAC of its', async () => {
    const site = await openSite(db);
    const mac = '00:1b:54:00:00:07';
    const macs = { macs: [mac, '00:1b:54:00:00:08'] };
    await scan(site, 0, macs);
    await site.send([answered('10.0.9.9', { mac })]);
    expect(await site.devices()).toHaveLength(2);
    await scan(site, 1, macs);
    expect((await site.devices()).map(({ name }) => name)).toEqual(['sw1']);
    // Known as the device's own from then on: nothing is in the way of recognising it again.
    await scan(site, 2, macs);
    expect(await sighting(site)).toMatchObject({ seen: 2, merged: 1 });
  });

  it('buries an unchanged walk whose changing parts cannot be read', async () => {
    const site = await openSite(db);
    await scan(site, 0);
    await site.send([asked(box, '10.0.0.1', { walk: 'none', at: NOW })]);
    const [{ n } = { n: 0 }] = await db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM dead_letters WHERE site_id = $1::uuid',
      [site.siteId],
    );
    expect(n).toBe(1);
  });
});
