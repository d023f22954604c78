import type { MetricQuery } from '@rollcall/shared/api/measurements';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { identityActions } from '../ingest/identity/actions.ts';
import { METRIC_DAYS } from '../platform/ops/config.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { addDevices, addSite, addUser, insert } from '../testing/rows.ts';
import { readMeasurements } from './read.ts';
import { rollUp } from './rollup.ts';
import { storeSamples } from './samples.ts';

afterAll(closeDatabases);

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 20);

describe.each(databases())(
  'what was measured of records that prove to be one device, on %s',
  (_name, open) => {
    let db: Awaited<ReturnType<typeof open>>;
    let siteId = '';
    let one = '';
    let other = '';
    let now = START;
    const clock = { now: () => now, monotonic: () => now } as never;
    const log = { warn: () => undefined } as never;
    const by = { userId: '', name: 'ada', note: async () => undefined };

    beforeEach(async () => {
      db ??= await open();
      siteId = await addSite(db, uuidv7());
      by.userId = await addUser(db, uuidv7());
      [one = '', other = ''] = await addDevices(db, [
        { site_id: siteId, name: 'one', address: '10.0.0.1' },
        { site_id: siteId, name: 'other', address: '10.0.0.2' },
      ]);
      await insert(
        db,
        'evidence',
        [one, other].map((device_id, i) => ({
          ...{ site_id: siteId, device_id, kind: 'address', value: `10.0.0.${i + 1}` },
          ...{ first_seen: new Date(START), last_seen: new Date(START) },
        })),
      );
    });

    const port = (device_id: string, if_index: number, id = uuidv7()) => ({
      ...{ site_id: siteId, device_id, id, if_index, name: 'eth0', speed_bps: 1e9 },
      ...{ first_seen: new Date(START), last_seen: new Date(START) },
    });
    /** An hour of a device in which eth0 receives so many bit/s, rolled up when it is over. */
    const hour = async (deviceId: string, i: number, bits: number, ifIndex = 1) => {
      const measured = Array.from({ length: 60 }, (_, minute) => {
        const at = START + i * HOUR + (minute + 1) * 60_000;
        const ports = { ifIndex: [ifIndex], name: ['eth0'], inOctets: [(bits * 60) / 8] };
        return { at, observation: { kind: 'samples' as const, at, deviceId, overMs: 60_000, ports } };
      });
      now = START + (i + 1) * HOUR + 600_000;
      const how = { toEngine: false, sampleDays: 14, readPresent: async () => () => false };
      await db.transaction((sql) =>
        storeSamples(sql, measured, { siteId, collectorId: siteId, now, ...how }),
      );
      for (let round = 0; round < 5; round++) await rollUp({ db, clock, log });
    };
    const line = async (deviceId: string, hours: number) => {
      const query = { deviceId: [deviceId], metrics: ['in'], aggregate: 'avg', step: 3600 };
      const times = { from: START / 1000, to: (START + hours * HOUR) / 1000 };
      const reading = { scope: null, now, days: METRIC_DAYS };
      const { series } = await readMeasurements(db, { ...query, ...times } as MetricQuery, reading);
      return series.map(({ values }) => values);
    };
    const actions = () => identityActions({ db, clock, recordChanges: async () => undefined });

    it('is one line of an interface, through a merge and another ifIndex, and two again when it is taken back', async () => {
      await insert(db, 'interfaces', [port(other, 1)]);
      await hour(other, 0, 1000);
      await hour(other, 1, 2000);
      await actions().merge(by, one, other);
      // A walk finds the interface at the device, at another index after a card was replaced.
      await insert(db, 'interfaces', [port(one, 7)]);
      await hour(one, 2, 3000, 7);
      expect(await line(one, 3)).toEqual([[1000, 2000, 3000]]);
      now = START + 30 * HOUR;
      for (let round = 0; round < 5; round++) await rollUp({ db, clock, log });
      expect(await line(one, 3)).toEqual([[1000, 2000, 3000]]);

      expect(await actions().split(by, one, ['10.0.0.2'])).toEqual([other]);
      for (let round = 0; round < 5; round++) await rollUp({ db, clock, log });
      expect(await line(other, 3)).toEqual([[1000, 2000, null]]);
      expect(await line(one, 3)).toEqual([[null, null, 3000]]);
    });

    it('is one line through two merges, one after the other', async () => {
      const [third = ''] = await addDevices(db, [{ site_id: siteId, name: 'third', address: '10.0.0.3' }]);
      await insert(db, 'interfaces', [port(one, 1), port(other, 1), port(third, 1)]);
      await hour(other, 0, 1000);
      await hour(one, 1, 2000);
      await hour(third, 2, 3000);
      await actions().merge(by, one, other);
      await actions().merge(by, third, one);
      expect(await line(third, 3)).toEqual([[1000, 2000, 3000]]);
    });
  },
);
