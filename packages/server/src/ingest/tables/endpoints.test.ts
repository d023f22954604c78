import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { answered, asked, type Box, NOW, openSite, type TestSite, table } from '../testing/site.ts';

afterAll(closeDatabases);

const box: Box = { sysName: 'sw1', serials: ['FCW1929B68S'], macs: ['00:1b:54:00:00:01'] };
const A = '02:00:00:00:00:0a';
const B = '02:00:00:00:00:0b';
const HOUR_MS = 3600_000;
const entry = (mac: string, ifIndex: number) => ({ mac, ifIndex, bridgePort: ifIndex, vlan: 10 });

describe.each(databases())('intervals of addresses on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  const walk = async (site: TestSite, rows: unknown[], hours: number, name: 'fdb' | 'arp' = 'fdb') => {
    const at = NOW + hours * HOUR_MS;
    site.clock.set(at);
    const device = { ...asked(box, '10.0.0.1'), at };
    await site.send([device, { ...table(device, name, rows), at }]);
  };
  /** `mac port since until`, in hours. */
  const intervals = async (site: TestSite) => {
    const rows = await db.query<{
      mac: string;
      port: number;
      address: string;
      since: Date;
      until: Date | null;
    }>(
      `SELECT mac, if_index AS port, address, since, until FROM endpoints WHERE site_id = $1::uuid
       ORDER BY mac, since, if_index, address`,
      [site.siteId],
    );
    const hour = (date: Date | null) => date && (date.getTime() - NOW) / HOUR_MS;
    return rows.map(({ mac, port, address, since, until }) => [mac, port, address, hour(since), hour(until)]);
  };

  it('ends what a table no longer has and begins what is new, ARP and forwarding apart', async () => {
    const site = await openSite(db);
    await walk(site, [entry(A, 1), entry(B, 2), entry('01:00:5e:00:00:01', 3)], 0);
    await walk(site, [{ ifIndex: 9, address: '10.0.0.7', mac: A }], 0, 'arp');
    await walk(site, [entry(A, 4), entry(B, 2)], 8);
    expect(await intervals(site)).toEqual([
      [A, 1, '', 0, 8],
      [A, 9, '10.0.0.7', 0, null],
      [A, 4, '', 8, null],
      [B, 2, '', 0, null],
    ]);
  });

  it('takes what is back within the hour as never away, and later as come again', async () => {
    const site = await openSite(db);
    await walk(site, [entry(A, 1), entry(B, 2)], 0);
    await walk(site, [entry(B, 2)], 1);
    await walk(site, [entry(A, 1), entry(B, 2)], 1.5);
    expect(await intervals(site)).toEqual([
      [A, 1, '', 0, null],
      [B, 2, '', 0, null],
    ]);
    await walk(site, [entry(B, 2)], 8);
    await walk(site, [entry(A, 1), entry(B, 2)], 20);
    expect(await intervals(site)).toEqual([
      [A, 1, '', 0, 8],
      [A, 1, '', 20, null],
      [B, 2, '', 0, null],
    ]);
  });

  it('keeps the name of an address as it was told last, through readings that do not tell it', async () => {
    const site = await openSite(db);
    const tell = (name: string | undefined, hours: number, mac = A) =>
      walk(
        site,
        [{ ifIndex: 9, address: '10.0.0.7', mac, ...(name === undefined ? {} : { name }) }],
        hours,
        'arp',
      );
    const names = async () => {
      const rows = await db.query<{ name: string | null }>(
        'SELECT name FROM endpoints WHERE site_id = $1::uuid ORDER BY since, mac',
        [site.siteId],
      );
      return rows.map(({ name }) => name);
    };
    const told: [string | undefined, string | null][] = [
      [undefined, null],
      ['printer-7.example.net', 'printer-7.example.net'],
      [undefined, 'printer-7.example.net'],
      ['laptop.example.net', 'laptop.example.net'],
      ['', null],
      ['laptop.example.net', 'laptop.example.net'],
    ];
    for (const [n, [name, kept]] of told.entries()) {
      await tell(name, n);
      expect(await names(), `${n}`).toEqual([kept]);
      expect(await intervals(site)).toEqual([[A, 9, '10.0.0.7', 0, null]]);
    }
    await tell(undefined, 6, B);
    expect(await names(), 'another station has no name of the one before').toEqual([
      'laptop.example.net',
      null,
    ]);
    await tell(undefined, 6.5);
    expect(await names(), 'back within the hour').toEqual(['laptop.example.net', null]);
    await tell('desk.example.net', 6.6);
    expect(await names()).toEqual(['desk.example.net', null]);
    const [{ resumed } = {}] = await db.query(
      'SELECT resumed_at IS NOT NULL AS resumed FROM endpoints WHERE site_id = $1::uuid AND mac = $2',
      [site.siteId, A],
    );
    expect(resumed, 'a new name says nothing of how long it is there').toBe(true);
    await tell(undefined, 7, B);
    await tell(undefined, 14);
    expect(await names(), 'who comes back after hours is named anew').toEqual([
      'desk.example.net',
      null,
      null,
    ]);
  });

  it('takes a table that a scan read without names as the one that was told with them', async () => {
    const site = await openSite(db);
    const rows = [7, 8].map((n) => ({ ifIndex: 9, address: `10.0.0.${n}`, mac: `02:00:00:00:00:0${n}` }));
    const named = rows.map((row, n) => ({ ...row, name: n === 0 ? 'printer.example.net' : '' }));
    const stored = async () => {
      const facts = await db.query<{ version: string; data: { name?: string }[] }>(
        `SELECT xmin::text AS version, data FROM device_facts WHERE site_id = $1::uuid AND "group" = 'arp'`,
        [site.siteId],
      );
      return { version: facts[0]?.version, names: facts[0]?.data.map(({ name }) => name) };
    };
    await walk(site, named, 0, 'arp');
    const before = await stored();
    expect(before.names).toEqual(['printer.example.net', '']);
    await walk(site, rows, 1, 'arp');
    expect(await stored()).toEqual(before);
    // Kept with the others when one of them differs; another station has no name of the one before.
    const moved = { ...rows[1], mac: A };
    await walk(site, [moved, rows[0]], 2, 'arp');
    expect((await stored()).names).toEqual([undefined, 'printer.example.net']);
    await walk(site, [moved, { ...rows[0], name: 'desk.example.net' }], 3, 'arp');
    expect((await stored()).names).toEqual([undefined, 'desk.example.net']);
  });

  it.each(['Printer.example.net', 'printer.', "x'; --", 'a'.repeat(254), 'printer\nx'])(
    'attack: %s is no name; its table is a dead letter',
    async (name) => {
      const site = await openSite(db);
      await walk(site, [{ ifIndex: 9, address: '10.0.0.7', mac: A, name }], 0, 'arp');
      expect(await intervals(site)).toEqual([]);
      const letters = await db.query('SELECT reason FROM dead_letters WHERE site_id = $1::uuid', [
        site.siteId,
      ]);
      expect(letters).toEqual([{ reason: expect.stringContaining('rows.0.name') }]);
    },
  );

  it('attack: rows that no column takes cost no other row its place', async () => {
    const site = await openSite(db);
    await walk(
      site,
      [
        { ...entry(A, 1), vlan: 5_000_000_000 },
        { ...entry(B, 2), vlan: -1 },
      ],
      0,
    );
    const nowhere = { ifIndex: 9, address: "x'; --", mac: A };
    await walk(site, [nowhere, { ifIndex: 9, address: '2001:db8::7', mac: B }], 0, 'arp');
    expect(await intervals(site)).toEqual([
      [A, 1, '', 0, null],
      [B, 2, '', 0, null],
      [B, 9, '2001:db8::7', 0, null],
    ]);
  });

  it('takes the neighbours that monitoring reads as those of a scan, and tells a port that has another', async () => {
    const site = await openSite(db);
    const beside = (sysName: string) => [{ protocol: 'lldp', ifIndex: 1, localPort: 'Gi1', sysName }];
    const scanned = asked(box, '10.0.0.1');
    await site.send([scanned, table(scanned, 'neighbours', beside('core-1'))]);
    const [device] = await site.devices();
    const told = async () =>
      (
        await db.query<{ name: string }>(
          'SELECT sys_name AS name FROM neighbours WHERE device_id = $1::uuid ORDER BY 1',
          [device?.id],
        )
      ).map(({ name }) => name);
    const read = (rows: unknown[], minutes: number, more: object = {}) => {
      const whose = { walk: uuidv7(), address: '10.0.0.1' };
      return {
        ...table(whose, 'neighbours', rows),
        deviceId: device?.id,
        at: NOW + minutes * 60_000,
        ...more,
      };
    };
    await site.send([read(beside('core-1'), 15)]);
    expect(site.changes.filter(({ kind }) => kind === 'neighbour.changed')).toEqual([]);
    await site.send([read(beside('core-2'), 30)]);
    expect(await told()).toEqual(['core-2']);
    expect(site.changes.find(({ kind }) => kind === 'neighbour.changed')).toMatchObject({
      ...{ before: { port: 'Gi1', sysName: 'core-1' }, after: { port: 'Gi1', sysName: 'core-2' } },
    });
    await site.send([read([], 45, { complete: false, reason: 'time-budget' })]);
    expect(await told()).toEqual(['core-2']);
    await site.send([read([], 60)]);
    expect(await told()).toEqual([]);
  });

  it('keeps a neighbour that is silent because its device does not answer, until the device answers or its port has another', async () => {
    const site = await openSite(db);
    const core = { protocol: 'lldp', ifIndex: 1, localPort: 'Gi1', sysName: 'core-1' };
    const edge = { protocol: 'lldp', ifIndex: 2, localPort: 'Gi2', sysName: 'edge-1' };
    const scanned = asked(box, '10.0.0.1');
    await site.send([scanned, table(scanned, 'neighbours', [core, edge])]);
    await site.send([answered('10.0.0.9')]);
    const [device, far] = await site.devices();
    const set = (text: string) => db.query(text, [site.siteId, far?.id]);
    await set('UPDATE neighbours SET remote_device_id = $2::uuid WHERE site_id = $1::uuid');
    const answers = (status: string) =>
      set(
        `UPDATE devices SET monitor = true, status = '${status}' WHERE site_id = $1::uuid AND id = $2::uuid`,
      );
    const after = async (rows: unknown[], minutes: number) => {
      const whose = { walk: uuidv7(), address: '10.0.0.1' };
      const at = NOW + minutes * 60_000;
      await site.send([{ ...table(whose, 'neighbours', rows), deviceId: device?.id, at }]);
      const left = await db.query<{ name: string }>(
        'SELECT sys_name AS name FROM neighbours WHERE site_id = $1::uuid ORDER BY 1',
        [site.siteId],
      );
      return [
        left.map(({ name }) => name),
        site.changes.filter(({ kind }) => kind === 'neighbour.changed').length,
      ];
    };
    await answers('down');
    expect(await after([], 15)).toEqual([['core-1', 'edge-1'], 0]);
    expect(await after([{ ...edge, sysName: 'edge-2' }], 30)).toEqual([['core-1', 'edge-2'], 1]);
    await set(
      "UPDATE neighbours SET remote_device_id = NULL WHERE site_id = $1::uuid AND sys_name = 'edge-2' AND $2 <> ''",
    );
    await answers('up');
    expect(await after([{ ...edge, sysName: 'edge-2' }], 45)).toEqual([['edge-2'], 2]);
  });

  it('keeps a silent neighbour while its port is down or has just come up, and none that is heard elsewhere since, or that is silent for a month', async () => {
    const site = await openSite(db);
    const at = (n: number, name: string) => ({
      ...{ protocol: 'lldp', ifIndex: n, localPort: `Gi${n}` },
      ...{ chassisId: `chassis of ${name}`, sysName: name },
    });
    const ports = [1, 2, 3, 4].map((ifIndex) => ({ ifIndex, name: `Gi${ifIndex}`, operStatus: 1 }));
    const scanned = asked(box, '10.0.0.1');
    await site.send([
      scanned,
      table(scanned, 'interfaces', ports),
      table(scanned, 'neighbours', [at(1, 'core'), at(2, 'edge')]),
    ]);
    await site.send([answered('10.0.0.9')]);
    const [device, far] = await site.devices();
    const set = (text: string) => db.query(text, [site.siteId, far?.id]);
    await set(
      `UPDATE devices SET monitor = true, status = 'down' WHERE site_id = $1::uuid AND id = $2::uuid`,
    );
    const isFar = () => set('UPDATE neighbours SET remote_device_id = $2::uuid WHERE site_id = $1::uuid');
    const after = async (rows: unknown[], minutes: number) => {
      const whose = { walk: uuidv7(), address: '10.0.0.1' };
      await isFar();
      site.clock.set(NOW + minutes * 60_000);
      await site.send([
        { ...table(whose, 'neighbours', rows), deviceId: device?.id, at: NOW + minutes * 60_000 },
      ]);
      const left = await db.query<{ port: string; name: string }>(
        'SELECT local_port AS port, sys_name AS name FROM neighbours WHERE site_id = $1::uuid ORDER BY 1, 2',
        [site.siteId],
      );
      return left.map(({ port, name }) => `${port} ${name}`);
    };
    // For a while it is heard at both, as long as the old port remembers it.
    expect(await after([at(1, 'core'), at(2, 'edge'), at(3, 'core')], 15)).toHaveLength(3);
    expect(await after([at(2, 'edge'), at(3, 'core')], 30)).toEqual(['Gi2 edge', 'Gi3 core']);
    expect(await after([at(2, 'edge')], 45)).toEqual(['Gi2 edge', 'Gi3 core']);
    expect(await after([at(2, 'edge')], 31 * 24 * 60)).toEqual(['Gi2 edge']);
    const day = 24 * 60;
    const changed = (status: number, minutes: number, lastUp = minutes) =>
      db.query(
        `UPDATE interfaces SET oper_status = $2::int, last_change = $3::timestamptz, last_up_at = $4::timestamptz
         WHERE site_id = $1::uuid`,
        [site.siteId, status, new Date(NOW + minutes * 60_000), new Date(NOW + lastUp * 60_000)],
      );
    await changed(1, 32 * day - 1);
    expect(await after([], 32 * day)).toEqual(['Gi2 edge']);
    await changed(2, 32 * day + 1);
    expect(await after([], 33 * day)).toEqual(['Gi2 edge']);
    expect(await after([], 61 * day)).toEqual(['Gi2 edge']);
    // The device restarts: all of its ports changed, this one was up no later for it.
    await changed(2, 62 * day, 32 * day + 1);
    expect(await after([], 63 * day)).toEqual([]);
    // A second cable to the same device, and a cable that is moved, for a while heard at both of its ports.
    expect(await after([at(1, 'core'), at(2, 'core')], 64 * day)).toEqual(['Gi1 core', 'Gi2 core']);
    await changed(2, 65 * day);
    expect(await after([at(2, 'core')], 65 * day + 1)).toEqual(['Gi1 core', 'Gi2 core']);
    expect(await after([at(1, 'core'), at(2, 'core'), at(3, 'core')], 66 * day)).toHaveLength(3);
    // That the old ports are down is found a while after.
    await changed(2, 66 * day + 2);
    expect(await after([at(3, 'core')], 66 * day + 15)).toEqual(['Gi3 core']);
    // Another device hears it since: its cable was moved there. What nobody monitors is not waited for.
    expect(await after([], 66 * day + 30)).toEqual(['Gi3 core']);
    await db.query(
      `INSERT INTO neighbours (site_id, device_id, protocol, key, if_index, local_port, sys_name, first_seen, last_seen)
       VALUES ($1::uuid, $2::uuid, 'lldp', 'x', 9, 'Gi9', 'core', $3, $3)`,
      [site.siteId, far?.id, new Date(NOW + 66 * day * 60_000)],
    );
    expect(await after([], 66 * day + 45)).toEqual(['Gi9 core']);
    expect(await after([at(4, 'edge')], 66 * day + 60)).toHaveLength(2);
    await changed(2, 67 * day);
    expect(await after([], 67 * day + 15)).toHaveLength(2);
    await set('UPDATE devices SET monitor = false WHERE site_id = $1::uuid AND id = $2::uuid');
    expect(await after([], 67 * day + 30)).toEqual(['Gi9 core']);
  });

  it('follows tables that monitoring reads between scans, and notes when they were read as they were', async () => {
    const site = await openSite(db);
    await walk(site, [entry(A, 1), entry(B, 2)], 0);
    const [device] = await site.devices();
    const read = async (rows: unknown[], hours: number, more: object = {}) => {
      const at = NOW + hours * HOUR_MS;
      site.clock.set(at);
      const whose = { walk: uuidv7(), address: '10.0.0.1' };
      return { ...table(whose, 'fdb', rows), deviceId: device?.id, at, ...more };
    };
    const seenAt = async () => {
      const [row] = await db.query<{ at: Date }>(
        `SELECT seen_at AS at FROM device_facts WHERE device_id = $1::uuid AND "group" = 'fdb'`,
        [device?.id],
      );
      return ((row?.at.getTime() ?? 0) - NOW) / HOUR_MS;
    };
    // What came late comes with what is newer: each is a reading of its own.
    await site.send([await read([entry(A, 3), entry(B, 2)], 2), await read([entry(A, 4), entry(B, 2)], 4)]);
    expect(await intervals(site)).toEqual([
      [A, 1, '', 0, 2],
      [A, 3, '', 2, 4],
      [A, 4, '', 4, null],
      [B, 2, '', 0, null],
    ]);
    await site.send([await read([entry(A, 4), entry(B, 2)], 5)]);
    expect(await seenAt()).toBe(5);
    // A scan that finds it so is nothing new, and does not put the device where another one answers.
    await walk(site, [entry(A, 4), entry(B, 2)], 6);
    const partial = await read([entry(A, 4)], 8, { complete: false, reason: 'time-budget' });
    await site.send([partial, { ...partial, deviceId: uuidv7() }]);
    expect((await intervals(site)).filter(([, , , , until]) => until === null)).toHaveLength(2);
    expect(await site.devices()).toHaveLength(1);
  });
});
