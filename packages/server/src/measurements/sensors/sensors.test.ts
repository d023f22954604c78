import { Readable } from 'node:stream';
import type { SensorQuery } from '@rollcall/shared/api/sensors';
import { DEVICE_SENSORS, SAMPLE_SENSORS, type SensorReading } from '@rollcall/shared/sensors';
import { brokenConventions } from '@rollcall/shared/testing/metric-names';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listDevices } from '../../catalog/devices.ts';
import { readPresent } from '../../incidents/conditions/store.ts';
import { absorbInto } from '../../ingest/tables/save.ts';
import type { Database } from '../../platform/db/db.ts';
import { METRIC_DAYS } from '../../platform/ops/config.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, insert } from '../../testing/rows.ts';
import { readMeasurements } from '../read.ts';
import { rollUp } from '../rollup.ts';
import { storeSamples } from '../samples.ts';
import { listSensors } from './list.ts';
import { sensorFamilies } from './open-metrics.ts';

afterAll(closeDatabases);

const MIN = 60_000;
const START = Date.UTC(2026, 10, 20);
const inlet: SensorReading = {
  key: '1.1',
  kind: 'temperature',
  name: 'Inlet',
  component: 'chassis',
  value: 40,
  limits: { high: 70 },
};
const supply: SensorReading = {
  key: '1.2',
  kind: 'state',
  name: 'PSU 1',
  component: 'psu',
  state: 'ok',
  status: 'ok',
};
const failed: SensorReading = { ...supply, state: 'failed', status: 'critical' };

describe.each(databases())('sensors, on %s', (_name, open) => {
  let db: Database;
  let siteId: string;
  let deviceId: string;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    siteId = uuidv7();
    await insert(db, 'sites', [{ id: siteId, name: siteId, networks: [], exclude: [] }]);
    [deviceId = ''] = await addDevices(db, [{ site_id: siteId, name: 'sw' }] as never);
  });

  const store = (at: number, sensors: SensorReading[], more: object = { sensorsComplete: true }) => {
    const observation = { kind: 'samples' as const, at, deviceId, overMs: MIN, sensors, ...more };
    return db.transaction((sql) =>
      storeSamples(sql, [{ at, observation }], {
        siteId,
        collectorId: siteId,
        now: at,
        toEngine: false,
        sampleDays: 14,
        readPresent,
      }),
    );
  };
  const list = async (query: Partial<SensorQuery> = {}) =>
    (await listSensors(db, { page: 1, pageSize: 1000, ...query } as SensorQuery, [siteId])).data;
  const textAt = async (now: number, page = 10) => {
    const labelled = (labels: Record<string, string>) =>
      Object.entries(labels)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',');
    return (await Readable.from(sensorFamilies(db, { scope: [siteId], now, labelled, page })).toArray()).join(
      '',
    );
  };
  const healthOfDevice = async () => {
    const page = { page: 1, pageSize: 5 };
    return (await listDevices(db, page, { scope: [siteId], now: START })).data.map(({ health }) => health);
  };

  it('keeps what was read last, what is wrong first', async () => {
    await store(START, [inlet, supply]);
    await store(START + MIN, [{ ...inlet, value: 41 }, failed]);
    expect(await list()).toMatchObject([
      { name: 'PSU 1', health: 'critical', reason: 'state: failed', healthSince: (START + MIN) / 1000 },
      {
        name: 'Inlet',
        value: 41,
        unit: '°C',
        health: 'ok',
        healthSince: START / 1000,
        limits: { high: 70, low: null },
      },
    ]);
    expect((await list({ health: ['critical'] })).length).toBe(1);
    expect((await list({ kind: ['temperature'], deviceId })).length).toBe(1);
  });

  it('an older reading changes nothing', async () => {
    await store(START + MIN, [inlet]);
    await store(START, [{ ...inlet, value: 99 }]);
    expect(await list()).toMatchObject([{ value: 40, health: 'ok' }]);
  });

  it('the health of a device is that of its worst sensor, and follows it', async () => {
    expect(await healthOfDevice()).toEqual(['unknown']);
    await store(START, [inlet, failed]);
    expect(await healthOfDevice()).toEqual(['critical']);
    await store(START + MIN, [supply], {});
    expect(await healthOfDevice()).toEqual(['ok']);
    const filtered = { page: 1, pageSize: 5, health: ['ok'], sort: 'health' } as never;
    expect((await listDevices(db, filtered, { scope: [siteId], now: START })).totalCount).toBe(1);
  });

  it('a sensor that a complete reading does not see is gone, and comes back as the same', async () => {
    await store(START, [inlet, failed]);
    const [before] = await list({ kind: ['state'] });
    await store(START + MIN, [inlet], { sensorsComplete: false });
    expect((await list()).length).toBe(2);
    await store(START + 2 * MIN, [inlet]);
    expect((await list()).map(({ name }) => name)).toEqual(['Inlet']);
    expect(await healthOfDevice()).toEqual(['ok']);
    await store(START + 3 * MIN, [inlet, supply]);
    expect((await list({ kind: ['state'] }))[0]?.id).toBe(before?.id);
  });

  it('the parts of one reading make one, in several batches too', async () => {
    await store(START, [inlet], {});
    await store(START, [supply]);
    expect((await list()).length).toBe(2);
  });

  it('an agent that numbers its sensors anew each time is bounded', async () => {
    for (let i = 0; i < 12; i++)
      await store(
        START + i * MIN,
        Array.from({ length: SAMPLE_SENSORS }, (_, n) => ({ ...inlet, key: `${i}.${n}` })),
      );
    const [row] = await db.query<{ n: number }>(
      'SELECT count(*) AS n FROM sensors WHERE site_id = $1::uuid',
      [siteId],
    );
    expect(row?.n).toBe(2 * DEVICE_SENSORS);
  });

  it('has a history, before and after it is rolled up', async () => {
    for (let i = 1; i <= 3; i++) await store(START + i * MIN, [{ ...inlet, value: 40 + i }, supply]);
    const [one] = await list({ kind: ['temperature'] });
    const ask = (now: number) =>
      readMeasurements(
        db,
        {
          deviceId: [deviceId],
          sensorId: [one?.id ?? ''],
          metrics: ['sensor'],
          from: START / 1000,
          to: START / 1000 + 180,
          step: 60,
          aggregate: 'avg',
        },
        { scope: [siteId], now, days: METRIC_DAYS },
      );
    const expected = {
      sensorId: one?.id,
      sensorName: 'Inlet',
      interfaceId: null,
      unit: '°C',
      values: [41, 42, 43],
    };
    expect((await ask(START + 3 * MIN)).series).toMatchObject([expected]);
    const later = START + 3 * 86_400_000;
    const log = { error: (what: unknown) => expect(what).toBeUndefined() } as never;
    while ((await rollUp({ db, clock: { now: () => later } as never, log })) > 0);
    expect((await ask(later)).series).toMatchObject([expected]);
  });

  it('is told to a Prometheus in base units, while it is of now', async () => {
    await store(START, [inlet, failed, { key: '1.3', kind: 'storage', name: '/"x"', value: 40 }]);
    const text = await textAt(START + MIN);
    expect(brokenConventions(text)).toEqual([]);
    expect(text).toMatch(/rollcall_sensor_temperature_celsius\{.*sensor="Inlet".*component="chassis"\} 40\n/);
    expect(text).toMatch(/rollcall_sensor_storage_usage_ratio\{.*sensor="\/\\"x\\"".*\} 0\.4\n/);
    expect(text).toMatch(/rollcall_sensor_health\{.*sensor="PSU 1".*\} 2\n/);
    expect(await textAt(START + 20 * MIN)).not.toContain('Inlet');
    expect(await textAt(START + MIN, 1)).toBe(text);
  });

  it('goes over to the device that its own proves to be', async () => {
    await store(START, [inlet, failed]);
    const [into = ''] = await addDevices(db, [{ site_id: siteId, name: 'other' }] as never);
    await db.transaction((sql) => absorbInto(sql, siteId, [{ from: deviceId, into }]));
    expect((await list()).map((one) => one.deviceId)).toEqual([into, into]);
  });
});
