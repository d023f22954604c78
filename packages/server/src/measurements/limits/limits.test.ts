import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPresent } from '../../incidents/conditions/store.ts';
import { absorbInto } from '../../ingest/tables/save.ts';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert, SEEN } from '../../testing/rows.ts';
import { storeSamples } from '../samples.ts';
import { limitHandlers } from './handlers.ts';

afterAll(closeDatabases);

const MIN = 60_000;
const START = Date.UTC(2026, 10, 20);

describe.each(databases())('thresholds of devices and interfaces, on %s', (_name, open) => {
  let db: Database;
  let [siteId, deviceId, other, port] = ['', '', '', ''];
  let audited: unknown[] = [];
  const audit = async (_: unknown, record: { action: string; subject: string }) =>
    void audited.push([record.action, record.subject]);
  const ask: ReturnType<typeof asCaller> = (id, request) =>
    asCaller(
      limitHandlers({ db, clock: { now: () => START }, audit: audit as never }),
      caller('operator', [siteId]),
    )(id, request);
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    siteId = await addSite(db, uuidv7());
    audited = [];
    port = uuidv7();
    [deviceId = '', other = ''] = await addDevices(
      db,
      ['sw', 'old'].map((name) => ({ site_id: siteId, name, class: 'switch', monitor: true })),
    );
    const of = { site_id: siteId, device_id: deviceId, if_index: 1, name: 'eth0', speed_bps: 1_000_000 };
    await insert(db, 'interfaces', [{ ...of, id: port, first_seen: SEEN, last_seen: SEEN }]);
  });

  const on = (id: string, body?: object) => ({ params: { id }, ...(body && { body }) });
  const shown = ({ data }: Awaited<ReturnType<typeof ask>>) =>
    data.applied.map(({ of, value, from }: Record<string, unknown>) => `${of} ${value} ${from}`);

  it('are set, shown with who said them, and cleared; it is written down who did', async () => {
    expect(shown(await ask('devices.thresholds', on(deviceId)))).toEqual([
      'utilisation 95 default',
      'errors 1 default',
      'noTraffic 1 default',
      'loss 20 default',
      'latency 1000 default',
    ]);
    await ask('devices.setThresholds', on(deviceId, { utilisation: 80, errors: 5 }));
    expect(shown(await ask('interfaces.setThresholds', on(port, { errors: 7 })))).toEqual([
      'utilisation 80 device',
      'errors 7 interface',
      'noTraffic 1 default',
    ]);
    // All of them: what is left out is no more its own.
    const { data } = await ask('devices.setThresholds', on(deviceId, { loss: 0 }));
    expect(data.own).toEqual({ loss: 0 });
    expect(shown(await ask('interfaces.clearThresholds', on(port)))).toEqual([
      'utilisation 95 default',
      'errors 1 default',
      'noTraffic 1 default',
    ]);
    expect(shown(await ask('devices.clearThresholds', on(deviceId)))[3]).toBe('loss 20 default');
    expect(audited).toEqual([
      ['device.thresholds', 'device sw'],
      ['interface.thresholds', 'interface eth0 of device sw'],
      ['device.thresholds', 'device sw'],
      ['interface.thresholds', 'interface eth0 of device sw'],
      ['device.thresholds', 'device sw'],
    ]);
  });

  it('refuse what cannot be, and what lies outside of the sites of who asks', async () => {
    await expect(ask('interfaces.setThresholds', on(port, { loss: 5 }))).rejects.toThrow();
    await expect(ask('devices.setThresholds', on(deviceId, { loss: 101 }))).rejects.toThrow();
    const stranger = asCaller(
      limitHandlers({ db, clock: { now: () => START }, audit: audit as never }),
      caller('admin', [uuidv7()]),
    );
    await expect(stranger('devices.setThresholds', on(deviceId, { loss: 5 }))).rejects.toThrow('device');
    await expect(stranger('interfaces.thresholds', on(port))).rejects.toThrow('interface');
  });

  it('decide what is told of a measurement: the interface before the device, its tags, its class and the site', async () => {
    let at = START;
    /** A minute with a fifth of the pings lost, and the port half full. */
    const told = async () => {
      at += MIN;
      const observation = {
        ...{ kind: 'samples' as const, at, deviceId, overMs: MIN },
        ping: { sent: 20, lost: 4 },
        ports: { ifIndex: [1], name: ['eth0'], inOctets: [3_750_000], outOctets: [0] },
      };
      const context = { siteId, collectorId: siteId, now: at, toEngine: false, sampleDays: 14, readPresent };
      const { changes } = await db.transaction((sql) => storeSamples(sql, [{ at, observation }], context));
      return changes.map((change) => {
        const { of, limit } = (change as { after: { of: string; limit: number } }).after;
        return `${of} ${limit}`;
      });
    };
    const settle = (settings: object) =>
      db.query('UPDATE sites SET settings = $2 WHERE id = $1::uuid', [siteId, settings]);
    expect(await told()).toEqual(['loss 20']);
    await settle({ thresholds: { loss: 90, utilisation: 50 } });
    expect(await told()).toEqual(['utilisation 50']);
    await settle({
      thresholds: { loss: 90 },
      classThresholds: { switch: { loss: 10 }, router: { loss: 5 } },
    });
    expect(await told()).toEqual(['loss 10']);
    const tagThresholds = [
      { tag: 'CORE', thresholds: { loss: 5 } },
      { tag: 'uplink', thresholds: { utilisation: 30, loss: 1 } },
    ];
    await settle({ thresholds: { loss: 90 }, classThresholds: { switch: { loss: 10 } }, tagThresholds });
    await db.query(`UPDATE devices SET tags = '{new,Core}' WHERE id = $1::uuid`, [deviceId]);
    expect(await told()).toEqual(['loss 5']);
    // What a tag of an interface says is of that interface.
    await db.query(`UPDATE interfaces SET tags = '{UPLINK}' WHERE id = $1::uuid`, [port]);
    expect((await told()).sort()).toEqual(['loss 5', 'utilisation 30']);
    const { data } = await ask('devices.thresholds', on(deviceId));
    expect(data.applied.find(({ of }: { of: string }) => of === 'loss')).toEqual({
      ...{ of: 'loss', from: 'tag', tag: 'CORE', value: 5 },
      said: [
        { from: 'default', value: 20 },
        { from: 'site', value: 90 },
        { from: 'class', value: 10 },
        { from: 'tag', tag: 'CORE', value: 5 },
      ],
    });
    expect(shown(await ask('interfaces.thresholds', on(port)))[0]).toBe('utilisation 30 interfaceTag');
    await db.query(`UPDATE interfaces SET tags = '{}' WHERE id = $1::uuid`, [port]);
    await db.query(`UPDATE devices SET tags = '{}' WHERE id = $1::uuid`, [deviceId]);
    expect(await told()).toEqual(['loss 10']);
    await settle({
      classThresholds: { switch: { loss: 90 } },
      fieldThresholds: [
        { field: 'Tier:1', thresholds: { loss: 6 } },
        { field: 'Metered:true', thresholds: { utilisation: 25 } },
      ],
    });
    expect(await told()).toEqual([]);
    await db.query(`UPDATE devices SET fields = '{"Tier": 1}' WHERE id = $1::uuid`, [deviceId]);
    await db.query(`UPDATE interfaces SET fields = '{"Metered": true}' WHERE id = $1::uuid`, [port]);
    expect((await told()).sort()).toEqual(['loss 6', 'utilisation 25']);
    const loss = (await ask('devices.thresholds', on(deviceId))).data.applied[3];
    expect(loss).toMatchObject({ of: 'loss', from: 'field', field: 'Tier:1', value: 6 });
    expect(shown(await ask('interfaces.thresholds', on(port)))[0]).toBe('utilisation 25 interfaceField');
    await db.query(`UPDATE interfaces SET fields = '{}' WHERE id = $1::uuid`, [port]);
    await ask('devices.setThresholds', on(deviceId, { loss: 0, utilisation: 40 }));
    expect(await told()).toEqual(['utilisation 40']);
    await ask('interfaces.setThresholds', on(port, { utilisation: 45 }));
    expect(await told()).toEqual(['utilisation 45']);
    await ask('interfaces.setThresholds', on(port, { utilisation: 60 }));
    expect(await told()).toEqual([]);
  });

  it('stay when two records prove to be one device', async () => {
    await ask('devices.setThresholds', on(other, { loss: 60 }));
    await db.transaction((sql) => absorbInto(sql, siteId, [{ from: other, into: deviceId }]));
    expect(shown(await ask('devices.thresholds', on(deviceId)))).toContain('loss 60 device');
  });
});
