import { Readable } from 'node:stream';
import type { MetricQuery } from '@rollcall/shared/api/measurements';
import { brokenConventions } from '@rollcall/shared/testing/metric-names';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readPresent } from '../incidents/conditions/store.ts';
import { returnMeasurements } from '../ingest/tables/move-measurements.ts';
import { absorbInto } from '../ingest/tables/save.ts';
import type { Database } from '../platform/db/db.ts';
import { METRIC_DAYS } from '../platform/ops/config.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { randomOf } from '../testing/outages/network.ts';
import { insert } from '../testing/rows.ts';
import { currentText } from './current.ts';
import { csvOf } from './file.ts';
import { lastValues } from './last.ts';
import { readMeasurements } from './read.ts';
import { forgetChunks, rollUp } from './rollup.ts';
import { storeSamples } from './samples.ts';
import { readTop } from './top.ts';

afterAll(closeDatabases);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The begin of a day. */
const START = Date.UTC(2026, 10, 20);

describe.each(databases())('measurements, on %s', (_name, open) => {
  let db: Database;
  let siteId: string;
  let deviceId: string;
  const ports = { eth0: '', eth1: '' };
  let now = START;
  let days = METRIC_DAYS;
  const clock = { now: () => now } as never;
  beforeAll(async () => {
    db = await open();
  });
  beforeEach(async () => {
    [siteId, deviceId, ports.eth0, ports.eth1] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    now = START;
    days = METRIC_DAYS;
    await db.query(
      `INSERT INTO sites (id, name, networks, exclude) VALUES ($1::uuid, $1::text, '{}', '{}')`,
      [siteId],
    );
    await db.query(
      `INSERT INTO devices (site_id, id, name, address, class, monitor, first_seen)
       VALUES ($1::uuid, $2::uuid, 'sw', '10.0.0.1', 'switch', true, now())`,
      [siteId, deviceId],
    );
    // Since when it is monitored is what the tests say.
    await db.query('DELETE FROM monitoring_history WHERE site_id = $1::uuid', [siteId]);
    for (const [i, name] of (['eth0', 'eth1'] as const).entries())
      await db.query(
        `INSERT INTO interfaces (site_id, id, device_id, if_index, name, speed_bps, first_seen, last_seen)
         VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5, 1000000, now(), now())`,
        [siteId, ports[name], deviceId, i + 1, name],
      );
  });

  /** A minute that ends at `at`; eth0 receives as many octets. */
  const minute = (at: number, octets: number | null, more: object = {}) => ({
    at,
    observation: {
      kind: 'samples' as const,
      at,
      deviceId,
      overMs: 60_000,
      ping: { sent: 4, lost: 1, minMs: 1, avgMs: 2, maxMs: 5 },
      ports: { ifIndex: [1, 2], name: ['eth0', 'eth1'], inOctets: [octets, 0], outOctets: [7500, null] },
      ...more,
    },
  });
  const store = async (...measured: ReturnType<typeof minute>[]) => {
    now = Math.max(now, ...measured.map(({ at }) => at));
    return db.transaction((sql) =>
      storeSamples(sql, measured, {
        siteId,
        collectorId: siteId,
        now,
        toEngine: false,
        sampleDays: 14,
        readPresent,
      }),
    );
  };
  const read = (query: Partial<MetricQuery>) =>
    readMeasurements(
      db,
      {
        deviceId: [deviceId],
        metrics: ['in'],
        aggregate: 'avg',
        interfaceId: [ports.eth0],
        ...query,
      } as MetricQuery,
      { scope: null, now, days },
    );
  const valuesOf = async (query: Partial<MetricQuery>) => (await read(query)).series[0]?.values;
  const at = (ms: number) => Math.floor(ms / 1000);
  const logged: unknown[] = [];
  const log = { error: (what: unknown) => logged.push(what), warn: () => undefined } as never;
  const everything = async () => {
    for (let i = 0; i < 50; i++) if ((await rollUp({ db, clock, log })) === 0) return;
    throw new Error('rolling up does not end');
  };
  const text = async (scope: string[], page?: number) =>
    (await Readable.from(currentText(db, { scope, now, ...(page ? { page } : {}) })).toArray()).join('');
  const rows = async (table: string) =>
    (
      await db.query<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE site_id = $1::uuid`, [siteId])
    )[0]?.n;

  it('answers what was measured, minute by minute, with gaps', async () => {
    await store(
      minute(START + 60_000, 75_000),
      minute(START + 180_000, 150_000),
      minute(START + 240_000, null),
    );
    const data = await read({ from: at(START), to: at(START) + 240, step: 60 });
    expect(data).toMatchObject({ from: at(START), to: at(START) + 240, step: 60 });
    expect(data.series).toMatchObject([
      { interfaceName: 'eth0', metric: 'in', unit: 'bit/s', values: [10_000, null, 20_000, null] },
    ]);
  });

  it('says why something was not measured, before and after it is summarised', async () => {
    const MINUTE = 60_000;
    const { eth1 } = ports;
    await db.query(
      `INSERT INTO monitoring_history (site_id, device_id, since) VALUES ($1::uuid, $2::uuid, $3)`,
      [siteId, deviceId, new Date(START)],
    );
    await db.query(
      `INSERT INTO connection_history (site_id, collector_id, since, until) VALUES ($1::uuid, $1::uuid, $2, $3)`,
      [siteId, new Date(START), new Date(START + 40 * MINUTE)],
    );
    const all = Array.from({ length: 20 }, (_, i) => minute(START + (i + 1) * MINUTE, 75_000));
    const reset = { inOctets: [null, 5], outOctets: [null, 5], gap: ['counters-reset', null] };
    all[2] = minute(START + 3 * MINUTE, null, {
      ports: { ifIndex: [1, 2], name: ['eth0', 'eth1'], ...reset },
    });
    const silent = { ports: undefined };
    for (const i of [5, 6, 7]) all[i] = minute(START + (i + 1) * MINUTE, null, silent);
    // It was silent, and began anew meanwhile.
    for (const i of [10, 11]) all[i] = minute(START + (i + 1) * MINUTE, null, silent);
    all[12] = minute(START + 13 * MINUTE, null, { ...silent, gap: 'restarted' });
    all[15] = minute(START + 16 * MINUTE, 75_000, { ping: { sent: 4, lost: 4 } });
    await store(...all);
    now = START + DAY;
    const gaps = async (query: Partial<MetricQuery>) =>
      (
        await read({ from: at(START - 5 * MINUTE), to: at(START + HOUR), step: 60, ...query })
      ).series[0]?.gaps.map(({ from, to, reason, message }) => {
        expect(message).toMatch(/^[a-z]/);
        return [(from - at(START)) / 60, (to - at(START)) / 60, reason];
      });
    const expected = [
      [-5, 0, 'not-monitored'],
      [2, 3, 'counters-reset'],
      [5, 8, 'agent-silent'],
      [10, 13, 'restarted'],
      [20, 40, 'not-received'],
      [40, 60, 'collector-away'],
    ];
    const ofPing = [[-5, 0, 'not-monitored'], [15, 16, 'no-answer'], ...expected.slice(-2)];
    expect(await gaps({})).toEqual(expected);
    expect(await gaps({ interfaceId: [eth1] })).toEqual(expected.toSpliced(1, 1));
    expect(await gaps({ metrics: ['out'] })).toEqual(expected);
    expect(await gaps({ metrics: ['rtt'] })).toEqual(ofPing);
    now = START + 2 * DAY;
    await everything();
    expect(await gaps({})).toEqual(expected);
    expect(await gaps({ metrics: ['rtt'] })).toEqual(ofPing);
    expect(await gaps({ step: 300 })).toEqual([[-5, 0, 'not-monitored'], ...expected.slice(-2)]);
  });

  it('says no utilisation above the speed, nor of a speed that says nothing', async () => {
    const utilisation = () =>
      valuesOf({ metrics: ['inUtilisation'], from: at(START), to: at(now), step: 60 });
    // Carried before the speed fell.
    await store(minute(START + 60_000, 15_000_000));
    expect(await utilisation()).toEqual([100]);
    await db.query('UPDATE interfaces SET speed_bps = 9000 WHERE site_id = $1::uuid', [siteId]);
    await store(minute(START + 120_000, 75_000));
    expect(await utilisation()).toEqual([100, null]);
  });

  it('answers several devices and interfaces at once, also as a file', async () => {
    const other = uuidv7();
    await db.query(
      `INSERT INTO devices (site_id, id, name, class, first_seen) VALUES ($1::uuid, $2::uuid, 'other', 'switch', now())`,
      [siteId, other],
    );
    await store(
      minute(START + 60_000, 75_000),
      minute(START + 60_000, null, { deviceId: other, ports: undefined }),
    );
    const query = { deviceId: [deviceId, other], from: at(START), to: at(START) + 120, step: 60 };
    const asked = { ...query, metrics: ['rtt', 'in'] as const, interfaceId: [ports.eth1, ports.eth0] };
    now = START + DAY;
    const data = await read(asked as never);
    expect(
      data.series.map(({ deviceName, interfaceName, metric, values }) => [
        deviceName,
        interfaceName,
        metric,
        values[0],
      ]),
    ).toEqual([
      ['sw', null, 'rtt', 2],
      ['sw', 'eth0', 'in', 10_000],
      ['sw', 'eth1', 'in', 0],
      ['other', null, 'rtt', 2],
    ]);
    const lines = [...csvOf(data)];
    expect(lines).toHaveLength(1 + 4 * 2);
    expect(lines.slice(0, 4)).toEqual([
      'from,to,device,interface,sensor,metric,unit,value,notMeasured\r\n',
      '2026-11-20T00:00:00.000Z,2026-11-20T00:01:00.000Z,sw,,,rtt,ms,2,\r\n',
      '2026-11-20T00:01:00.000Z,2026-11-20T00:02:00.000Z,sw,,,rtt,ms,,the device was not monitored\r\n',
      '2026-11-20T00:00:00.000Z,2026-11-20T00:01:00.000Z,sw,eth0,,in,bit/s,10000,\r\n',
    ]);
    await expect(read({ ...asked, deviceId: [deviceId, uuidv7()] } as never)).rejects.toThrow('device');
    await expect(read({ ...asked, deviceId: [other] } as never)).rejects.toThrow('interface');
  });

  it('says how often a slow agent is read', async () => {
    await store(minute(START + 60_000, 75_000));
    const readings = async () => (await read({ from: at(START), step: 60 })).readings;
    expect(await readings()).toEqual([{ deviceId, askedSeconds: 60, everySeconds: 60 }]);
    await store(minute(START + 180_000, 75_000, { lagMs: 60_000, overMs: 120_000 }));
    expect(await readings()).toEqual([{ deviceId, askedSeconds: 60, everySeconds: 120 }]);
    now += HOUR;
    expect(await readings()).toEqual([]);
  });

  it('answers all interfaces where none is named, and the device itself', async () => {
    await store(minute(START + 60_000, 75_000));
    const { series } = await read({
      interfaceId: undefined,
      metrics: ['in', 'out', 'inUtilisation', 'rtt', 'rttMin', 'loss'],
      from: at(START),
      to: at(START) + 60,
      step: 60,
    });
    expect(series.map(({ interfaceName, metric, values }) => [interfaceName, metric, ...values])).toEqual([
      ['eth0', 'in', 10_000],
      ['eth1', 'in', 0],
      ['eth0', 'out', 1000],
      ['eth1', 'out', null],
      ['eth0', 'inUtilisation', 1],
      ['eth1', 'inUtilisation', 0],
      [null, 'rtt', 2],
      [null, 'rttMin', 1],
      [null, 'loss', 25],
    ]);
  });

  it('follows an interface by its name when ifIndex moves', async () => {
    const moved = { ifIndex: [2, 1], name: ['eth0', 'eth1'], inOctets: [75_000, 1] };
    await store(minute(START + 60_000, 75_000), minute(START + 120_000, 0, { ports: moved }));
    expect(await valuesOf({ from: at(START), to: at(START) + 120, step: 60 })).toEqual([10_000, 10_000]);
  });

  it('stores a sample once, and none of a device that is no more or of nonsense times', async () => {
    await store(minute(START + 60_000, 75_000));
    await store(minute(START + 60_000, 75_000));
    const gone = minute(START + 60_000, 1, { deviceId: uuidv7() });
    const [tomorrow, late, again] = [now + DAY, now - 15 * DAY, START + 60_000].map((at) => minute(at, 1));
    const { refused } = await db.transaction((sql) =>
      storeSamples(
        sql,
        [gone, tomorrow, late, again].flatMap((one) => one ?? []),
        {
          siteId,
          collectorId: siteId,
          now,
          toEngine: false,
          sampleDays: 14,
          readPresent,
        },
      ),
    );
    expect(refused).toEqual([tomorrow, late, again]);
    expect(await rows('samples')).toBe(1);
  });

  /** A second record with a port `eth0` of its own, ifIndex 7. */
  async function secondRecord() {
    const [other, port] = [uuidv7(), uuidv7()];
    const add = () =>
      insert(db, 'devices', [
        {
          ...{ site_id: siteId, id: other, name: 'again', address: '10.0.0.9' },
          ...{ class: 'switch', first_seen: new Date() },
        },
      ]);
    await add();
    await insert(db, 'interfaces', [
      {
        ...{ site_id: siteId, id: port, device_id: other, if_index: 7, name: 'eth0', speed_bps: 1_000_000 },
        ...{ first_seen: new Date(), last_seen: new Date() },
      },
    ]);
    const ofOther = { deviceId: other, ports: { ifIndex: [7], name: ['eth0'], inOctets: [15_000] } };
    const merge = () => db.transaction((sql) => absorbInto(sql, siteId, [{ from: other, into: deviceId }]));
    return { other, port, add, ofOther, merge };
  }

  it('is one line for a port whose device two records proved to be, rolled up or not', async () => {
    const { other, ofOther, merge } = await secondRecord();
    await store(minute(START + MINUTE, 7500));
    await store(minute(START + 2 * HOUR, 0, ofOther));
    await store(
      minute(START - 30 * MINUTE, 0, { deviceId: other, ping: undefined, ports: undefined, lagMs: 1000 }),
    );
    now = START + 2 * HOUR + 30 * MINUTE;
    await everything();
    await store(minute(START + 3 * HOUR, 0, ofOther));
    await merge();
    const hours = { from: at(START), to: at(START + 3 * HOUR), step: 3600 };
    expect(await valuesOf(hours)).toEqual([1000, 2000, 2000]);
    now = START + 2 * DAY;
    await everything();
    expect(await valuesOf(hours)).toEqual([1000, 2000, 2000]);
  });

  it('keeps the summary of the oldest day, of which samples are deleted already, whatever is merged', async () => {
    const { ofOther, merge } = await secondRecord();
    // Older than anything of other tests: the oldest day is of all that is stored.
    const oldest = START - 300 * DAY;
    now = oldest;
    await store(minute(oldest + MINUTE, 7500));
    await store(minute(oldest + 5 * HOUR, 7500));
    await store(minute(oldest + 6 * HOUR, 0, ofOther));
    now = oldest + DAY + 6 * HOUR;
    await everything();
    await db.query(
      'DELETE FROM sample_chunks WHERE site_id = $1::uuid AND step = 0 AND begins < to_timestamp($2)',
      [siteId, at(oldest + 4 * HOUR)],
    );
    await merge();
    await everything();
    expect((await valuesOf({ from: at(oldest), to: at(oldest + 6 * HOUR), step: 3600 }))?.[0]).toBe(1000);
    // Nor is it the oldest of other tests.
    await db.query('DELETE FROM sample_chunks WHERE site_id = $1::uuid', [siteId]);
  });

  it('goes back with a record that is split off again: two lines as they were', async () => {
    const { other, port, add, ofOther, merge } = await secondRecord();
    // The first day is of both, the second of the other alone, the third not rolled up.
    await store(minute(START - DAY, 7500));
    await store(minute(START + MINUTE, 7500), minute(START + 2 * HOUR, 0, ofOther));
    await store(minute(START + DAY + HOUR, 0, ofOther));
    now = START + 2 * DAY + 6 * HOUR;
    await everything();
    await store(minute(now + MINUTE, 7500), minute(now + 2 * MINUTE, 0, ofOther));
    const to = now;
    const line = (query: object = {}) =>
      Promise.all([
        valuesOf({ from: at(START), to: at(START + 2 * DAY), step: 3600, ...query }),
        valuesOf({ from: at(START), to: at(START + 2 * DAY), step: 86_400, ...query }),
        valuesOf({ from: at(to) - 120, to: at(to), step: 60, ...query }),
      ]);
    const lines = async () => [await line(), await line({ deviceId: [other], interfaceId: [port] })];
    const before = await lines();
    expect(before.map(([, , minutes]) => minutes)).toEqual([
      [1000, null],
      [null, 2000],
    ]);
    const [moved] = await merge();
    expect((await line())[2]).toEqual([1000, 2000]);
    await everything();
    expect((await line())[1]).toEqual([(1000 + 2000) / 2, 2000]);
    await add();
    await db.transaction((sql) =>
      returnMeasurements(sql, siteId, { from: deviceId, into: other }, JSON.parse(JSON.stringify(moved))),
    );
    expect(await lines()).toEqual(before);
    await everything();
    expect(await lines()).toEqual(before);
  });

  it('takes what comes late of a record that was merged as measured of its receiver, and says what it refuses', async () => {
    const merged = uuidv7();
    await insert(db, 'merged_devices', [{ site_id: siteId, id: merged, into_id: deviceId }]);
    await store(minute(START + 60_000, 75_000));
    await store(minute(START + 120_000, 150_000, { deviceId: merged }));
    expect(await valuesOf({ from: at(START), to: at(START) + 120, step: 60 })).toEqual([10_000, 20_000]);
    const again = minute(START + 120_000, 1, { deviceId: merged });
    const { refused } = await store(again);
    expect(refused).toEqual([again]);
    expect(refused[0]).toBe(again);
  });

  it('answers the same before and after it rolls up hours and days, and late samples too', async () => {
    const day = Array.from({ length: 26 * 60 }, (_, i) =>
      minute(START + (i + 1) * 60_000, 75_000 * (1 + (i % 3))),
    );
    const late = day.splice(100, 5);
    await store(...day);
    await everything();
    const window = { from: at(START), to: at(START + DAY), step: 60 };
    const before = await valuesOf(window);
    now = START + 2 * DAY;
    await everything();
    expect([await rows('samples'), await rows('sample_chunks')]).toEqual([0, 26 + 2]);
    expect(await valuesOf(window)).toEqual(before);
    expect((before ?? []).slice(99, 106)).toEqual([10_000, null, null, null, null, null, 10_000]);
    await store(...late);
    const whole = await valuesOf(window);
    expect(whole?.every((value) => value !== null)).toBe(true);
    await everything();
    expect(await valuesOf(window)).toEqual(whole);
    // Every step of five minutes and of an hour holds as much of each of the three rates.
    const hours = await valuesOf({ ...window, step: 3600 });
    expect(hours).toHaveLength(24);
    for (const value of hours ?? []) expect(value).toBeCloseTo(20_000, 0);
    expect(await valuesOf({ ...window, step: 3600, aggregate: 'max' })).toEqual(hours?.map(() => 30_000));
  });

  it('answers a year out of values of a day, and late samples open their month again', async () => {
    const hourly = { overMs: 900_000 };
    for (let day = 0; day < 40; day++) {
      const octets = 1_125_000 * (1 + (day % 2));
      await store(...[1, 2, 3].map((hour) => minute(START + day * DAY + hour * HOUR, octets, hourly)));
      await everything();
    }
    const days = { from: at(START), to: at(START + 365 * DAY), step: 86_400 };
    const year = { ...days, metrics: ['in', 'out'] as const };
    const values = async (query: object) => ((await valuesOf(query as never)) ?? []).slice(0, 40);
    const stepsOf = () =>
      db.query(
        `SELECT step, count(*)::int AS n FROM sample_chunks WHERE site_id = $1 AND step >= 3600 GROUP BY 1 ORDER BY 1`,
        [siteId],
      );
    const expected = Array.from({ length: 40 }, (_, day) => 10_000 * (1 + (day % 2)));
    expect(await values(year)).toEqual(expected);
    now = START + 70 * DAY;
    await everything();
    expect(await stepsOf()).toEqual([
      { step: 3600, n: 40 },
      { step: 86_400, n: 2 },
    ]);
    expect(await values(year)).toEqual(expected);
    expect(await values({ ...year, aggregate: 'max' })).toEqual(expected);
  });

  it('answers minimum, maximum and 95th percentile of the samples, before and after they are summarised', async () => {
    await store(...Array.from({ length: 60 }, (_, i) => minute(START + (i + 1) * 60_000, 7500 * (i + 1))));
    const values = async () => {
      const all = [];
      for (const aggregate of ['min', 'avg', 'max', 'p95'] as const)
        for (const step of [300, 3600])
          all.push((await valuesOf({ from: at(START), to: at(START) + 3600, step, aggregate }))?.at(-1));
      return all;
    };
    const expected = [56_000, 1000, 58_000, 30_500, 60_000, 60_000, 60_000, 57_000];
    expect(await values()).toEqual(expected);
    now = START + 2 * DAY;
    await everything();
    expect(await values()).toEqual(expected);
  });

  it('bills by means of 5 minutes, however long the steps are', async () => {
    const minutes = Array.from({ length: 120 }, (_, i) =>
      minute(START + (i + 1) * 60_000, i < 10 ? 750_000 : 0),
    );
    await store(...minutes);
    now = START + 2 * DAY;
    await everything();
    // 2 of 24 means are full: the 23rd of them.
    const billed = async (step: number) =>
      (await read({ from: at(START), to: at(START) + 7200, step })).series[0]?.p95;
    expect([await billed(300), await billed(3600), await billed(7200)]).toEqual([100_000, 100_000, 100_000]);
  });

  it('forgets samples after two weeks, and keeps their summaries', async () => {
    await store(...Array.from({ length: 60 }, (_, i) => minute(START + (i + 1) * 60_000, 75_000)));
    now = START + 2 * DAY;
    await everything();
    now = START + 20 * DAY;
    await forgetChunks({ db, clock, log, days });
    expect(await rows('sample_chunks')).toBe(2);
    const window = { from: at(START), to: at(START) + 3600 };
    expect(await valuesOf({ ...window, step: 60 })).toEqual(Array.from({ length: 60 }, () => 10_000));
    now = START + 100 * DAY;
    await forgetChunks({ db, clock, log, days });
    expect(await rows('sample_chunks')).toBe(1);
    expect(await valuesOf({ ...window, step: 3600 })).toEqual([10_000]);
  });

  it('keeps each as long as is set, and reads what is still there', async () => {
    await store(...Array.from({ length: 60 }, (_, i) => minute(START + (i + 1) * 60_000, 75_000)));
    now = START + 2 * DAY;
    await everything();
    days = { samples: 3, fiveMinutes: 5, hours: 7 };
    const window = { from: at(START), to: at(START) + 3600 };
    const kept: [number, number][] = [];
    for (const day of [2.9, 3.1, 5.1, 7.1]) {
      now = START + day * DAY;
      await forgetChunks({ db, clock, log, days });
      const values = (await valuesOf({ ...window, step: day < 5 ? 60 : 3600 })) ?? [];
      kept.push([(await rows('sample_chunks')) ?? 0, values.filter((value) => value === 10_000).length]);
    }
    expect(kept).toEqual([
      [3, 60],
      [2, 60],
      [1, 1],
      [0, 0],
    ]);
  });

  it('rolls up a device although another’s cannot be', async () => {
    const broken = uuidv7();
    await db.query(
      `INSERT INTO devices (site_id, id, name, first_seen) VALUES ($1::uuid, $2::uuid, 'broken', now())`,
      [siteId, broken],
    );
    await db.query(
      `INSERT INTO samples (site_id, device_id, at, part, over_ms, data) VALUES ($1::uuid, $2::uuid, $3, -1, 1, 'null')`,
      [siteId, broken, new Date(START + 1000)],
    );
    await store(minute(START + 60_000, 75_000));
    now = START + 2 * HOUR;
    logged.length = 0;
    await everything();
    expect([await rows('samples'), await rows('sample_chunks')]).toEqual([1, 1]);
    expect(logged).toMatchObject([{ deviceId: broken }, { deviceId: broken }]);
    await db.query('DELETE FROM devices WHERE id = $1::uuid', [broken]);
  });

  it('goes with its device', async () => {
    await store(minute(START + 60_000, 1));
    now = START + 2 * HOUR;
    await everything();
    await store(minute(now, 1));
    await db.query('DELETE FROM devices WHERE site_id = $1::uuid', [siteId]);
    expect([await rows('samples'), await rows('sample_chunks')]).toEqual([0, 0]);
  });

  it.each([
    [{ from: 100, to: 100 }, '`from` must be before `to`'],
    [{ from: 0, to: 86_400 * 30, step: 60 }, 'more than 2000'],
  ])('says what is wrong with %j', async (query, message) => {
    await expect(read(query)).rejects.toThrow(message);
  });

  it('tells the 95th percentile of what it has means of 5 minutes of, of a year none', async () => {
    await store(minute(START + 60_000, 75_000));
    const p95 = async (days: number) =>
      (await read({ from: at(now - days * DAY), to: at(now) })).series[0]?.p95;
    expect([await p95(80), await p95(365)]).toEqual([10_000, null]);
  });

  it('knows only devices and interfaces in scope', async () => {
    await expect(
      readMeasurements(
        db,
        { deviceId: [deviceId], metrics: ['rtt'], aggregate: 'avg' },
        { scope: [uuidv7()], now, days },
      ),
    ).rejects.toThrow('device');
    await expect(read({ interfaceId: [uuidv7()] })).rejects.toThrow('interface');
  });

  it('says where they cross the thresholds of the site, of monitored devices only', async () => {
    const changes = async (at: number, octets: number) =>
      (await store(minute(at, octets))).changes.map(({ kind, ...change }) => [
        kind,
        'after' in change ? change.after : null,
      ]);
    const monitor = (on: boolean) =>
      db.query('UPDATE devices SET monitor = $2 WHERE site_id = $1::uuid', [siteId, on]);
    await monitor(false);
    expect(await changes(START + 60_000, 7_500_000)).toEqual([]);
    await monitor(true);
    expect(await changes(START + 120_000, 7_500_000)).toEqual([
      ['measured.above', { of: 'loss', value: 25, limit: 20 }],
      ['measured.above', { of: 'utilisation', value: 100, limit: 95 }],
    ]);
    await db.query(
      `UPDATE sites SET settings = '{"thresholds": {"utilisation": 0, "loss": 50}}' WHERE id = $1::uuid`,
      [siteId],
    );
    expect(await changes(START + 180_000, 7_500_000)).toEqual([]);
  });

  it('are told to Prometheus in base units, by names that keep its conventions', async () => {
    await db.query(`UPDATE interfaces SET name = 'Gi"1\\2' WHERE site_id = $1::uuid AND if_index = 1`, [
      siteId,
    ]);
    await store(minute(START + 60_000, 75_000));
    const page = await text([siteId]);
    const device = `site="${siteId}",device="sw",device_id="${deviceId}"`;
    expect(page).toContain(`rollcall_device_rtt_seconds{${device}} 0.002\n`);
    expect(page).toContain(`rollcall_device_ping_loss_ratio{${device}} 0.25\n`);
    expect(page).toContain(
      `rollcall_interface_receive_bytes_per_second{${device},interface="Gi\\"1\\\\2",interface_id="${ports.eth0}"} 1250\n`,
    );
    expect(page.endsWith('# EOF\n')).toBe(true);
    expect(brokenConventions(page)).toEqual([]);
    expect(await text([uuidv7()])).not.toContain('{');
  });

  it('are told of any number of devices, a page of them at a time, each family together', async () => {
    const other = uuidv7();
    await db.query(
      `INSERT INTO devices (site_id, id, name, monitor, first_seen)
       VALUES ($1::uuid, $2::uuid, 'other', true, now()), ($1::uuid, $3::uuid, 'never', true, now())`,
      [siteId, other, uuidv7()],
    );
    await store(
      minute(START + 60_000, 75_000),
      minute(START + 60_000, 1, { deviceId: other, ports: undefined }),
    );
    const whole = await text([siteId]);
    expect(whole.match(/^rollcall_device_rtt_seconds\{.*$/gm)).toHaveLength(2);
    expect(await text([siteId], 1)).toBe(whole);
    const pieces = await Readable.from(currentText(db, { scope: [siteId], now, page: 1 })).toArray();
    for (const piece of pieces)
      expect(piece.match(/^rollcall_device_rtt_seconds\{/gm) ?? []).toHaveLength(
        piece.startsWith('rollcall_device_rtt_seconds{') ? 1 : 0,
      );
  });

  it('ranks the last measurements', async () => {
    await store(minute(START + 60_000, 900_000), minute(START + 120_000, 75_000));
    const top = (metric: 'in' | 'inUtilisation' | 'loss') =>
      readTop(db, { metric, limit: 5 }, { scope: [siteId], now });
    expect(await top('in')).toMatchObject([
      { deviceName: 'sw', interfaceName: 'eth0', value: 10_000, unit: 'bit/s', at: at(START) + 120 },
    ]);
    expect(await top('loss')).toMatchObject([{ interfaceName: null, value: 25, unit: '%' }]);
    now += 3 * 60_000 - 1;
    expect(await top('in')).toHaveLength(1);
    now += 1;
    expect(await top('in')).toEqual([]);
  });

  it('takes the last measurement for now during three intervals of its device, over the end of an hour too', async () => {
    const end = START + HOUR - 60_000;
    await store(minute(end, 75_000 * 15, { overMs: 900_000 }));
    const top = () => readTop(db, { metric: 'in', limit: 5 }, { scope: [siteId], now });
    now = end + 44 * 60_000;
    await everything();
    expect(await top()).toMatchObject([{ interfaceName: 'eth0', value: 10_000 }]);
    expect(await text([siteId])).toContain('rollcall_interface_receive_bytes_per_second{');
    now = end + 45 * 60_000;
    expect([await top(), await text([siteId])]).toEqual([[], expect.not.stringContaining('{')]);
    await everything();
    expect(await rows('samples')).toBe(0);
  });

  it('takes what a site asks for as the interval where a reading came early', async () => {
    await db.query(`UPDATE sites SET settings = '{"watchSnmpSeconds": 900}' WHERE id = $1::uuid`, [siteId]);
    await store(minute(START + 60_000, 75_000, { overMs: 5_000 }));
    now += 40 * 60_000;
    expect(await readTop(db, { metric: 'in', limit: 5 }, { scope: [siteId], now })).toHaveLength(1);
  });

  it('ranks a device once, though its pings came without a reading last', async () => {
    await store(minute(START + 60_000, 75_000));
    await store(minute(START + 120_000, null, { ports: undefined, ping: { sent: 4, lost: 2 } }));
    const top = (metric: 'in' | 'loss') => readTop(db, { metric, limit: 5 }, { scope: [siteId], now });
    expect(await top('loss')).toMatchObject([{ value: 50 }]);
    expect(await top('in')).toHaveLength(1);
  });

  it('tells the last measurements of what is monitored, and of nothing else', async () => {
    await store(minute(START + 60_000, 75_000));
    const told = async () => [
      (await readTop(db, { metric: 'in', limit: 5 }, { scope: [siteId], now })).length,
      (await text([siteId])).includes('rollcall_device_rtt_seconds{'),
    ];
    expect(await told()).toEqual([1, true]);
    await db.query('UPDATE devices SET monitor = false WHERE id = $1::uuid', [deviceId]);
    expect(await told()).toEqual([0, false]);
  });

  it('ranks what the filters of the list of devices choose', async () => {
    await db.query(
      `UPDATE devices SET search_text = 'sw 10.0.0.1', tags = '{berlin}', own_text = 'berlin' WHERE id = $1::uuid`,
      [deviceId],
    );
    await store(minute(START + 60_000, 75_000));
    const found = async (more: object) =>
      (await readTop(db, { metric: 'in', limit: 5, ...more }, { scope: [siteId], now })).length;
    const asked = [{ search: '10.0.0' }, { search: 'Berlin' }, { search: 'x' }, { class: ['switch'] }];
    expect(await Promise.all(asked.map(found))).toEqual([1, 1, 0, 1]);
    expect(await found({ class: ['router'] as never })).toBe(0);
  });

  it('ranks errors and discards of both directions together', async () => {
    const counted = {
      inErrors: [60, 0],
      outErrors: [60, null],
      inDiscards: [120, 0],
      outDiscards: [0, null],
    };
    const ports = { ifIndex: [1, 2], name: ['eth0', 'eth1'], ...counted };
    await store(minute(START + 60_000, 0, { ports }));
    expect(await readTop(db, { metric: 'errors', limit: 5 }, { scope: [siteId], now })).toMatchObject([
      { interfaceName: 'eth0', value: 4, unit: '1/s' },
    ]);
  });

  it('ranks as all values side by side are ranked', async () => {
    const random = randomOf(26);
    const some = Array.from({ length: 30 }, () => uuidv7());
    for (const [i, id] of some.entries()) {
      await db.query(
        `INSERT INTO devices (site_id, id, name, monitor, first_seen) VALUES ($1::uuid, $2::uuid, $3, true, now())`,
        // Names repeat, and so do values: their order is part of the answer.
        [siteId, id, `sw-${i % 7}`],
      );
      for (const port of [1, 2, 3])
        await db.query(
          `INSERT INTO interfaces (site_id, id, device_id, if_index, name, speed_bps, first_seen, last_seen)
           VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5, 1000000, now(), now())`,
          [siteId, uuidv7(), id, port, `eth${port}`],
        );
    }
    const few = () => (random() < 0.2 ? null : Math.floor(random() * 4) * 75_000);
    // A reading of many interfaces comes in parts, the last of a device is an older one of some.
    const reading = (at: number, deviceId: string, of: number[]) =>
      minute(at, 0, {
        deviceId,
        ping: { sent: 4, lost: Math.floor(random() * 5) },
        ports: {
          ifIndex: of,
          name: of.map((port) => `eth${port}`),
          inOctets: of.map(few),
          inErrors: of.map(few),
        },
      });
    for (const id of some) {
      await store(reading(START + 60_000, id, [1, 2]), reading(START + 60_000, id, [3]));
      if (random() < 0.5)
        await store(reading(START + 120_000, id, [1, 2]), reading(START + 120_000, id, [3]));
    }
    for (const metric of ['in', 'inUtilisation', 'errors', 'loss', 'out'] as const) {
      const of = metric === 'loss' ? 'device' : 'interface';
      const all = (await lastValues(db, metric, { of, scope: [siteId], now }))
        .filter(({ value }) => value > 0)
        .map(({ value, deviceName }) => ({ value, deviceName }))
        .sort((a, b) => b.value - a.value || (a.deviceName < b.deviceName ? -1 : 1));
      for (const limit of [1, 7, 20, 500]) {
        const top = await readTop(db, { metric, limit }, { scope: [siteId], now });
        expect(top.map(({ value, deviceName }) => ({ value, deviceName }))).toEqual(all.slice(0, limit));
      }
    }
  });
});
