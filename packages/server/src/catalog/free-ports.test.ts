import type { FreePort } from '@rollcall/shared/api/free-ports';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../accounts/audit.ts';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert } from '../testing/rows.ts';
import { catalogHandlers } from './feature.ts';

afterAll(closeDatabases);

const NOW = Date.parse('2026-11-20T11:00:00Z');
const days = (n: number) => new Date(NOW - n * 86_400_000).toISOString();
const unix = (n: number) => Math.floor((NOW - n * 86_400_000) / 1000);

describe.each(databases())('free ports on %s', (_name, open) => {
  let db: Database;
  let north: string;
  let south: string;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    db = await open();
    north = await addSite(db, 'north');
    south = await addSite(db, 'south');
    const device = async (name: string, more: object = {}) => {
      const [id = ''] = await addDevices(db, [
        { site_id: north, name, class: 'switch', sort_name: name, ...more },
      ]);
      ids[name] = id;
    };
    await device('sw-1');
    await device('sw-2');
    await device('router', { class: 'router' });
    await device('south', { site_id: south });
    await device('gone', { gone_at: days(1) });
    for (const name of ['scanned', 'in part', 'watched', 'silent', 'cut', 'closed']) await device(name);
    const port = (of: string, if_index: number, more: object) => ({
      ...{ site_id: of === 'south' ? south : north, device_id: ids[of], id: uuidv7(), if_index },
      ...{ name: `Gi${if_index}`, type: 6, oper_status: 2, admin_status: 1, speed_bps: 1_000_000_000 },
      ...{
        first_seen: days(300),
        last_seen: days(1),
        last_up_at: days(100),
        last_change: null,
        gone_at: null,
      },
      ...more,
    });
    await insert(db, 'interfaces', [
      port('sw-1', 10, { last_up_at: days(200), oper_status: 7, alias: 'spare' }),
      port('sw-1', 2, {}),
      // Used: lately, now, in a way that tells nothing.
      port('sw-1', 3, { last_up_at: days(80) }),
      port('sw-1', 4, { oper_status: 1 }),
      ...[3, 4, 5, null].map((oper_status, n) => port('sw-1', 20 + n, { oper_status })),
      // No sockets: loopback, VLAN, aggregate, and one of which nothing is known.
      ...[24, 53, 135, 136, 161, null].map((type, n) => port('sw-1', 30 + n, { type })),
      // No longer there.
      port('sw-1', 40, { gone_at: days(1) }),
      port('gone', 1, {}),
      port('sw-2', 1, { last_up_at: null, last_change: days(400), speed_bps: 100 }),
      port('sw-2', 2, { last_up_at: null, last_change: days(5), oper_status: 6 }),
      port('router', 1, {}),
      port('router', 2, { speed_bps: null }),
      port('south', 1, {}),
      // What was read last long ago is not known: unless its table was read again as it was, or the watch reads all of it.
      ...['scanned', 'in part', 'watched', 'silent', 'cut', 'closed'].map((of) =>
        port(of, 1, { last_seen: days(95) }),
      ),
    ]);
    await insert(
      db,
      'device_facts',
      [
        ['scanned', 6, true],
        ['in part', 6, false],
        ['watched', 95, true],
        ['cut', 95, false],
        ['closed', 95, true],
      ].map(([of, ago, complete]) => ({
        ...{ site_id: north, device_id: ids[String(of)], group: 'interfaces', data: [], hash: '' },
        ...{ seen_at: days(Number(ago)), complete },
      })),
    );
    const credential = uuidv7();
    await insert(db, 'credentials', [
      {
        ...{ id: credential, name: 'read-only', version: 'v2c', sealed: Buffer.from('x'), key_id: 'k' },
        site_ids: '{}',
      },
    ]);
    for (const [name, snmp] of [
      ['watched', 'ok'],
      ['silent', 'timeout'],
      ['cut', 'ok'],
      ['closed', 'ok'],
    ] as const) {
      const opens = name === 'closed' ? null : credential;
      await db.query(
        'UPDATE devices SET monitor = true, watched_snmp = $2, credential_id = $3 WHERE id = $1',
        [ids[name], snmp, opens],
      );
      await db.query('UPDATE sightings SET watched_at = $2 WHERE device_id = $1', [ids[name], days(0)]);
    }
  });

  const ask = async (query: Record<string, string>, sites: 'all' | string[] = 'all') =>
    (await asCaller(
      catalogHandlers({
        ...{ db, audit, clock: new ManualClock(NOW), makerOf: () => null },
        identity: {
          ...{ merge: async (_by, id) => id, split: async () => [], reclassify: async () => undefined },
          ...{ strengthOf: () => 'strong', find: async () => new Map(), findOrAdd: async () => new Map() },
        },
        events: { onMonitoringStopped: async () => undefined, onDevicesDeleted: async () => undefined },
      }),
      caller('viewer', sites),
    )('interfaces.free', { query })) as { data: FreePort[]; totalCount: number };
  const names = async (...call: Parameters<typeof ask>) => {
    const { data, totalCount } = await ask(...call);
    expect(totalCount).toBe(data.length);
    return data.map(({ device, port }) => `${device} ${port}`);
  };

  it('lists sockets that are down and known to be, by device and port', async () => {
    expect(await names({ site: north })).toEqual([
      'router Gi1',
      'router Gi2',
      'scanned Gi1',
      'sw-1 Gi2',
      'sw-1 Gi10',
      'sw-2 Gi1',
      'sw-2 Gi2',
      'watched Gi1',
    ]);
    expect(await names({}, [south])).toEqual(['south Gi1']);
  });

  it('lists none that software makes, though its type is Ethernet', async () => {
    const site_id = await addSite(db, 'hosts');
    const [device_id = ''] = await addDevices(db, [{ site_id, name: 'host' }]);
    const sockets = [
      'eth0',
      'port1.0.1',
      'P1.2',
      '1.3',
      'breakout',
      'brick1',
      'vlan20-desk',
      'wlan-ap1',
      'Tap1',
    ];
    const made = [
      'eth0.100',
      'p4p1.7',
      'xethernet0/1.20',
      'br0',
      'br-lan',
      'bond1',
      'veth5629f4f2',
      'docker0',
      'wlan0',
      'Vlan-interface1',
    ];
    await insert(
      db,
      'interfaces',
      [...sockets, ...made].map((name, if_index) => ({
        ...{ site_id, device_id, id: uuidv7(), if_index, name, type: 6, oper_status: 2 },
        ...{ first_seen: days(300), last_seen: days(1), last_up_at: days(100) },
      })),
    );
    expect(await names({ site: site_id })).toEqual(sockets.map((port) => `host ${port}`));
    await db.query('DELETE FROM devices WHERE id = $1', [device_id]);
  });

  it('tells since when each is not used, and how that is known', async () => {
    const { data } = await ask({ site: north, search: 'sw-' });
    expect(data).toMatchObject([
      { port: 'Gi2', reason: 'wentDown', unusedSince: unix(100), readAt: unix(1), operStatus: 'down' },
      { port: 'Gi10', reason: 'wentDown', unusedSince: unix(200), operStatus: 'lowerLayerDown' },
      { port: 'Gi1', reason: 'unchanged', unusedSince: unix(400), speedBps: 100 },
      { port: 'Gi2', reason: 'neverUp', unusedSince: unix(300), operStatus: 'notPresent' },
    ]);
    expect(data[0]).toMatchObject({ device: 'sw-1', deviceId: ids['sw-1'], site: 'north', class: 'switch' });
    expect((await ask({ search: 'scanned' })).data).toMatchObject([{ readAt: unix(6) }]);
    expect((await ask({ search: 'watched' })).data).toMatchObject([{ readAt: unix(0) }]);
  });

  it('asks for days, classes, names and an order', async () => {
    expect(await names({ unusedDays: '150' })).toEqual(['sw-1 Gi10', 'sw-2 Gi1', 'sw-2 Gi2']);
    expect(await names({ unusedDays: '70', search: 'sw-1' })).toEqual(['sw-1 Gi2', 'sw-1 Gi3', 'sw-1 Gi10']);
    expect(await names({ class: 'router,phone' })).toEqual(['router Gi1', 'router Gi2']);
    expect(await names({ search: 'SPARE' })).toEqual(['sw-1 Gi10']);
    expect((await names({ sort: 'unusedSince' }))[0]).toBe('sw-2 Gi1');
    expect((await names({ sort: 'speedBps' }))[0]).toBe('router Gi2');
    expect((await names({ sort: '-speedBps' })).at(-1)).toBe('router Gi2');
    const { data, totalCount } = await ask({ site: north, page: '2', pageSize: '3' });
    expect([data[0]?.port, totalCount]).toEqual(['Gi2', 8]);
  });
});
