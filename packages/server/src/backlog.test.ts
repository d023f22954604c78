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
type Span = readonly [from: number, until: number | null];

describe.each(databases())('the backlog of a collector on %s', (_name, open) => {
  let db: Database;
  let [siteId, collectorId, sw, ap] = ['', '', '', ''];
  beforeEach(async () => {
    db = await open();
    siteId = await addSite(db, uuidv7());
    collectorId = await addCollector(db, siteId, 'c');
    [sw = '', ap = ''] = await addDevices(db, [
      { site_id: siteId, name: 'sw', monitor: true },
      { site_id: siteId, name: 'ap' },
    ]);
    await db.query('DELETE FROM monitoring_history WHERE site_id = $1', [siteId]);
  });

  /** All times in hours before now; null: it is still so. */
  const was = async (table: 'connection_history' | 'monitoring_history', id: string, ...spans: Span[]) => {
    const key = table === 'connection_history' ? 'collector_id' : 'device_id';
    await insert(
      db,
      table,
      spans.map(([from, until]) => ({
        ...{ site_id: siteId, [key]: id, since: ago(from), until: until === null ? null : ago(until) },
      })),
    );
  };
  /** A batch: pings of these devices, each over the hour that ended so many hours ago. */
  const send = (...some: [device: string, ended: number, more?: object][]) => {
    const measured = some.map(([deviceId, ended, more]) => {
      const at = ago(ended).getTime();
      const ping = { sent: 60, lost: 0, minMs: 1, avgMs: 1, maxMs: 1 };
      return {
        at,
        observation: { kind: 'samples' as const, at, deviceId, overMs: HOUR_S * 1000, ping, ...more },
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
    return data.map((one: Record<string, number>) =>
      [one.up, one.down, one.maintenance, one.notObserved].map((seconds = 0) => seconds / HOUR_S),
    );
  };
  const ofSwitch = (query: Record<string, string> = {}) =>
    availability({ of: 'devices', deviceId: sw, ...query });
  const rows = () =>
    db.query<{ from: number; until: number }>(
      `SELECT extract(epoch FROM $2::timestamptz - since)::float8 / 3600 AS "from",
         extract(epoch FROM $2::timestamptz - until)::float8 / 3600 AS until
       FROM backlog_history WHERE site_id = $1::uuid ORDER BY since`,
      [siteId, ago(0)],
    );

  it('is observed time, in which an outage is one', async () => {
    await was('monitoring_history', sw, [24, null]);
    await was('connection_history', collectorId, [24, 8], [2, null]);
    await insert(db, 'events', [
      {
        ...{ id: uuidv7(), site_id: siteId, device_id: sw, kind: 'device.down', source: 'icmp', severity: 4 },
        ...{ status: 2, message: '-', details: {}, count: 1, dedup_key: `device.down:${sw}` },
        ...{ first_seen: ago(5), timestamp: ago(5), closed_at: ago(4.5) },
      },
    ]);
    expect(await ofSwitch()).toEqual([[6, 0, 0, 6]]);
    // Of the hours without a connection the last but one was not measured.
    await send([sw, 7], [sw, 6]);
    await send([sw, 5], [sw, 4], [sw, 2]);
    expect(await ofSwitch()).toEqual([[10.5, 0.5, 0, 1]]);
    expect(await rows()).toEqual([
      { from: 8, until: 4 },
      { from: 3, until: 2 },
    ]);
  });

  it('is one row a day, however the ends of samples and their lengths are rounded', async () => {
    await was('connection_history', collectorId, [2, null]);
    for (let minute = 0; minute < 600; minute += 60)
      await send(
        ...Array.from({ length: 60 }, (_, i): [string, number, object] => [
          sw,
          30 - (minute + i) / 60 + ((i % 5) - 2) / 3_600_000,
          { overMs: 60_000 + (i % 3) - 1 },
        ]),
      );
    // From 30 h 1 min before noon on, ten hours.
    expect(await rows()).toHaveLength(1);
    await send([sw, 12.5], [sw, 11.5]);
    expect((await rows()).map(({ until }) => Math.round(until * 2) / 2)).toEqual([20, 12, 11.5]);
  });

  it('holds what reaches into the time of a connection, and nothing of what was measured within one', async () => {
    await was('monitoring_history', sw, [24, null]);
    await was('connection_history', collectorId, [24, 7.5], [1.5, null]);
    await send([sw, 9], [sw, 0.25], [sw, 0]);
    expect(await rows()).toEqual([]);
    await send([sw, 7], [sw, 6], [sw, 5], [sw, 4], [sw, 3], [sw, 2], [sw, 1]);
    expect(await rows()).toEqual([{ from: 8, until: 1 }]);
    expect(await ofSwitch()).toEqual([[12, 0, 0, 0]]);
  });

  it('comes twice, out of order and of a collector that is gone again', async () => {
    await was('connection_history', collectorId, [24, 8]);
    await send([sw, 5], [sw, 4]);
    await send([sw, 7], [sw, 6], [sw, 5]);
    await send([sw, 7], [sw, 4]);
    expect(await ofSwitch()).toEqual([[4, 0, 0, 8]]);
    expect(await ofSwitch({ to: `${nowS - 7.5 * HOUR_S}` })).toEqual([[0.5, 0, 0, 4]]);
  });

  it('is that of its device alone, of one that is monitored and was pinged', async () => {
    await was('monitoring_history', sw, [24, null]);
    await was('monitoring_history', ap, [24, 3]);
    await was('connection_history', collectorId, [24, 8], [2, null]);
    await send([ap, 7], [sw, 6, { ping: undefined }]);
    expect(await rows()).toEqual([]);
    await send([sw, 5]);
    expect(await availability({ of: 'devices', site: siteId })).toEqual([
      [4, 0, 0, 8],
      [7, 0, 0, 5],
    ]);
  });

  it('of a time before all that is known of the device is listed', async () => {
    await was('connection_history', collectorId, [2, null]);
    await send([sw, 9]);
    const then = { to: `${nowS - 8 * HOUR_S}` };
    expect(await availability({ of: 'devices', site: siteId, ...then })).toEqual([[1, 0, 0, 3]]);
    expect(await availability({ of: 'sites', site: siteId, ...then })).toEqual([[1, 0, 0, 3]]);
  });
});
