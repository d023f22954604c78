import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readPresent } from '../incidents/conditions/store.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { Scene } from '../testing/incident-scene.ts';
import { insert, SEEN } from '../testing/rows.ts';
import { rollUp } from './rollup.ts';
import { storeSamples } from './samples.ts';

afterAll(closeDatabases);

const MIN = 60_000;
const HOUR = 60 * MIN;
const WEEK = 168 * HOUR;

describe.each(databases())('what is usual of a device, on %s', (_name, open) => {
  const scene = new Scene();
  let begins = 0;
  beforeEach(async () => {
    await scene.begin(open);
    await scene.network(['far']);
    begins = scene.now;
  });

  /** Minutes with this round trip. */
  const minutes = (rtt: number, from: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const at = from + (i + 1) * MIN;
      const deviceId = scene.devices.get('far') ?? uuidv7();
      const ping = { sent: 4, lost: 0, avgMs: rtt };
      return { at, observation: { kind: 'samples' as const, at, deviceId, overMs: MIN, ping } };
    });
  const store = (measured: Parameters<typeof storeSamples>[1]) => {
    scene.now = Math.max(...measured.map(({ at }) => at));
    const context = {
      ...{
        siteId: scene.site,
        collectorId: scene.site,
        now: scene.now,
        toEngine: false,
        sampleDays: 14,
        readPresent,
      },
    };
    return scene.db.transaction(async (sql) => {
      const { changes } = await storeSamples(sql, measured, context);
      await scene.recorder.recordChanges(sql, changes);
    });
  };
  /** One after the other; what is due in between happens. */
  const measure = async (rtt: number, { from, count }: { from: number; count: number }) => {
    for (const one of minutes(rtt, from, count)) {
      await store([one]);
      await scene.recorder.evaluateDue();
    }
  };
  const learn = () => {
    scene.now += HOUR;
    return rollUp({ db: scene.db, clock: scene.clock, log: scene.log });
  };
  const told = async () => (await scene.events()).map(({ kind, status, message }) => [kind, status, message]);

  it('is known after a week: then a long way round is an event, until it is over', async () => {
    await store(minutes(40, begins, 60));
    // Three times as long is nothing while nobody knows what is usual.
    await store(minutes(120, begins + HOUR, 60));
    await scene.recorder.evaluateDue();
    expect(await told()).toEqual([]);
    await learn();
    await measure(40, { from: begins + WEEK, count: 2 });
    expect(await told()).toEqual([]);
    await measure(300, { from: begins + WEEK + 10 * MIN, count: 7 });
    expect(await told()).toEqual([['device.latency', 0, 'far: round trip time 300 ms, more than 240 ms']]);
    await measure(45, { from: begins + WEEK + 20 * MIN, count: 1 });
    expect((await told()).map(([, status]) => status)).toEqual([2]);
  });

  it('is not what somebody said instead', async () => {
    await store(minutes(40, begins, 60));
    await learn();
    await scene.db.query(`UPDATE devices SET thresholds = '{"latency": 0}' WHERE site_id = $1`, [scene.site]);
    await measure(300, { from: begins + WEEK, count: 7 });
    expect(await told()).toEqual([]);
  });

  it('is traffic of an interface: that it stops while the interface is up is an event, until it is back', async () => {
    const id = uuidv7();
    const deviceId = scene.devices.get('far') ?? uuidv7();
    const port = { id, site_id: scene.site, device_id: deviceId, if_index: 1, name: 'eth0', oper_status: 1 };
    await insert(scene.db, 'interfaces', [{ ...port, first_seen: SEEN, last_seen: SEEN }]);
    /** Minutes with so many packets each. */
    const carries = async (packets: number, from: number, count: number) => {
      for (let i = 1; i <= count; i++) {
        const at = from + i * MIN;
        const ports = { ifIndex: [1], name: ['eth0'], inUnicast: [packets], outUnicast: [packets] };
        await store([{ at, observation: { kind: 'samples', at, deviceId, overMs: MIN, ports } }]);
        await scene.recorder.evaluateDue();
      }
    };
    const day = 24 * HOUR;
    // A night's backup is no usual traffic, nor is that of a day that is not over.
    await carries(3000, begins, 2);
    await learn();
    await carries(0, begins + 2 * HOUR, 20);
    await learn();
    for (let hour = 3; hour < 26; hour++) await carries(3000, begins + hour * HOUR, 1);
    // The last hour is over with the second.
    for (const _ of [1, 2]) await learn();
    await carries(0, begins + 26 * HOUR, 20);
    expect(await told()).toEqual([]);
    await learn();
    const later = begins + 2 * day;
    for (let hour = 0; hour < 24; hour++) await carries(3000, later + hour * HOUR, 1);
    for (const _ of [1, 2]) await learn();
    const from = later + day + HOUR;
    await carries(3000, from, 2);
    await carries(0, from + 2 * MIN, 15);
    expect(await told()).toEqual([]);
    await carries(0, from + 17 * MIN, 2);
    const message = 'eth0 of far: no traffic although it is up, usually at least 100 packets/s';
    expect(await told()).toEqual([['interface.no-traffic', 0, message]]);
    // An hour of it is not what is usual: the event stays.
    await learn();
    await carries(0, from + 2 * HOUR, 2);
    expect((await told()).map(([, status]) => status)).toEqual([0]);
    await carries(1, from + 2 * HOUR + 2 * MIN, 1);
    expect((await told()).map(([, status]) => status)).toEqual([2]);
  });
});
