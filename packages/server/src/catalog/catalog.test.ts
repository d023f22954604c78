import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../accounts/audit.ts';
import type { Database } from '../platform/db/db.ts';
import { compactTallies } from '../platform/db/tally.ts';
import type { Actor } from '../platform/http/handler.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import {
  addCollector,
  addDevices,
  addSite,
  addUser,
  asCaller,
  caller,
  insert,
  SEEN,
} from '../testing/rows.ts';
import type { EventActions } from './edit.ts';
import { catalogHandlers, type IdentityActions } from './feature.ts';

afterAll(closeDatabases);

const clock = new ManualClock(Date.parse('2026-11-20T11:00:00Z'));

describe.each(databases())('inventory on %s', (_name, open) => {
  let db: Database;
  let north: string;
  let south: string;
  let collector: string;
  const ids: Record<string, string> = {};
  const told: string[] = [];
  const events: EventActions = {
    onMonitoringStopped: async (_sql, { deviceIds }) => {
      told.push(`unwatched ${deviceIds.length}`);
    },
    onDevicesDeleted: async (_sql, { deviceIds }, by) => {
      told.push(`forgotten ${deviceIds.length} by ${by}`);
    },
  };
  const identity: IdentityActions = {
    merge: async (_by, deviceId) => deviceId,
    split: async () => [],
    find: async () => new Map(),
    findOrAdd: async () => new Map(),
    reclassify: async (_site, id) => {
      told.push(`reclassify ${id}`);
    },
    strengthOf: (kind) => (kind === 'serial' ? 'strong' : 'supporting'),
  };
  const as = (actor: Actor = caller()) =>
    asCaller(catalogHandlers({ db, clock, identity, events, audit, makerOf: () => 'Cisco Systems' }), actor);
  const names = async (query: Record<string, string>, actor?: Actor) =>
    (await as(actor)('devices.list', { query })).data.map((device: { name: string }) => device.name);

  beforeAll(async () => {
    db = await open();
    north = await addSite(db, 'north');
    south = await addSite(db, 'south');
    collector = await addCollector(db, north, 'n-1');
    await addCollector(db, south, 'n-1');
    const drafts = [
      {
        site_id: north,
        name: 'core-1',
        address: '10.0.0.1',
        addresses: ['10.9.0.1', '2001:db8::1'],
        class: 'router',
        vendor: 'Cisco',
        model: 'ASR1001',
        serial_number: 'FOC1932X0KZ',
        location: 'Rack 4 (50%)',
        mac_address: '00:1b:21:3c:9d:f8',
        sys_descr: 'Cisco IOS Software\nbuild_7',
        sys_name: 'core-1.example.net',
        monitor: true,
        status: 'up',
        collector_id: collector,
        booted_at: '2026-11-20T10:59:00Z',
        icmp_reachable: true,
        rtt_ms: 0.5,
      },
      {
        site_id: north,
        name: 'edge-1',
        address: '10.0.1.1',
        class: 'switch',
        vendor: 'HP',
        monitor: true,
        status: 'down',
        booted_at: SEEN,
      },
      { site_id: north, name: 'edge-2', address: '10.0.1.20', class: 'switch', vendor: 'HP\\Aruba' },
      {
        site_id: south,
        name: 'core-1',
        address: '10.0.0.1',
        class: 'firewall',
        vendor: 'Juniper',
        collector_id: null,
      },
      { site_id: south, name: 'printer', address: '2001:db8::42', class: 'printer', location: 'ÄRZTEHAUS' },
      { site_id: south, name: 'stray', address: null },
    ];
    const keys = ['core', 'edge1', 'edge2', 'southCore', 'printer', 'stray'];
    (await addDevices(db, drafts)).forEach((id, i) => {
      ids[keys[i] ?? ''] = id;
    });
  });

  // What each filter keeps, and in which order, is the matter of lists.test.ts; here what its values may look like.
  it.each<[Record<string, string>, string[]]>([
    [{ search: 'CORE-1' }, ['core-1', 'core-1']],
    [{ search: 'ios SOFTWARE' }, ['core-1']],
    [{ search: 'x0kz' }, ['core-1']],
    [{ search: '3C:9D' }, ['core-1']],
    [{ search: '3C-9D' }, ['core-1']],
    [{ search: '3c9d' }, ['core-1']],
    [{ search: 'ärzte' }, ['printer']],
    [{ search: '50%' }, ['core-1']],
    [{ search: '%' }, ['core-1']],
    [{ search: 'build_7' }, ['core-1']],
    [{ search: 'buildx7' }, []],
    [{ search: '_' }, ['core-1']],
    [{ search: 'hp\\aruba' }, ['edge-2']],
    [{ search: '\\' }, ['edge-2']],
    [{ search: "' OR 1=1 --" }, []],
    [{ search: '(a+)+$' }, []],
    [{ Address: '10.0.1.7/24' }, ['edge-1', 'edge-2']],
    [{ Address: '10.0.1.1/32' }, ['edge-1']],
    [{ Address: '2001:DB8:0::1' }, ['core-1']],
    [{ Address: '::/0' }, ['core-1', 'printer']],
    [{ class: 'switch, printer' }, ['edge-1', 'edge-2', 'printer']],
    [{ pageSize: '2', page: '1000000000' }, []],
  ])('answers %j with %j', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('lists devices without a name behind those that have one, each in the order of numbers', async () => {
    const named = (names: string[]) =>
      db.query<{ name: string }>(
        `SELECT t.name FROM unnest($1::text[]) AS t(name)
         JOIN LATERAL (SELECT device_sort_key(t.name) AS key) k ON true ORDER BY k.key`,
        [names],
      );
    expect(
      (await named(['10.0.0.20', 'zoo', '2001:db8::7', '10.0.0.3', 'access-2'])).map(({ name }) => name),
    ).toEqual(['access-2', 'zoo', '10.0.0.3', '10.0.0.20', '2001:db8::7']);
  });

  it('finds a collector by id as by name', async () => {
    expect(await names({ collector })).toEqual(['core-1']);
    for (const [none, message] of [
      [uuidv7(), 'collector: there is no such collector'],
      ['N-1', 'collector: there is no such collector, did you mean n-1?'],
    ] as const)
      await expect(names({ collector: none })).rejects.toMatchObject({ code: 'invalid_request', message });
  });

  it('refuses what lies at a site that the caller does not see', async () => {
    const southern = caller('viewer', [south]);
    // Nor does the answer tell that there is one elsewhere.
    await expect(names({ collector }, southern)).rejects.toMatchObject({
      message: 'collector: there is no such collector',
    });
    await expect(as(southern)('devices.list', { query: { site: north } })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('refuses an address that is none, and says why', async () => {
    for (const Address of ['10.0.0', '10.0.0.256', '10.0.0.0/33', 'core-1', '10.0.0.1/', 'fe80::1%eth0'])
      await expect(names({ Address })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('tells a device in the form of the document', async () => {
    const { data } = await as()('devices.get', { params: { id: ids.core ?? '' } });
    expect(data).toMatchObject({
      id: ids.core,
      siteId: north,
      site: 'north',
      collectorId: collector,
      collector: 'n-1',
      address: '10.0.0.1',
      addresses: ['10.0.0.1', '10.9.0.1', '2001:db8::1'],
      uptimeSeconds: 60,
      monitor: 1,
      status: 'up',
      reachable: { icmp: true, snmp: null },
      rttMs: 0.5,
      openEvents: 0,
      firstSeen: Date.parse(SEEN) / 1000,
      neighbours: [],
      links: [],
      entities: [],
      openCases: [],
    });
    const down = await as()('devices.get', { params: { id: ids.edge1 ?? '' } });
    expect(down.data.uptimeSeconds).toBeNull();
  });

  it('answers 404 for a device that does not exist or is not visible, alike', async () => {
    const southern = as(caller('admin', [south]));
    for (const [id, options] of [
      ['devices.get', {}],
      ['devices.update', { body: { monitor: 1 } }],
      ['devices.delete', {}],
      ['devices.merge', { body: { deviceId: ids.southCore } }],
      ['devices.split', { body: { addresses: ['10.9.0.1'] } }],
      ['devices.history', {}],
      ['devices.explain', {}],
    ] as const) {
      for (const device of [ids.core ?? '', uuidv7()])
        await expect(southern(id, { params: { id: device }, ...options })).rejects.toMatchObject({
          code: 'not_found',
          message: 'no such device',
        });
    }
    // A record that was merged leads on to its receiver, for who may see that.
    const merged = uuidv7();
    await insert(db, 'merged_devices', [{ site_id: north, id: merged, into_id: ids.core }]);
    const old = { params: { id: merged } };
    await expect(as()('devices.get', old)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^this device was merged into core/),
      details: [{ path: 'mergedInto', message: ids.core }],
    });
    await expect(southern('devices.get', old)).rejects.toMatchObject({ message: 'no such device' });
    // One allowed, one not: refused as a whole.
    await expect(
      southern('devices.merge', { params: { id: ids.southCore ?? '' }, body: { deviceId: ids.core } }),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect(await names({})).toHaveLength(6);
  });

  it('tells of a monitored device that is up that it answered until its collector was heard of last', async () => {
    const id = ids.core ?? '';
    const heard = '2026-11-21T12:00:00Z';
    const lastSeen = async (status: string, monitor: boolean) => {
      await db.query('UPDATE devices SET status = $2, monitor = $3 WHERE id = $1', [id, status, monitor]);
      return (await as()('devices.get', { params: { id } })).data.lastSeen;
    };
    const [was] = await db.query<{ status: string; monitor: boolean }>(
      'SELECT status, monitor FROM devices WHERE id = $1',
      [id],
    );
    await db.query('UPDATE collectors SET last_seen_at = $2 WHERE id = $1', [collector, heard]);
    const before = await lastSeen('up', false);
    expect(await lastSeen('up', true)).toBe(Date.parse(heard) / 1000);
    expect((await as()('devices.list', { query: { ids: [id] } })).data).toMatchObject([
      { id, lastSeen: Date.parse(heard) / 1000 },
    ]);
    expect(await lastSeen('down', true)).toBe(before);
    await lastSeen(was?.status ?? '', was?.monitor ?? false);
  });

  it('tells interfaces with type name, neighbour and addresses', async () => {
    const [gi1, gi2, gone, far] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const common = { site_id: north, first_seen: SEEN, last_seen: SEEN };
    await insert(db, 'interfaces', [
      {
        ...common,
        id: gi2,
        device_id: ids.core,
        if_index: 2,
        name: 'Gi2',
        type: 135,
        admin_status: 2,
        oper_status: 7,
      },
      {
        ...common,
        id: gi1,
        device_id: ids.core,
        if_index: 1,
        name: 'Gi1',
        type: 6,
        speed_bps: 400_000_000_000,
        mtu: 1500,
        admin_status: 1,
        oper_status: 1,
        last_change: SEEN,
        vlan: 7,
      },
      { ...common, id: gone, device_id: ids.core, if_index: 3, name: 'Gi3', gone_at: SEEN },
      { ...common, id: far, device_id: ids.edge1, if_index: 48, name: 'port 48', oper_status: 1, type: 9999 },
    ]);
    await db.query('UPDATE device_addresses SET if_index = 1 WHERE device_id = $1 AND address = $2', [
      ids.core,
      '10.9.0.1',
    ]);
    await insert(db, 'neighbours', [
      {
        ...common,
        device_id: ids.core,
        protocol: 'cdp',
        key: 'a',
        if_index: 1,
        port_id: 'x',
        sys_name: 'stranger',
        addresses: [],
      },
      {
        ...common,
        device_id: ids.core,
        protocol: 'lldp',
        key: 'b',
        if_index: 1,
        port_id: '48',
        sys_name: 'edge',
        capabilities: ['bridge'],
        remote_device_id: ids.edge1,
        remote_if_index: 48,
        addresses: ['10.0.1.1'],
      },
      {
        ...common,
        device_id: ids.edge1,
        protocol: 'lldp',
        key: 'c',
        if_index: 48,
        sys_name: 'core-1',
        remote_device_id: ids.core,
        remote_if_index: 1,
        addresses: [],
      },
    ]);
    const learnt = (mac: string, more = {}) => ({
      ...{
        site_id: north,
        device_id: ids.core,
        mac,
        if_index: 2,
        vlan: 10,
        address: '',
        since: SEEN,
        ...more,
      },
    });
    const macs = [1, 2, 3, 4].map((n) => `00:1b:54:00:00:0${n}`);
    await insert(db, 'endpoints', [
      ...macs.map((mac) => learnt(mac)),
      learnt(macs[0] ?? '', { vlan: 20 }),
      learnt('00:1b:54:00:00:00', { until: SEEN }),
      learnt(macs[1] ?? '', { device_id: ids.edge1, if_index: 9, vlan: 0, address: '10.0.1.77' }),
    ]);
    await insert(db, 'evidence', [
      { ...common, kind: 'chassis-mac', value: macs[0] ?? '', device_id: ids.edge1 },
    ]);
    const { data, totalCount } = await as()('interfaces.list', { query: { deviceId: ids.core ?? '' } });
    expect(totalCount).toBe(2);
    expect(data[0]).toEqual({
      id: gi1,
      deviceId: ids.core,
      duplex: null,
      ifIndex: 1,
      name: 'Gi1',
      description: null,
      alias: null,
      type: 'ethernetCsmacd',
      speedBps: 400_000_000_000,
      mtu: 1500,
      macAddress: null,
      adminStatus: 'up',
      operStatus: 'up',
      lastChange: Date.parse(SEEN) / 1000,
      addresses: ['10.9.0.1'],
      vlan: 7,
      taggedVlans: [],
      isPort: 1,
      lastUsed: Date.parse(SEEN) / 1000,
      unusedSince: null,
      stp: null,
      aggregate: null,
      neighbour: { deviceId: ids.edge1, name: 'edge-1', port: 'port 48', protocol: 'lldp', kind: 'switch' },
      endpoints: { count: 0, shown: [] },
      ...{ tags: [], note: '', fields: {} },
      firstSeen: Date.parse(SEEN) / 1000,
      lastSeen: Date.parse(SEEN) / 1000,
    });
    expect(data[1]).toMatchObject({
      type: 'l2vlan',
      adminStatus: 'down',
      operStatus: 'lowerLayerDown',
      neighbour: null,
      endpoints: {
        count: 4,
        shown: [
          { mac: macs[0], deviceId: ids.edge1, name: 'edge-1', address: null, maker: 'Cisco Systems' },
          { mac: macs[1], deviceId: null, name: null, address: '10.0.1.77', maker: 'Cisco Systems' },
          { mac: macs[2], deviceId: null, name: null, address: null, maker: 'Cisco Systems' },
        ],
      },
    });
    const other = await as()('interfaces.list', { query: { deviceId: ids.edge1 ?? '' } });
    expect(other.data[0]).toMatchObject({ type: '9999', operStatus: 'up', adminStatus: null });
    const past = await as()('interfaces.list', { query: { deviceId: ids.core ?? '', page: '4' } });
    expect([past.data, past.totalCount]).toEqual([[], 2]);
    const none = await as()('interfaces.list', { query: { deviceId: ids.stray ?? '' } });
    expect([none.data, none.totalCount]).toEqual([[], 0]);
    for (const deviceId of [uuidv7(), 'nonsense'])
      await expect(as()('interfaces.list', { query: { deviceId } })).rejects.toMatchObject({
        code: 'not_found',
      });
    await expect(
      as(caller('viewer', [south]))('interfaces.list', { query: { deviceId: ids.core ?? '' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
    await expect(as()('interfaces.list')).rejects.toThrow();
  });

  it('draws a link once, whichever end told it, and names strangers', async () => {
    const { data } = await as()('topology.get');
    expect(data.nodes).toHaveLength(6);
    expect(data.links).toHaveLength(1);
    const ends = [data.links[0].a, data.links[0].b].map((end: { deviceId: string; port: string }) => [
      end.deviceId,
      end.port,
    ]);
    expect(new Map(ends as [string, string][])).toEqual(
      new Map([
        [ids.core, 'Gi1'],
        [ids.edge1, 'port 48'],
      ]),
    );
    expect(data.links[0]).toMatchObject({ protocols: ['lldp'], status: 'up', speedBps: 400_000_000_000 });
    expect(data.strangers).toMatchObject([{ name: 'stranger', port: 'x', protocol: 'cdp' }]);
    const southern = await as(caller('viewer', [south]))('topology.get');
    expect([southern.data.nodes.length, southern.data.links, southern.data.strangers]).toEqual([3, [], []]);
  });

  it('tells neighbours and hardware with the single device', async () => {
    await insert(db, 'entities', [
      {
        site_id: north,
        device_id: ids.core,
        index: 1,
        class: 'chassis',
        serial: 'FOC1932X0KZ',
        fru: true,
        first_seen: SEEN,
        last_seen: SEEN,
      },
    ]);
    const { data } = await as()('devices.get', { params: { id: ids.core ?? '' } });
    expect(data.neighbours).toMatchObject([
      { protocol: 'cdp', deviceId: null, name: 'stranger', localPort: 'Gi1', port: 'x' },
      { protocol: 'lldp', deviceId: ids.edge1, name: 'edge-1', port: 'port 48', addresses: ['10.0.1.1'] },
    ]);
    const cable = { protocols: ['lldp'], status: 'up' };
    expect(data.links).toMatchObject([
      { ...cable, port: 'Gi1', deviceId: ids.edge1, name: 'edge-1', farPort: 'port 48' },
    ]);
    const far = await as()('devices.get', { params: { id: ids.edge1 ?? '' } });
    expect(far.data.links).toMatchObject([
      { ...cable, port: 'port 48', deviceId: ids.core, name: 'core-1', farPort: 'Gi1' },
    ]);
    expect(data.entities).toMatchObject([
      { index: 1, class: 'chassis', serialNumber: 'FOC1932X0KZ', replaceable: true },
    ]);
  });

  it('explains by evidence, decisions and rules', async () => {
    const user = await addUser(db, 'grace');
    await insert(db, 'evidence', [
      {
        site_id: north,
        kind: 'serial',
        value: '9:FOC1932X0KZ',
        device_id: ids.core,
        first_seen: SEEN,
        last_seen: SEEN,
      },
      {
        site_id: north,
        kind: 'sys-name',
        value: 'core-1',
        device_id: ids.core,
        first_seen: SEEN,
        last_seen: SEEN,
      },
    ]);
    await insert(db, 'identity_decisions', [
      {
        id: uuidv7(),
        site_id: north,
        verb: 'merge',
        device_id: ids.core,
        other_id: ids.edge2,
        user_id: user,
        at: SEEN,
        evidence: [{ kind: 'serial', value: 'x' }],
      },
    ]);
    await db.query(`UPDATE devices SET classified_by = '{"vendor":"enterprise-9"}' WHERE id = $1`, [
      ids.core,
    ]);
    const { data } = await as()('devices.explain', { params: { id: ids.core ?? '' } });
    expect(data).toMatchObject({
      evidence: [
        { kind: 'serial', strength: 'strong' },
        { kind: 'sys-name', strength: 'supporting' },
      ],
      decisions: [
        {
          verb: 'merge',
          otherId: ids.edge2,
          other: 'edge-2',
          by: 'grace',
          undoneAt: null,
          evidence: [{ kind: 'serial', value: 'x' }],
        },
      ],
      classification: { vendor: 'enterprise-9' },
      overrides: { name: null, class: null },
    });
  });

  it('lets the watch begin anew where monitor is set anew, and only there', async () => {
    const id = ids.core ?? '';
    const spoken = async () => {
      const [row] = await db.query<{ at: Date | null }>(
        'SELECT watched_at AS at FROM sightings WHERE device_id = $1::uuid',
        [id],
      );
      return row?.at !== null;
    };
    const before = await db.query<{ id: string }>('SELECT id FROM devices WHERE monitor');
    const speak = () => db.query('UPDATE sightings SET watched_at = now() WHERE device_id = $1::uuid', [id]);
    const set = (monitor: 0 | 1) => as()('devices.update', { params: { id }, body: { monitor } });
    const bulk = (monitor: 0 | 1) =>
      as()('devices.bulk', { body: { filter: { Address: '10.0.0.0/8' }, set: { monitor } } });
    await set(1);
    for (const change of [set, bulk]) {
      await speak();
      await change(1);
      expect(await spoken()).toBe(true);
      await change(0);
      expect(await spoken()).toBe(false);
      await change(1);
    }
    await db.query('UPDATE devices SET monitor = id = ANY($1::uuid[])', [before.map((row) => row.id)]);
  });

  it('takes overrides and gives them back', async () => {
    told.length = 0;
    const params = { id: ids.core ?? '' };
    const named = await as()('devices.update', {
      params,
      body: { name: 'Kern 1', class: 'switch', monitor: 0 },
    });
    expect(named.data).toMatchObject({ name: 'Kern 1', class: 'switch', monitor: 0 });
    expect(await names({ search: 'kern 1' })).toEqual(['Kern 1']);
    expect(told).toEqual(['unwatched 1']);
    const back = await as()('devices.update', { params, body: { name: null, class: null } });
    expect(back.data.name).toBe('core-1.example.net');
    expect(told).toEqual(['unwatched 1', `reclassify ${ids.core}`]);
    await as()('devices.update', { params, body: { name: 'core-1', class: 'router', monitor: 1 } });
    await expect(as()('devices.update', { params, body: {} })).rejects.toThrow();
    await expect(as()('devices.update', { params, body: { siteId: south } })).rejects.toThrow();
  });

  it('changes by filter exactly what the list shows', async () => {
    told.length = 0;
    const bulk = (body: unknown, actor?: Actor) => as(actor)('devices.bulk', { body });
    const southern = caller('operator', [south]);
    expect((await bulk({ filter: {}, set: { monitor: 1 } }, southern)).data).toEqual({
      matched: 3,
      changed: 3,
    });
    expect(await names({ monitor: '1' })).toEqual(['core-1', 'core-1', 'edge-1', 'printer', 'stray']);
    expect((await bulk({ filter: { Address: '10.0.0.0/8' }, set: { monitor: 1 } })).data).toEqual({
      matched: 4,
      changed: 1,
    });
    await expect(bulk({ filter: { monitor: 1 }, set: { monitor: 0 }, expect: 1 })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(told).toEqual([]);
    expect((await bulk({ filter: { monitor: 1 }, set: { monitor: 0 }, expect: 6 })).data).toEqual({
      matched: 6,
      changed: 6,
    });
    expect(told).toEqual(['unwatched 3', 'unwatched 3']);
    expect((await as()('devices.list', { query: { monitor: '1' } })).totalCount).toBe(0);
    // What changed nothing is not in the audit log.
    const noted = async () => db.query(`SELECT subject FROM audit WHERE action = 'device.bulk' ORDER BY id`);
    const before = await noted();
    expect(before.slice(-3)).toEqual(['3 devices', '1 device', '6 devices'].map((subject) => ({ subject })));
    expect((await bulk({ filter: {}, set: { monitor: 0 } })).data).toEqual({ matched: 6, changed: 0 });
    expect(await noted()).toEqual(before);
    await expect(bulk({ filter: { site: north }, set: { monitor: 1 } }, southern)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('changes nothing by filter that cannot be written down', async () => {
    const full = asCaller(
      catalogHandlers({
        ...{ db, clock, identity, events, makerOf: () => null },
        audit: () => Promise.reject(new Error('the disk is full')),
      }),
      caller(),
    );
    await expect(full('devices.bulk', { body: { filter: {}, set: { monitor: 1 } } })).rejects.toThrow('full');
    expect((await as()('devices.list', { query: { monitor: '1' } })).totalCount).toBe(0);
  });

  it('keeps counts exact through changes, compaction and deletion', async () => {
    const counted = async () => (await as()('devices.list')).totalCount;
    expect(await compactTallies(db)).toBeGreaterThan(0);
    expect(await compactTallies(db)).toBe(0);
    expect(await counted()).toBe(6);
    told.length = 0;
    await as()('devices.delete', { params: { id: ids.stray ?? '' } });
    expect(told).toEqual(['forgotten 1 by ada']);
    const noted = await db.query<{ action: string; subject: string; site: string | null; detail: object }>(
      'SELECT action, subject, site_id AS site, detail FROM audit ORDER BY id',
    );
    expect(new Set(noted.map(({ action }) => action))).toEqual(
      new Set(['device.update', 'device.bulk', 'device.delete']),
    );
    expect(noted.at(-1)).toMatchObject({ subject: 'device stray', site: south, detail: { id: ids.stray } });
    expect(await counted()).toBe(5);
    await compactTallies(db);
    expect(await counted()).toBe(5);
    expect(await names({})).not.toContain('stray');
    expect(await db.query('SELECT * FROM device_tally WHERE n = 0')).toEqual([]);
  });
});
