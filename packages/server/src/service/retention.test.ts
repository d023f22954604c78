import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, insert } from '../testing/rows.ts';
import { forget } from './retention.ts';

afterAll(closeDatabases);

describe.each(databases())('retention on %s', (_name, open) => {
  it('forgets what is old and over, and nothing else', async () => {
    const db = await open();
    const site = await addSite(db, 'a');
    const now = Date.parse('2026-11-20T12:00:00Z');
    const ago = (days: number) => new Date(now - days * 86_400_000).toISOString();
    const scan = (name: string, days: number | null, status: string) => ({
      ...{
        id: uuidv7(),
        site_id: site,
        targets: name,
        profile: 'ping',
        settings: {},
        addresses_total: 1,
        status,
      },
      ...{
        finished_at: days === null ? null : ago(days),
        created_at: ago(200),
        devices_new: 0,
        devices_changed: 0,
      },
      ...{ created_by_name: '', status_reason: '' },
    });
    const [old, kept, running, last] = [
      scan('old', 91, 'completed'),
      scan('kept', 89, 'completed'),
      scan('running', null, 'running'),
      scan('last', 120, 'failed'),
    ];
    const [device] = await addDevices(db, [{ site_id: site, name: 'sw' }]);
    await insert(db, 'scans', [old, kept, running, last]);
    await insert(db, 'schedules', [
      {
        id: uuidv7(),
        site_id: site,
        name: 's',
        targets: '',
        profile: 'ping',
        cron: '0 2 * * *',
        timezone: 'UTC',
        enabled: false,
        created_at: ago(1),
        last_scan_id: last.id,
      },
    ]);
    for (const days of [399, 401])
      await insert(db, 'audit', [
        {
          id: uuidv7(),
          at: ago(days),
          actor: 'ada',
          action: `${days}`,
          subject: '',
          address: '',
          detail: {},
        },
      ]);
    const interval = (mac: string, until: string | null) => ({
      ...{ site_id: site, device_id: device, mac, if_index: 1, vlan: 0, address: '', since: ago(500), until },
    });
    await insert(db, 'endpoints', [
      interval('02:00:00:00:00:01', ago(366)),
      interval('02:00:00:00:00:02', ago(364)),
      interval('02:00:00:00:00:03', null),
    ]);
    const change = (mac: string, at: string) => ({
      ...{ site_id: site, id: uuidv7(), at, mac, kind: 'endpoint.added', before: {}, after: {} },
    });
    await insert(db, 'endpoint_changes', [
      change('02:00:00:00:00:01', ago(366)),
      change('02:00:00:00:00:02', ago(364)),
    ]);
    await insert(
      db,
      'merged_devices',
      [364, 366].map((days) => ({ site_id: site, id: uuidv7(), into_id: device, at: ago(days) })),
    );
    // Of a table that is partitioned by site each part has a first row.
    for (let i = 0; i < 12; i++) {
      const site_id = await addSite(db, `other ${i}`);
      const [device_id] = await addDevices(db, [{ site_id, name: 'sw' }]);
      await insert(db, 'endpoints', [{ ...interval('02:00:00:00:00:04', null), site_id, device_id }]);
    }
    const forgotten = await forget({ db, clock: { now: () => now } as never });
    expect(forgotten).toEqual({ scans: 1, audit: 1, endpoints: 1, endpoint_changes: 1, merged_devices: 1 });
    expect(await db.query('SELECT mac FROM endpoint_changes')).toEqual([{ mac: '02:00:00:00:00:02' }]);
    expect(await db.query('SELECT mac FROM endpoints ORDER BY mac')).toEqual([
      { mac: '02:00:00:00:00:02' },
      { mac: '02:00:00:00:00:03' },
      ...Array.from({ length: 12 }, () => ({ mac: '02:00:00:00:00:04' })),
    ]);
    expect(
      (await db.query<{ targets: string }>('SELECT targets FROM scans ORDER BY 1')).map((r) => r.targets),
    ).toEqual(['kept', 'last', 'running']);
    expect(await db.query('SELECT action FROM audit')).toEqual([{ action: '399' }]);
    expect(await forget({ db, clock: { now: () => now } as never })).toEqual({});
  });
});
