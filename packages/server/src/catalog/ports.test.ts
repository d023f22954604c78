import type { NetworkInterface } from '@rollcall/shared/api/interfaces';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, describe, expect, it } from 'vitest';
import { audit } from '../accounts/audit.ts';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from '../testing/rows.ts';
import { catalogHandlers } from './feature.ts';

afterAll(closeDatabases);

const NOW = Date.parse('2026-11-20T11:00:00Z');
const calling = (db: Database) =>
  asCaller(
    catalogHandlers({
      ...{ db, audit, clock: new ManualClock(NOW), makerOf: () => null },
      identity: {
        ...{ merge: async (_by, id) => id, split: async () => [], reclassify: async () => undefined },
        ...{ strengthOf: () => 'strong', find: async () => new Map(), findOrAdd: async () => new Map() },
      },
      events: { onMonitoringStopped: async () => undefined, onDevicesDeleted: async () => undefined },
    }),
    caller(),
  );

describe.each(databases())('ports on %s', (_name, open) => {
  it('tells which ports are free, since when, and the VLANs of each', async () => {
    const db = await open();
    const north = await addSite(db, 'north');
    const call = calling(db);
    const [sw = ''] = await addDevices(db, [{ site_id: north, name: 'ports', address: '10.0.7.1' }]);
    const days = (n: number) => new Date(NOW - n * 86_400_000).toISOString();
    const port = (if_index: number, more: object) => ({
      ...{ site_id: north, id: uuidv7(), device_id: sw, if_index, name: `Gi${if_index}`, type: 6 },
      ...{ oper_status: 2, first_seen: days(200), last_seen: days(0), last_up_at: null, last_change: null },
      ...more,
    });
    await insert(db, 'interfaces', [
      port(1, {
        ...{ oper_status: 1, vlan: 10, tagged_vlans: [20], last_up_at: days(150) },
        ...{ stp: 'forwarding', aggregate: 6, aggregate_active: true },
      }),
      port(2, { tagged_vlans: [10], last_up_at: days(100), last_change: days(100) }),
      port(3, { last_up_at: days(5), last_change: days(5) }),
      // Its agent says that it changed last before it was known here.
      port(4, { first_seen: days(3), last_change: days(400) }),
      port(5, {}),
      port(6, { type: 135, last_up_at: days(120) }),
    ]);
    const list = async (query: Record<string, string>): Promise<NetworkInterface[]> =>
      (await call('interfaces.list', { query: { deviceId: sw, ...query } })).data;
    const free = await list({ unusedDays: '90', sort: 'unusedSince' });
    expect(free.map(({ name, lastUsed }) => [name, lastUsed !== null])).toEqual([
      ['Gi4', false],
      ['Gi5', false],
      ['Gi2', true],
    ]);
    const [first, second] = await list({});
    expect(first).toMatchObject({ vlan: 10, taggedVlans: [20], unusedSince: null, isPort: 1 });
    expect(first).toMatchObject({ stp: 'forwarding', aggregate: { name: 'Gi6', active: 1 } });
    expect((await list({}))[1]).toMatchObject({ stp: null, aggregate: null });
    expect(second).toMatchObject({
      vlan: null,
      taggedVlans: [10],
      unusedSince: Math.floor((NOW - 100 * 86_400_000) / 1000),
    });
    expect((await list({ unusedDays: '300' })).map(({ name }) => name)).toEqual(['Gi4']);
  });

  it('tells a device as it was at a second, and what of that is not known', async () => {
    const db = await open();
    const siteId = await addSite(db, 'then');
    const call = calling(db);
    const at = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();
    const unix = (hours: number) => String(Math.floor((NOW - hours * 3_600_000) / 1000));
    const [sw = ''] = await addDevices(db, [
      {
        site_id: siteId,
        name: 'sw',
        address: '10.0.7.2',
        os_version: '3',
        location: 'here',
        first_seen: at(100),
      },
    ]);
    const about = { site_id: siteId, device_id: sw };
    const [kept, added, removed] = [uuidv7(), uuidv7(), uuidv7()];
    const port = (id: string, if_index: number, name: string) => ({
      ...{
        ...about,
        id,
        if_index,
        name,
        type: 6,
        oper_status: 1,
        admin_status: 1,
        vlan: 20,
        tagged_vlans: [30, 40],
        mtu: 1500,
        description: 'port',
        first_seen: at(100),
        last_seen: at(0),
      },
      gone_at: id === removed ? at(5) : null,
    });
    await insert(db, 'interfaces', [port(kept, 1, 'a'), port(added, 2, 'b'), port(removed, 3, 'c')]);
    await insert(db, 'endpoints', [
      { ...about, mac: '00:1b:54:00:00:01', if_index: 1, vlan: 20, address: '', since: at(30), until: at(8) },
      { ...about, mac: '00:1b:54:00:00:02', if_index: 1, vlan: 20, address: '', since: at(7) },
    ]);
    const event = (
      hours: number,
      kind: string,
      before: object,
      after: object,
      interface_id: string | null = null,
    ) => {
      const id = uuidv7();
      return {
        ...{
          ...about,
          id,
          interface_id,
          kind,
          source: 'discovery',
          severity: 5,
          status: 2,
          message: kind,
          dedup_key: id,
        },
        ...{ details: { before, after }, first_seen: at(hours), timestamp: at(hours), closed_at: at(hours) },
        ...{ close_reason: 'noted' },
      };
    };
    await insert(db, 'events', [
      event(50, 'device.changed', { location: 'elsewhere' }, { location: 'there' }),
      event(9, 'device.changed', { location: 'there' }, { location: 'here' }),
      event(8, 'device.upgraded', { osVersion: '1' }, { osVersion: '2' }),
      event(6, 'device.upgraded', { osVersion: '2' }, { osVersion: '3' }),
      event(5, 'interface.removed', { name: 'c', ifIndex: 3, type: 6, vlan: 7 }, {}, removed),
      event(4, 'interface.added', {}, { name: 'b' }, added),
      event(3, 'interface.changed', { vlan: 10 }, { vlan: 20 }, kept),
      event(3, 'interface.changed', { taggedVlans: [50], mtu: 9000 }, { taggedVlans: [40], mtu: 1500 }, kept),
      event(2.5, 'interface.changed', { aggregate: 'Po1' }, { aggregate: null }, kept),
      event(3, 'interface.shut', { adminStatus: 2 }, { adminStatus: 1 }, kept),
      event(2, 'device.addresses', { addresses: ['10.0.8.8'] }, { addresses: ['10.0.7.2'] }),
      event(1, 'neighbour.changed', { port: 'a', chassisId: null, sysName: 'old', remotePort: '1' }, {}),
    ]);
    const then = async (hours: number): Promise<DeviceDetail> =>
      (await call('devices.get', { params: { id: sw }, query: { at: unix(hours) } })).data;
    expect(await then(7)).toMatchObject({
      ...{ location: 'here', osVersion: '2', status: 'unknown', addresses: ['10.0.8.8'], interfaceCount: 2 },
      asOf: {
        interfaces: [
          {
            name: 'a',
            vlan: 10,
            taggedVlans: [30, 50],
            mtu: 9000,
            aggregate: 'Po1',
            adminStatus: 'down',
            endpoints: 1,
          },
          { name: 'c', vlan: 7, endpoints: 0 },
        ],
        neighbours: [{ sysName: 'old' }],
      },
    });
    expect((await then(7)).asOf?.notKnown.map(({ what }) => what)).toContain('status');
    expect(await then(10)).toMatchObject({ location: 'there', osVersion: '1' });
    expect((await then(10)).asOf?.interfaces[0]?.endpoints).toBe(1);
    expect(await then(0)).toMatchObject({ location: 'here', osVersion: '3', addresses: ['10.0.7.2'] });
    // Older changes are deleted: that is said.
    expect((await then(70)).asOf?.notKnown).toContainEqual({
      what: 'changes',
      why: expect.stringMatching(/no longer kept/),
    });
    await expect(then(200)).rejects.toThrow(/first seen/);
    await expect(then(-1)).rejects.toThrow(/future/);
  });

  it('tells the VLAN, VRF and ARP tables of a device, with the names of ports', async () => {
    const db = await open();
    const siteId = await addSite(db, 'tables');
    const call = calling(db);
    const [sw = '', other = ''] = await addDevices(db, [
      { site_id: siteId, name: 'sw', address: '10.0.9.2' },
      { site_id: siteId, name: 'other', address: '10.0.9.3' },
    ]);
    const about = { site_id: siteId, device_id: sw };
    const gi1 = uuidv7();
    await insert(db, 'interfaces', [
      { ...about, id: gi1, if_index: 1, name: 'Gi1', first_seen: SEEN, last_seen: SEEN },
    ]);
    const facts = { ...about, hash: '', seen_at: SEEN };
    const mac = '00:1b:54:00:00:01';
    await insert(db, 'device_facts', [
      {
        ...facts,
        group: 'vlans',
        data: [{ vlan: 20, name: 'staff', egress: [1, 2], untagged: [1] }],
        complete: true,
      },
      { ...facts, group: 'vlans/1', data: [{ vlan: 10 }], complete: false },
      {
        ...{ ...facts, group: 'vrfs', complete: true },
        data: [
          {
            name: 'guests',
            addresses: [{ address: '10.9.0.1' }],
            arp: [{ ifIndex: 1, address: '10.9.0.7', mac }],
            more: 3,
          },
        ],
      },
    ]);
    const learnt = (address: string, more = {}) => ({
      ...about,
      mac,
      if_index: 1,
      vlan: 0,
      address,
      since: SEEN,
      ...more,
    });
    await insert(db, 'endpoints', [
      learnt('10.0.9.20'),
      learnt('10.0.9.3'),
      learnt(''),
      learnt('10.0.9.4', { until: SEEN }),
      learnt('10.0.9.5', { device_id: other }),
    ]);
    const seenAt = Date.parse(SEEN) / 1000;
    const port = { ifIndex: 1, interfaceId: gi1, port: 'Gi1' };
    const params = { id: sw };
    expect((await call('devices.vlans', { params })).data).toEqual({
      ...{ seenAt, complete: false },
      vlans: [
        { vlan: 10, name: null, untagged: [], tagged: [] },
        {
          vlan: 20,
          name: 'staff',
          untagged: [port],
          tagged: [{ ifIndex: 2, interfaceId: null, port: null }],
        },
      ],
    });
    expect((await call('devices.vrfs', { params })).data.vrfs).toEqual([
      {
        ...{ name: 'guests', more: 3, addresses: [{ address: '10.9.0.1', prefixLength: null }] },
        arp: [{ ...port, address: '10.9.0.7', mac }],
      },
    ]);
    const arp = await call('devices.arp', { params, query: { pageSize: '1' } });
    expect(arp).toMatchObject({
      ...{ totalCount: 2, data: [{ address: '10.0.9.3', mac, maker: null, since: seenAt, ...port }] },
    });
    expect((await call('devices.arp', { params, query: { page: '2', pageSize: '1' } })).data).toMatchObject([
      { address: '10.0.9.20' },
    ]);
    expect((await call('devices.vlans', { params: { id: other } })).data).toMatchObject({
      seenAt: null,
      vlans: [],
    });
  });
});
