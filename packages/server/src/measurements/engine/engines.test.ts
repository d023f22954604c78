/**
 * The same questions to every engine that may keep measurements: the database, and Debian's Prometheus and VictoriaMetrics,
 * which the test starts itself.
 */
import type { MetricQuery } from '@rollcall/shared/api/measurements';
import { Secret } from '@rollcall/shared/secret';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPresent } from '../../incidents/conditions/store.ts';
import type { Database } from '../../platform/db/db.ts';
import { METRIC_DAYS } from '../../platform/ops/config.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { ENGINE_NAMES, hasEngine, type RunningEngine, startEngine } from '../../testing/engines.ts';
import { addDevices, addSite, asCaller, caller, insert } from '../../testing/rows.ts';
import { createMeasurementFeature } from '../feature.ts';
import { storeSamples } from '../samples.ts';

afterAll(closeDatabases);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The begin of a day. */
const START = Date.UTC(2026, 10, 20);
const seconds = (ms: number) => String(ms / 1000);
const NONE = 'database';
const [, open] = databases()[0] ?? [];

/** The suite that starts PostgreSQL starts them as well. */
const engines = process.env.TEST_DATABASE_URL ? ENGINE_NAMES.filter(hasEngine) : [];

describe.each([NONE, ...engines] as const)('measurements kept by %s', (name) => {
  let db: Database;
  let engine: RunningEngine | undefined;
  let siteId: string;
  let deviceId: string;
  let now = START;
  const [eth0, eth1] = [uuidv7(), uuidv7()];
  const log = { error: () => undefined, warn: () => undefined } as never;
  const clock = { now: () => now, monotonic: () => now } as never;
  let feature: ReturnType<typeof createMeasurementFeature>;

  beforeAll(async () => {
    if (!open) throw new Error('no database');
    db = await open();
    if (name !== NONE) engine = await startEngine(name);
    feature = createMeasurementFeature({
      ...{
        db,
        clock,
        log,
        recordChanges: async () => undefined,
        audit: async () => undefined,
        days: METRIC_DAYS,
      },
      ...(engine && { engine: { write: new Secret(engine.write), query: new Secret(engine.query) } }),
    });
    siteId = await addSite(db, uuidv7());
    [deviceId = ''] = await addDevices(db, [{ site_id: siteId, name: 'sw', class: 'switch', monitor: true }]);
    const port = { site_id: siteId, device_id: deviceId, speed_bps: 1_000_000 };
    const seen = { first_seen: new Date(START), last_seen: new Date(START) };
    await insert(db, 'interfaces', [
      { ...port, ...seen, id: eth0, if_index: 1, name: 'eth0' },
      { ...port, ...seen, id: eth1, if_index: 2, name: 'eth1' },
    ]);
    await measure();
  }, 180_000);
  afterAll(async () => engine?.stop());

  /** A minute that ends at `at`; eth0 receives as many octets. */
  const minute = (at: number, octets: number | null) => ({
    at,
    observation: {
      kind: 'samples' as const,
      ...{ at, deviceId, overMs: 60_000 },
      ping: { sent: 4, lost: 1, minMs: 1, avgMs: 2, maxMs: 5 },
      ports: { ifIndex: [1, 2], name: ['eth0', 'eth1'], inOctets: [octets, 0], outOctets: [7500, null] },
    },
  });
  const store = (...measured: ReturnType<typeof minute>[]) =>
    db.transaction((sql) =>
      storeSamples(sql, measured, {
        siteId,
        collectorId: siteId,
        now,
        toEngine: engine !== undefined,
        sampleDays: 14,
        readPresent,
      }),
    );
  /** Whatever runs again and again. */
  const everything = async () => {
    for (let i = 0; i < 10; i++) {
      await feature.ship();
      await feature.rollUp();
    }
    await feature.forget();
    await engine?.settle();
  };

  /** A day: minute i of hour h receives 7500 × (h + 1) octets, so h + 1 kbit/s; an hour is missing, then one minute. */
  async function measure() {
    const all = [];
    for (let i = 1; i <= 1440; i++) {
      const hour = Math.floor((i - 1) / 60);
      if (hour !== 5 && i !== 603) all.push(minute(START + i * 60_000, 7500 * (hour + 1)));
    }
    const { observation: restart } = minute(START + 603 * 60_000, null);
    const { ping: _, ports: __, ...silent } = restart;
    all.push({ at: restart.at, observation: { ...silent, gap: 'restarted' } as never });
    all.sort((a, b) => a.at - b.at);
    now = START + DAY;
    // One comes an hour late.
    const [late] = all.splice(700, 1);
    for (let i = 0; i < all.length; i += 200) await store(...all.slice(i, i + 200));
    await everything();
    if (late) await store(late);
    await everything();
    now = START + DAY + 3 * HOUR;
    await everything();
  }

  const ask = async (query: Partial<Record<keyof MetricQuery, string>>) => {
    const request = { query: { deviceId, metrics: 'in', interfaceId: eth0, ...query } };
    return (await asCaller(feature.handlers, caller())('measurements.get', request)).data;
  };
  const close = (values: (number | null)[]) =>
    values.map((value) => (value === null ? null : Number(value.toPrecision(6))));
  const valuesOf = async (query: Parameters<typeof ask>[0]) => close((await ask(query)).series[0].values);

  it('keeps samples only as long as they are needed here', async () => {
    const [row] = await db.query<{ n: number }>('SELECT count(*)::int AS n FROM samples WHERE site_id = $1', [
      siteId,
    ]);
    expect(row?.n).toBe(0);
    const [chunks] = await db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM sample_chunks WHERE site_id = $1',
      [siteId],
    );
    expect((chunks?.n ?? 0) > 0).toBe(engine === undefined);
  });

  it('minutes, with gaps', async () => {
    const from = START + 10 * HOUR;
    const values = await valuesOf({ from: seconds(from), to: seconds(from + 6 * 60_000), step: '60' });
    expect(values).toEqual([11_000, 11_000, null, 11_000, 11_000, 11_000]);
    const border = START + 5 * HOUR - 120_000;
    expect(await valuesOf({ from: seconds(border), to: seconds(border + 240_000), step: '60' })).toEqual([
      ...[5000, 5000],
      ...[null, null],
    ]);
    const { series } = await ask({ from: seconds(from), to: seconds(from + 6 * 60_000), step: '60' });
    expect(series[0].gaps).toMatchObject([
      { from: from / 1000 + 120, to: from / 1000 + 180, reason: 'restarted', message: 'the agent restarted' },
    ]);
  });

  it('the minute that came late', async () => {
    const around = START + 12 * HOUR;
    const values = await valuesOf({ from: seconds(around), to: seconds(around + HOUR), step: '60' });
    expect(values).toEqual(Array(60).fill(13_000));
  });

  it('five minutes, an hour, by mean and maximum', async () => {
    const hours = { from: seconds(START + 3 * HOUR), to: seconds(START + 7 * HOUR), step: '3600' };
    expect(await valuesOf(hours)).toEqual([4000, 5000, null, 7000]);
    for (const aggregate of ['min', 'max', 'p95'])
      expect(await valuesOf({ ...hours, aggregate })).toEqual([4000, 5000, null, 7000]);
    const border = { from: seconds(START + 2 * HOUR - 300_000), to: seconds(START + 2 * HOUR + 300_000) };
    expect(await valuesOf({ ...border, step: '300' })).toEqual([2000, 3000]);
    const day = { from: seconds(START), to: seconds(START + DAY), step: '86400' };
    expect(await valuesOf(day)).toEqual([close([(300_000 - 6000) / 23])[0]]);
    expect(await valuesOf({ ...day, aggregate: 'max' })).toEqual([24_000]);
    expect(await valuesOf({ ...day, aggregate: 'min' })).toEqual([1000]);
  });

  it('the 95th percentile of 5-minute means, as it is billed', async () => {
    const { series } = await ask({ from: seconds(START), to: seconds(START + DAY), step: '300' });
    // 276 means, 12 of each hour: the highest 13 lie above it.
    expect(series[0].p95).toBeCloseTo(23_000, 3);
  });

  it('several metrics of the device and of all its interfaces', async () => {
    const from = START + HOUR;
    const asked = { from: seconds(from), to: seconds(from + 120_000), step: '60' };
    const request = { query: { deviceId, metrics: 'rtt,rttMax,loss,in,out,inUtilisation', ...asked } };
    const { data } = await asCaller(feature.handlers, caller())('measurements.get', request);
    const found = data.series.map(
      ({ metric, interfaceName, values }: { metric: string; interfaceName: string; values: number[] }) => [
        `${metric} ${interfaceName ?? ''}`.trim(),
        ...close(values),
      ],
    );
    expect(found).toEqual([
      ['rtt', 2, 2],
      ['rttMax', 5, 5],
      ['loss', 25, 25],
      ['in eth0', 2000, 2000],
      ['in eth1', 0, 0],
      ['out eth0', 1000, 1000],
      ['out eth1', null, null],
      ['inUtilisation eth0', 0.2, 0.2],
      ['inUtilisation eth1', 0, 0],
    ]);
  });

  it('what was measured just now, once, and the highest of it', async () => {
    now = START + 2 * DAY;
    await store(minute(now - 120_000, 30_000), minute(now - 60_000, 60_000));
    const asked = { from: seconds(now - 180_000), to: seconds(now), step: '60' };
    expect(await valuesOf(asked)).toEqual([4000, 8000, null]);
    await everything();
    expect(await valuesOf(asked)).toEqual([4000, 8000, null]);
    expect(await valuesOf({ ...asked, from: seconds(now - HOUR), step: '3600' })).toEqual([6000]);
    const { data } = await asCaller(feature.handlers, caller())('measurements.top', {
      query: { metric: 'in' },
    });
    const own = data.filter((one: { siteId: string }) => one.siteId === siteId);
    expect(own).toMatchObject([{ deviceName: 'sw', interfaceName: 'eth0', value: 8000, unit: 'bit/s' }]);
  });

  it.skipIf(name === NONE)('questions of dashboards in PromQL, as everybody asks that engine', async () => {
    /** Value and labels of every series at a time. */
    const promql = async (query: string, at: number) => {
      const words = new URLSearchParams({ query, time: seconds(at) });
      const answer = await fetch(`${engine?.query}/api/v1/query?${words}`);
      const { data } = (await answer.json()) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] };
      };
      return data.result.map(({ metric, value }) => ({ metric, value: close([Number(value[1])])[0] }));
    };
    const received = 'rollcall_interface_receive_bytes_per_second';
    const [own, port] = [`{device_id="${deviceId}"}`, `{interface_id="${eth0}"}`];
    const eleven = START + 11 * HOUR - 60_000;
    const values = async (query: string, at: number) => (await promql(query, at)).map(({ value }) => value);
    expect(await values(`8 * avg_over_time(${received}${port}[10m])`, eleven)).toEqual([11_000]);
    expect(await values(`8 * max by (site_id) (max_over_time(${received}${own}[1d]))`, START + DAY)).toEqual([
      24_000,
    ]);
    expect(await values(`8 * quantile_over_time(0.95, ${received}${port}[1h])`, eleven)).toEqual([11_000]);
    const sent = 'rollcall_interface_transmit_bytes_per_second';
    expect(await values(`8 * sum by (device_id) (${sent}${own})`, eleven)).toEqual([1000]);
    expect(await values(`1000 * rollcall_device_rtt_seconds${own}`, eleven)).toEqual([2]);
    expect(await values(`100 * rollcall_device_ping_loss_ratio${own}`, eleven)).toEqual([25]);
    const [busiest] = await promql(`topk(1, ${received}${own})`, eleven);
    expect(busiest?.metric).toMatchObject({ site_id: siteId, device_id: deviceId, interface_id: eth0 });
    // What was not measured is no line, and an interval that is not known says why.
    expect(await values(`${received}${port}`, START + 5.5 * HOUR)).toEqual([]);
    expect(await promql(`rollcall_sample_gap_seconds${own}`, START + 603 * 60_000)).toMatchObject([
      { metric: { reason: 'restarted' }, value: 60 },
    ]);
  });

  it('sensors', async () => {
    const began = START + 2 * DAY + 4 * HOUR;
    now = began + 600_000;
    for (const [i, value] of [41, 42].entries()) {
      const at = began + i * 300_000;
      const sensors = [{ key: '1.3.6.1.4.1.9.1', kind: 'temperature' as const, name: 'Inlet', value }];
      const { observation } = minute(at, null);
      const { ping: _, ports: __, ...rest } = observation;
      await store({ at, observation: { ...rest, overMs: 300_000, sensors } as never });
    }
    await everything();
    now = began + 4 * HOUR;
    await everything();
    const query = { deviceId, metrics: 'sensor', step: '300' };
    const asked = { from: seconds(began - 300_000), to: seconds(began + 300_000) };
    const request = { query: { ...query, ...asked } };
    const { data } = await asCaller(feature.handlers, caller())('measurements.get', request);
    expect(data.series).toMatchObject([{ sensorName: 'Inlet', unit: '°C', values: [41, 42] }]);
  });

  it('nothing of another device', async () => {
    const [other = ''] = await addDevices(db, [{ site_id: siteId, name: 'other' }]);
    const query = { deviceId: other, metrics: 'rtt', from: seconds(START), to: seconds(START + DAY) };
    const { data } = await asCaller(feature.handlers, caller())('measurements.get', { query });
    expect(data.series[0].values.every((value: unknown) => value === null)).toBe(true);
  });
});
