import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { asked, type Box, openSite, port, type TestSite, table } from '../testing/site.ts';

afterAll(closeDatabases);

const box: Box = { sysName: 'sw1', serials: ['FCW1929B68S'], macs: ['00:1b:54:00:00:01'] };

describe.each(databases())('tables of a walk on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  const ports = (site: TestSite) =>
    db.query<{ id: string; if_index: number; name: string; gone_at: Date | null; alias: string | null }>(
      'SELECT * FROM interfaces WHERE site_id = $1::uuid ORDER BY if_index',
      [site.siteId],
    );
  const walked = async (
    site: TestSite,
    rows: unknown[],
    more = {},
    name: Parameters<typeof table>[1] = 'interfaces',
  ) => {
    const walk = asked(box, '10.0.0.1');
    await site.send([walk, table(walk, name, rows, more)]);
  };
  const kinds = (site: TestSite) => site.changes.map(({ kind }) => kind);

  it('takes what a complete walk no longer shows as gone, and what a partial one lacks as unknown', async () => {
    const site = await openSite(db);
    await walked(site, [port(1, 'a'), port(2, 'b', { ifAlias: 'to core' }), port(3, 'c')]);
    await walked(site, [port(1, 'a')], { complete: false, reason: 'timeout' });
    await walked(site, [], { complete: false, reason: 'timeout' });
    expect((await ports(site)).map(({ gone_at }) => gone_at)).toEqual([null, null, null]);
    expect((await site.devices())[0]?.interface_count).toBe(3);
    await walked(site, [port(1, 'a'), port(2, 'b')]);
    const after = await ports(site);
    expect(after.map(({ gone_at }) => gone_at !== null)).toEqual([false, false, true]);
    expect(after[1]?.alias, 'a column that was not read blanks nothing').toBe('to core');
    expect((await site.devices())[0]?.interface_count).toBe(2);
    await walked(site, [port(1, 'a'), port(2, 'b', { ifAlias: '' }), port(3, 'c')]);
    expect((await ports(site)).map(({ gone_at, alias }) => [gone_at, alias])).toEqual([
      [null, null],
      [null, null],
      [null, null],
    ]);
    expect(kinds(site)).toEqual(['device.new', 'interface.removed', 'interface.changed', 'interface.added']);
  });

  it('gives a port the VLAN in which it is untagged, whichever of the two tables came last', async () => {
    const site = await openSite(db);
    const vlans = async () =>
      (
        await db.query<{ vlan: number | null }>(
          'SELECT vlan FROM interfaces WHERE site_id = $1::uuid AND gone_at IS NULL ORDER BY if_index',
          [site.siteId],
        )
      ).map(({ vlan }) => vlan);
    await walked(site, [port(1, 'a'), port(2, 'b'), port(3, 'trunk')]);
    const table = [
      { vlan: 10, egress: [1, 3], untagged: [1, 3] },
      { vlan: 20, egress: [2, 3], untagged: [2, 3] },
      { vlan: 30, name: 'without ports' },
    ];
    await walked(site, table, {}, 'vlans');
    expect(await vlans(), 'untagged in two is in neither').toEqual([10, 20, null]);
    await walked(site, [port(1, 'b'), port(2, 'a'), port(3, 'trunk')]);
    expect(await vlans(), 'the table speaks of indexes, not of names').toEqual([10, 20, null]);
    await walked(site, [{ vlan: 20, untagged: [1] }], {}, 'vlans');
    expect(await vlans(), 'no longer untagged anywhere').toEqual([20, null, null]);
  });

  it('lets ids follow names when indexes shift or are swapped', async () => {
    const site = await openSite(db);
    await walked(site, [port(1, 'a'), port(2, 'b'), port(3, 'c')]);
    const idOf = Object.fromEntries((await ports(site)).map((row) => [row.name, row.id]));
    await walked(site, [port(1, 'new'), port(2, 'a'), port(3, 'b'), port(4, 'c')]);
    const shifted = Object.fromEntries((await ports(site)).map((row) => [row.name, row.id]));
    expect(shifted).toMatchObject(idOf);
    await walked(site, [port(1, 'c'), port(2, 'b'), port(3, 'a'), port(4, 'new')]);
    const swapped = await ports(site);
    expect(swapped.map(({ name }) => name)).toEqual(['c', 'b', 'a', 'new']);
    expect(Object.fromEntries(swapped.map((row) => [row.name, row.id]))).toEqual(shifted);
  });

  it('gives the index of a gone interface to the one that has it now', async () => {
    const site = await openSite(db);
    await walked(site, [port(1, 'a'), port(2, 'b')]);
    await walked(site, [port(1, 'a')]);
    await walked(site, [port(1, 'a'), port(2, 'z')]);
    expect(await ports(site)).toMatchObject([{ name: 'a' }, { name: 'z', gone_at: null }]);
  });

  it('joins the parts of a table over batches, and takes a lost part for an incomplete table', async () => {
    const site = await openSite(db);
    const rows = Array.from({ length: 30 }, (_, i) => port(i + 1, `p${i + 1}`));
    const first = asked(box, '10.0.0.1');
    await site.send([
      first,
      table(first, 'interfaces', rows.slice(0, 10), { last: false, complete: undefined }),
    ]);
    expect(await ports(site)).toEqual([]);
    await site.send([
      table(first, 'interfaces', rows.slice(10, 20), { part: 1, last: false, complete: undefined }),
    ]);
    await site.send([table(first, 'interfaces', rows.slice(20), { part: 2 })]);
    expect(await ports(site)).toHaveLength(30);
    const waiting = () => db.query('SELECT part FROM walk_parts WHERE site_id = $1::uuid', [site.siteId]);
    expect(await waiting()).toEqual([]);
    const second = asked(box, '10.0.0.1');
    await site.send([second, table(second, 'interfaces', rows.slice(20), { part: 2 })]);
    expect((await ports(site)).filter(({ gone_at }) => gone_at !== null)).toEqual([]);
    const brokenOff = asked(box, '10.0.0.1');
    await site.send([
      brokenOff,
      table(brokenOff, 'interfaces', rows.slice(0, 10), { last: false, complete: undefined }),
    ]);
    expect(await waiting()).toEqual([{ part: 0 }]);
    await walked(site, rows);
    expect(await waiting(), 'parts of a walk that never ended').toEqual([]);
  });

  it('does not mix in the rows of a walk that a newer one replaced', async () => {
    const site = await openSite(db);
    const old = asked(box, '10.0.0.1');
    const newer = asked(box, '10.0.0.1');
    await site.send([old]);
    await site.send([newer, table(newer, 'interfaces', [port(1, 'a')])]);
    await site.send([table(old, 'interfaces', [port(1, 'a'), port(2, 'ghost')])]);
    expect((await ports(site)).map(({ name }) => name)).toEqual(['a']);
  });

  it('keeps an address while the device answers there, and drops one that it no longer lists', async () => {
    const site = await openSite(db);
    const list = (...addresses: string[]) =>
      addresses.map((address) => ({ address, prefixLength: 24, ifIndex: 1 }));
    await walked(site, list('10.0.0.1', '10.0.1.1', '010.1.1.1', '0.0.0.0'), {}, 'addresses');
    await walked(site, list('10.0.2.1'), {}, 'addresses');
    const rows = await db.query(
      'SELECT host(address) AS address, origin FROM device_addresses WHERE site_id = $1::uuid ORDER BY 1',
      [site.siteId],
    );
    expect(rows).toEqual([
      { address: '10.0.0.1', origin: 'reached' },
      { address: '10.0.2.1', origin: 'table' },
    ]);
  });

  it('tells which addresses, parts and VLANs went and came, and of a port that is in another VLAN', async () => {
    const site = await openSite(db);
    const told = () =>
      site.changes
        .splice(0)
        .filter(({ kind }) => kind !== 'device.new')
        .map((change) => ('before' in change ? [change.kind, change.before, change.after] : change));
    const addresses = (...of: string[]) =>
      walked(
        site,
        of.map((address) => ({ address, prefixLength: 24, ifIndex: 1 })),
        {},
        'addresses',
      );
    await addresses('10.0.0.1', '10.0.1.1');
    expect(told(), 'what is read first is no change').toEqual([]);
    await addresses('10.0.0.1', '10.0.2.1');
    expect(told()).toEqual([['device.addresses', { addresses: ['10.0.1.1'] }, { addresses: ['10.0.2.1'] }]]);

    const part = (index: number, serial: string, more = {}) => ({
      index,
      class: 'module',
      name: 'line card',
      serial,
      ...more,
    });
    const sensor = { index: 90, class: 'sensor', name: 'temperature' };
    const of = (index: number, serialNumber: string) => ({
      ...{ index, serialNumber, class: 'module', name: 'line card', model: null, firmwareRevision: null },
    });
    await walked(site, [part(1, 'A'), part(2, 'B'), sensor], {}, 'entities');
    await walked(site, [part(7, 'A'), part(8, 'C')], {}, 'entities');
    expect(told(), 'by what they are: indexes shift').toEqual([
      ['device.hardware', { parts: [of(2, 'B')] }, { parts: [of(8, 'C')] }],
    ]);

    await walked(site, [port(1, 'a'), port(2, 'b')]);
    const vlans = (...rows: unknown[]) => walked(site, rows, {}, 'vlans');
    await vlans({ vlan: 10, name: 'staff', untagged: [1, 2] }, { vlan: 20, name: 'guests' });
    told();
    await vlans({ vlan: 10, name: 'staff', untagged: [1] }, { vlan: 30, name: 'voice', untagged: [2] });
    expect(told()).toEqual([
      ['device.vlans', { vlans: [{ vlan: 20, name: 'guests' }] }, { vlans: [{ vlan: 30, name: 'voice' }] }],
      ['interface.changed', { vlan: 10 }, { vlan: 30 }],
    ]);
  });

  it('tells the VLANs of a trunk, its aggregate, MTU and description; what was not read before is no change', async () => {
    const site = await openSite(db);
    const told = () =>
      site.changes
        .splice(0)
        .flatMap(({ kind, ...change }) =>
          kind === 'device.new' ? [] : [[kind, 'ifName' in change && change.ifName, ...sides(change)]],
        );
    const sides = (change: object) =>
      'before' in change && 'after' in change ? [change.before, change.after] : [];
    const ports = (more: Record<string, unknown>, po1 = 9) =>
      walked(site, [port(1, 'a', more), port(2, 'b', { aggregate: null }), port(po1, 'Po1')]);
    const vlans = (...rows: [vlan: number, egress: number[], untagged?: number[]][]) =>
      walked(
        site,
        rows.map(([vlan, egress, untagged = []]) => ({ vlan, egress, untagged })),
        {},
        'vlans',
      );
    await ports({ mtu: 1500 });
    await vlans([10, [1, 2], [2]], [20, [1]]);
    await ports({ mtu: 1500, aggregate: null });
    expect(told(), 'what is read first').toEqual([]);
    await ports({ mtu: 9000, aggregate: { ifIndex: 9, active: true }, ifDescr: 'port 1' });
    expect(told()).toEqual([
      [
        ...['interface.changed', 'a'],
        { mtu: 1500, description: 'port a', aggregate: null },
        { mtu: 9000, description: 'port 1', aggregate: 'Po1' },
      ],
    ]);
    await ports({ aggregate: { ifIndex: 12, active: false }, ifDescr: 'port 1' }, 12);
    expect(told(), 'the same aggregate at another index').toEqual([]);
    await ports({ ifDescr: 'port 1' }, 12);
    expect(told(), 'not read this time').toEqual([]);
    await ports({ aggregate: null, ifDescr: 'port 1' }, 12);
    expect(told()).toEqual([['interface.changed', 'a', { aggregate: 'Po1' }, { aggregate: null }]]);

    await vlans([10, [1, 2], [2]], [20, [2]], [30, [1]]);
    expect(told().sort()).toEqual([
      ['device.vlans', false, { vlans: [] }, { vlans: [{ vlan: 30, name: null }] }],
      ['interface.changed', 'a', { taggedVlans: [20] }, { taggedVlans: [30] }],
      ['interface.changed', 'b', { taggedVlans: [] }, { taggedVlans: [20] }],
    ]);
    const half = [{ vlan: 10, egress: [2], untagged: [2] }];
    await walked(site, half, { complete: false }, 'vlans');
    expect(told(), 'a table that was not read to its end').toEqual([]);
    await vlans([10, [1, 2], [1, 2]], [20, [2]], [30, [1]]);
    expect(told(), 'untagged where it was tagged: no VLAN of it was known before').toEqual([
      ['interface.changed', 'a', { taggedVlans: [10] }, { taggedVlans: [] }],
    ]);
    const rows = await db.query(
      'SELECT vlan, tagged_vlans AS tagged FROM interfaces WHERE site_id = $1::uuid ORDER BY name',
      [site.siteId],
    );
    expect(rows).toEqual([
      { vlan: null, tagged: [] },
      { vlan: 10, tagged: [30] },
      { vlan: 10, tagged: [20] },
    ]);
  });

  it('tells which neighbour left a port and which came', async () => {
    const site = await openSite(db);
    const far = (chassisId: string, sysName: string) => ({
      protocol: 'lldp',
      ifIndex: 1,
      localPort: 'a',
      chassisId,
      portId: 'ifName:Gi0/1',
      sysName,
      addresses: ['10.0.0.9'],
    });
    await walked(site, [far('macAddress:00:00:00:00:00:01', 'old')], {}, 'neighbours');
    await walked(site, [far('macAddress:00:00:00:00:00:02', 'new')], {}, 'neighbours');
    expect(site.changes.slice(1)).toMatchObject([
      { kind: 'neighbour.changed', ifName: 'a', before: { sysName: 'old' }, after: { sysName: 'new' } },
    ]);
    const rows = await db.query('SELECT sys_name FROM neighbours WHERE site_id = $1::uuid', [site.siteId]);
    expect(rows).toEqual([{ sys_name: 'new' }]);
  });

  it('keeps forwarding tables part by part, and shortens them only after a complete walk', async () => {
    const site = await openSite(db);
    const entry = (n: number) => ({ mac: `00:00:00:00:01:0${n}`, bridgePort: n });
    const facts = () =>
      db.query(
        `SELECT "group", data FROM device_facts WHERE site_id = $1::uuid AND "group" LIKE 'fdb%' ORDER BY 1`,
        [site.siteId],
      );
    const walk = asked(box, '10.0.0.1');
    await site.send([
      walk,
      table(walk, 'fdb', [entry(1), entry(2)], { last: false, complete: undefined }),
      table(walk, 'fdb', [entry(3)], { part: 1 }),
    ]);
    expect(await facts()).toHaveLength(2);
    await walked(site, [entry(4)], { complete: false }, 'fdb');
    expect((await facts())[0]?.data).toEqual([entry(4), entry(1), entry(2)]);
    await walked(site, [entry(4)], {}, 'fdb');
    expect(await facts()).toMatchObject([{ group: 'fdb', data: [entry(4)] }]);
  });

  it('keeps one row of an address in a table that is never read to its end, with the name told last', async () => {
    const site = await openSite(db);
    const [first, second] = ['00:00:00:00:01:01', '00:00:00:00:01:02'].map((mac, n) => ({
      ...{ ifIndex: 1, address: `10.0.0.${n + 7}`, mac },
    }));
    const tell = (rows: unknown[]) => walked(site, rows, { complete: false }, 'arp');
    await tell([{ ...first, name: 'printer.example.net' }, second]);
    await tell([{ ...first, name: 'laptop.example.net' }]);
    await tell([{ ...first, name: 'laptop.example.net' }]);
    const facts = await db.query(
      `SELECT data FROM device_facts WHERE site_id = $1::uuid AND "group" = 'arp'`,
      [site.siteId],
    );
    expect(facts).toEqual([{ data: [{ ...first, name: 'laptop.example.net' }, second] }]);
  });

  it('blanks nothing when a walk reads less than the one before', async () => {
    const site = await openSite(db);
    const full = asked({ ...box, engineId: '800000090300001b54000001' }, '10.0.0.1', {
      vendor: { '1.3.6.1.4.1.9.1.0': 'x' },
    });
    await site.send([full]);
    await site.send([{ ...asked({}, '10.0.0.1'), system: {}, chassis: [], macs: [] }]);
    const [device] = await site.devices();
    expect(device).toMatchObject({ name: 'sw1', serial_number: 'FCW1929B68S', sys_descr: 'a box' });
    expect(kinds(site)).toEqual(['device.new']);
  });

  it('writes nothing but the sight when the world has not changed', async () => {
    const site = await openSite(db);
    const rows = [port(1, 'a'), port(2, 'b')];
    const list = [{ address: '10.0.0.1', prefixLength: 24, ifIndex: 1 }];
    const both = async (at: number) => {
      site.clock.set(at);
      const walk = asked({ ...box, sysUpTime: at / 10 - 1e6 }, '10.0.0.1', { at });
      await site.send([
        walk,
        table(walk, 'interfaces', rows, { at }),
        table(walk, 'addresses', list, { at }),
      ]);
    };
    await both(site.clock.now());
    const versions = () =>
      db.query(
        `SELECT 'i' AS t, xmin::text AS v FROM interfaces WHERE site_id = $1::uuid
         UNION ALL SELECT 'a', xmin::text FROM device_addresses WHERE site_id = $1::uuid
         UNION ALL SELECT 'e', xmin::text FROM evidence WHERE site_id = $1::uuid
         UNION ALL SELECT 'f', xmin::text FROM device_facts WHERE site_id = $1::uuid ORDER BY 1, 2`,
        [site.siteId],
      );
    const before = await versions();
    await both(site.clock.now() + 3600_000);
    expect(await versions()).toEqual(before);
    expect((await site.devices())[0]?.last_seen).toEqual(new Date(site.clock.now()));
  });
});
