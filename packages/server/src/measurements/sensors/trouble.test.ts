import type { SensorReading } from '@rollcall/shared/sensors';
import { describe, expect, it } from 'vitest';
import type { SensorTrouble } from '../../changes.ts';
import type { JudgedSensor } from './store.ts';
import { peerOf, sensorChanges, troubleOf } from './trouble.ts';

const judged = (reading: Partial<SensorReading>, more: Partial<JudgedSensor> = {}): JudgedSensor => ({
  ...{ id: 's', deviceId: 'd', at: 1, healthSince: 1, isNew: true, aboveSince: null },
  ...{ health: 'critical', reason: 'state: failed', ...more },
  reading: { key: '1', name: 'x', kind: 'state', ...reading },
});
const about = {
  siteId: 'a',
  collectorId: null,
  deviceId: 'd',
  deviceName: 'sw',
  address: null,
  monitor: true,
};

describe('trouble of sensors', () => {
  it.each<[Partial<SensorReading>, Partial<JudgedSensor>, SensorTrouble | null]>([
    [{ component: 'psu' }, {}, 'hardware.failed'],
    [{ component: 'psu' }, { health: 'warning' }, 'sensor.warning'],
    [{ component: 'psu' }, { health: 'ok' }, null],
    [{ component: 'psu' }, { health: 'unknown' }, null],
    [{ kind: 'temperature' }, {}, 'sensor.critical'],
    [{ kind: 'temperature' }, { health: 'warning' }, 'sensor.warning'],
    [{ kind: 'storage' }, { health: 'warning' }, 'storage.full'],
    [{ kind: 'memory' }, { health: 'warning' }, 'memory.full'],
    [{ kind: 'processor' }, { health: 'warning' }, 'processor.busy'],
    [{ component: 'battery' }, { reason: 'on battery' }, 'power.on-battery'],
    [{ component: 'session' }, {}, 'session.down'],
  ])('%j %j is %s', (reading, more, expected) => {
    expect(troubleOf(judged(reading, more))).toBe(expected);
  });

  it.each<[string, string, string | null]>([
    ['1.3.6.1.2.1.15.3.1.2.10.0.0.2', 'BGP', '10.0.0.2'],
    ['1.3.6.1.2.1.14.10.1.6.192.0.2.1.0', 'OSPF', '192.0.2.1'],
    ['1.3.6.1.4.1.9.9.187.1.2.5.1.3.1.4.10.0.0.2', 'BGP 10.0.0.2', '10.0.0.2'],
    ['1.2.3', 'BGP peer 2001:0db8:0000:0000:0000:0000:0000:0009 AS 65009', '2001:db8::9'],
    ['1.2.3', 'BGP 300.1.1.1', null],
    ['1.2.3', 'peer', null],
  ])('the far end of %s %s is %s', (key, name, expected) => {
    expect(peerOf({ key, name, kind: 'state' })).toBe(expected);
  });

  it('tells trouble once, another sort of it anew, and its end', () => {
    const tell = (one: JudgedSensor[], present: SensorTrouble[], gone: string[] = []) =>
      sensorChanges(about, { judged: one, gone, at: 2 }, () => new Set(present)).map(({ kind }) => kind);
    const failed = judged({ component: 'psu' });
    expect(tell([failed], [])).toEqual(['sensor.unhealthy']);
    expect(tell([failed], ['hardware.failed'])).toEqual([]);
    expect(tell([failed], ['sensor.warning'])).toEqual(['sensor.unhealthy']);
    expect(tell([{ ...failed, health: 'ok' }], ['hardware.failed'])).toEqual(['sensor.healthy']);
    expect(tell([{ ...failed, health: 'ok' }], [])).toEqual([]);
    expect(tell([], ['hardware.failed'], ['s'])).toEqual(['sensor.healthy']);
  });
});
