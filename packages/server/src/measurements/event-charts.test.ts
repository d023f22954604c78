import type { MetricQuery } from '@rollcall/shared/api/measurements';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readPresent } from '../incidents/conditions/store.ts';
import type { Scope } from '../platform/db/list.ts';
import { METRIC_DAYS } from '../platform/ops/config.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { Scene } from '../testing/incident-scene.ts';
import { keepEventCharts, readEventChart } from './event-charts.ts';
import { readMeasurements } from './read.ts';
import { storeSamples } from './samples.ts';

afterAll(closeDatabases);

const MIN = 60_000;

describe.each(databases())('the chart of an event, on %s', (_name, open) => {
  const scene = new Scene();
  let begins = 0;
  beforeEach(async () => {
    await scene.begin(open);
    await scene.network(['branch']);
    begins = scene.now;
  });

  /** A minute in which so many of ten pings stay without an answer. */
  const minute = async (i: number, lost: number) => {
    const at = begins + (i + 1) * MIN;
    scene.now = at;
    const deviceId = scene.devices.get('branch') ?? uuidv7();
    const ping = { sent: 10, lost, avgMs: 20 };
    await scene.db.transaction(async (sql) => {
      const { changes } = await storeSamples(
        sql,
        [{ at, observation: { kind: 'samples', at, deviceId, overMs: MIN, ping } }],
        {
          ...{ siteId: scene.site, collectorId: scene.site, now: at },
          ...{ toEngine: false, sampleDays: 14, readPresent },
        },
      );
      await scene.recorder.recordChanges(sql, changes);
    });
    await scene.recorder.evaluateDue();
  };
  const read = (query: MetricQuery, scope: Scope) =>
    readMeasurements(scene.db, query, { scope, now: scene.now, days: METRIC_DAYS });
  const keep = () => keepEventCharts(scene.db, scene.clock, read);
  const chartOf = (id: string, scope: Scope = null) => readEventChart(scene.db, { id, scope, read });
  const forgetSamples = () => scene.db.query('DELETE FROM samples WHERE site_id = $1', [scene.site]);
  const raised = async () => (await scene.events()).find(({ kind }) => kind === 'device.loss')?.id ?? '';

  it('has what was measured before and after it, and keeps it when the measurements are forgotten', async () => {
    for (let i = 0; i < 20; i++) await minute(i, 0);
    for (let i = 20; i < 30; i++) await minute(i, 5);
    const id = await raised();
    const early = await chartOf(id);
    expect(early).toMatchObject({ step: 60, limit: 20, to: early.from + 3600 });
    expect(early.series).toMatchObject([{ metric: 'loss', unit: '%' }]);
    expect(early.series[0]?.values.filter((value) => value === 50)).toHaveLength(10);
    // What follows is not there yet.
    expect(await keep()).toBe(0);
    for (let i = 30; i < 60; i++) await minute(i, 0);
    const whole = await chartOf(id);
    expect(whole.series[0]?.values).toHaveLength(60);
    expect(await keep()).toBe(1);
    expect(await keep()).toBe(0);
    await forgetSamples();
    expect(await chartOf(id)).toEqual(whole);
    expect(whole.series[0]?.values.at(-1)).toBe(0);
  });

  it('is kept although that of another event cannot be drawn, which is tried again', async () => {
    for (let i = 0; i < 60; i++) await minute(i, i < 10 ? 5 : 0);
    const broken: typeof read = () => Promise.reject(new Error('damaged'));
    await expect(keepEventCharts(scene.db, scene.clock, broken)).rejects.toThrow('1 of 1 charts');
    expect(await keep()).toBe(0);
    scene.now += 11 * MIN;
    expect(await keep()).toBe(1);
  });

  it('is that of what flaps, and goes with the event', async () => {
    for (let i = 0; i < 120; i++) await minute(i, i % 12 < 6 ? 5 : 0);
    const flapping = (await scene.events()).find(({ kind }) => kind === 'flapping');
    const { series } = await chartOf(flapping?.id ?? '');
    expect(series.map(({ metric }) => metric)).toEqual(['loss']);
    await scene.db.query('DELETE FROM events WHERE site_id = $1', [scene.site]);
    const left = await scene.db.query('SELECT 1 FROM event_charts WHERE site_id = $1', [scene.site]);
    expect(left).toEqual([]);
  });

  it('is none of an event without values, of a device that is no more, or of another site', async () => {
    for (let i = 0; i < 10; i++) await minute(i, 5);
    const id = await raised();
    await expect(chartOf(id, [uuidv7()])).rejects.toThrow('event');
    await scene.db.query('DELETE FROM devices WHERE site_id = $1', [scene.site]);
    expect((await chartOf(id)).series).toEqual([]);
    await scene.network(['other']);
    await scene.tell(scene.down('other'));
    await scene.wait(300);
    const down = (await scene.events()).find(({ kind }) => kind === 'device.down');
    expect((await chartOf(down?.id ?? '')).series).toEqual([]);
  });
});
