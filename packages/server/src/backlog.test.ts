/** What a collector measured while it was cut off, and sent later, counts as observed. */
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { availabilityHandlers } from './incidents/availability/handlers.ts';
import { storeSamples } from './measurements/samples.ts';
import type { Database } from './platform/db/db.ts';
import { closeDatabases, databases } from './testing/database.ts';
import { addCollector, addDevices, addSite, asCaller, caller, insert } from './testing/rows.ts';

afterAll(closeDatabases);

const HOUR_S = 3600;
const nowS = Date.parse('2026-11-20T12:00:00Z') / 1000;
const ago = (hours: number) => new Date((nowS - hours * HOUR_S) * 1000);

describe.each(databases())('the backlog of a collector on %s', (_name, open) => {
  let db: Database;
  let [siteId, collectorId, sw, ap] = ['', '', '', ''];
  beforeEach(async () => {
    db = await open();
    siteId = await addSite(db, uuidv7());
    collectorId = await addCollector(db, siteId, 'c');
    [sw = '', ap = ''] = await addDevices(db, [
      { site_id: siteId, name: 'sw' },
      { site_id: siteId, name: 'ap' },
    ]);
  });

  /** A batch: pings over the hours that ended so many hours ago. */
  const send = (...some: [device: string, endedHoursAgo: number][]) => {
    const measured = some.map(([deviceId, hours]) => {
      const at = ago(hours).getTime();
      const ping = { sent: 60, lost: 0, minMs: 1, avgMs: 1, maxMs: 1 };
      return {
        at,
        observation: { kind: 'samples' as const, at, deviceId, overMs: HOUR_S * 1000, ping },
      };
    });
    const context = { siteId, collectorId, now: nowS * 1000, toEngine: false, sampleDays: 14 };
    return db.transaction((sql) =>
      storeSamples(sql, measured, { ...context, readPresent: async () => () => false }),
    );
  };
  const availability = async (query: Record<string, string>) => {
    const call = asCaller(availabilityHandlers({ db, clock: { now: () => nowS * 1000 } as never }), caller());
    const { data } = await call('availability.list', {
      query: { from: `${nowS - 12 * HOUR_S}`, ...query },
    });
    return data.map((one: Record<string, number>) => [one.up, one.down, one.maintenance, one.notObserved]);
  };
  const rows = async (table: string) =>
    (await db.query(`SELECT 1 FROM ${table} WHERE site_id = $1::uuid`, [siteId])).length;

  it('is observed time of the devices that it holds, and only that', async () => {
    // Connected and monitored for an hour by now, and before that for one that ended 6 h ago.
    for (const [table, key, id] of [
      ['connection_history', 'collector_id', collectorId],
      ['monitoring_history', 'device_id', sw],
    ] as const)
      await insert(db, table, [
        { site_id: siteId, [key]: id, since: ago(7), until: ago(6) },
        { site_id: siteId, [key]: id, since: ago(1), until: null },
      ]);
    await insert(db, 'events', [
      {
        ...{ id: uuidv7(), site_id: siteId, device_id: sw, kind: 'device.down', source: 'icmp', severity: 4 },
        ...{ status: 2, message: '-', details: {}, count: 1, dedup_key: `device.down:${sw}` },
        ...{ first_seen: ago(4.5), timestamp: ago(4.5), closed_at: ago(4.25) },
      },
    ]);
    expect(await availability({ of: 'devices', deviceId: sw })).toEqual([[2 * HOUR_S, 0, 0, 10 * HOUR_S]]);

    await send([sw, 9], [ap, 9], [sw, 8]);
    await send([sw, 7], [sw, 5], [sw, 4]);
    // It was off for two hours, and sent what it measured once more before it was connected.
    await send([sw, 1]);
    const down = 0.25 * HOUR_S;
    expect(await availability({ of: 'devices', deviceId: sw })).toEqual([
      [8 * HOUR_S - down, down, 0, 4 * HOUR_S],
    ]);
    expect(await availability({ of: 'devices', deviceId: ap })).toEqual([[HOUR_S, 0, 0, 11 * HOUR_S]]);
    const [all = []] = await availability({ of: 'sites', site: siteId });
    expect(all).toEqual([9 * HOUR_S - down, down, 0, 15 * HOUR_S]);
    expect(all.reduce((sum: number, one: number) => sum + one, 0)).toBe(2 * 12 * HOUR_S);

    // Of what adjoins no rows are added, and what comes once more changes nothing.
    expect(await rows('connection_history')).toBe(3);
    await send([sw, 9], [sw, 5], [sw, 1]);
    expect(await rows('connection_history')).toBe(3);
    expect(await rows('monitoring_history')).toBe(4);
  });
});
