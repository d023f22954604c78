import type { SensorReading } from '@rollcall/shared/sensors';
import { describe, expect, it } from 'vitest';
import { type Before, judge } from './judge.ts';

const MIN = 60_000;
const NOW = 100 * MIN;
type Case = [string, Partial<SensorReading>, Before | null, string, string];
const was = (health: Before['health'], aboveSince: number | null = null): Before => ({ health, aboveSince });
const limits = { low: 5, lowWarning: 10, highWarning: 60, high: 70 };

describe('judge', () => {
  it.each<Case>([
    [
      'a state that says failed',
      { kind: 'state', component: 'psu', state: 'failed', status: 'critical' },
      null,
      'critical',
      'state: failed',
    ],
    [
      'a state that says ok',
      { kind: 'state', component: 'fan', state: 'normal', status: 'ok' },
      null,
      'ok',
      '',
    ],
    [
      'a UPS without mains',
      { kind: 'state', component: 'battery', state: 'battery', status: 'ok' },
      null,
      'critical',
      'on battery',
    ],
    [
      'a battery that is charged',
      { kind: 'state', component: 'battery', state: 'batteryNormal', status: 'ok' },
      null,
      'ok',
      '',
    ],
    ['between its limits', { kind: 'temperature', value: 40, limits }, null, 'ok', ''],
    ['at its limit', { kind: 'temperature', value: 70, limits: { high: 70 } }, null, 'ok', ''],
    [
      'above its warning limit',
      { kind: 'temperature', value: 61, limits },
      null,
      'warning',
      'above its warning limit of 60 °C',
    ],
    [
      'above its critical limit',
      { kind: 'temperature', value: 71, limits },
      null,
      'critical',
      'above its critical limit of 70 °C',
    ],
    [
      'below its warning limit',
      { kind: 'temperature', value: 9, limits },
      null,
      'warning',
      'below its warning limit of 10 °C',
    ],
    [
      'below its critical limit',
      { kind: 'signal-power', value: -30, limits: { low: -28 } },
      null,
      'critical',
      'below its critical limit of -28 dBm',
    ],
    [
      'just inside again',
      { kind: 'temperature', value: 69.5, limits },
      was('critical'),
      'critical',
      'above its critical limit of 70 °C',
    ],
    ['well inside again', { kind: 'temperature', value: 50, limits }, was('critical'), 'ok', ''],
    [
      'limits that are not filled in',
      { kind: 'voltage', value: 3.3, limits: { low: 0, high: 0 } },
      null,
      'unknown',
      'no limit and no condition stated',
    ],
    [
      'limits out of order',
      { kind: 'voltage', value: 3.3, limits: { low: 9, high: 1 } },
      null,
      'unknown',
      'no limit and no condition stated',
    ],
    [
      'a state worse than the limits',
      { kind: 'temperature', value: 40, limits, state: 'alarm', status: 'warning' },
      null,
      'warning',
      'state: alarm',
    ],
    [
      'limits worse than the state',
      { kind: 'temperature', value: 71, limits, state: 'ok', status: 'ok' },
      null,
      'critical',
      'above its critical limit of 70 °C',
    ],
    [
      'nothing to judge by',
      { kind: 'temperature', value: 40 },
      null,
      'unknown',
      'no limit and no condition stated',
    ],
    ['no reading', { kind: 'temperature', limits }, null, 'unknown', 'no reading'],
    ['a full disk', { kind: 'storage', value: 95 }, null, 'warning', 'limit of 95 % reached'],
    ['a disk with room', { kind: 'storage', value: 94.9 }, null, 'ok', ''],
    [
      'a disk a little less full',
      { kind: 'storage', value: 94 },
      was('warning', 1),
      'warning',
      'limit of 95 % reached',
    ],
    ['a disk with its own limit', { kind: 'storage', value: 96, limits: { high: 98 } }, null, 'ok', ''],
    ['a processor that is busy now', { kind: 'processor', value: 100 }, null, 'ok', ''],
    ['a processor busy for 9 min', { kind: 'processor', value: 100 }, was('ok', NOW - 9 * MIN), 'ok', ''],
    [
      'a processor busy for 10 min',
      { kind: 'processor', value: 100 },
      was('ok', NOW - 10 * MIN),
      'warning',
      'limit of 95 % reached for 10 min',
    ],
    [
      'a processor a little less busy',
      { kind: 'processor', value: 91 },
      was('warning', NOW - 20 * MIN),
      'warning',
      'limit of 95 % reached for 10 min',
    ],
    ['a processor at rest', { kind: 'processor', value: 89 }, was('warning', NOW - 20 * MIN), 'ok', ''],
  ])('%s', (_, reading, before, health, reason) => {
    const judged = judge({ key: '1', name: 'x', kind: 'count', ...reading }, { before, at: NOW });
    expect([judged.health, judged.reason]).toEqual([health, reason]);
  });

  it('counts the time above from its first reading, and from the start after one below', () => {
    const cpu = (value: number): SensorReading => ({ key: '1', name: 'cpu', kind: 'processor', value });
    const first = judge(cpu(97), { before: null, at: NOW });
    expect(first.aboveSince).toBe(NOW);
    expect(judge(cpu(99), { before: first, at: NOW + 5 * MIN }).aboveSince).toBe(NOW);
    expect(judge(cpu(94), { before: first, at: NOW + 5 * MIN }).aboveSince).toBeNull();
  });

  it('no light on a link that is down is no fault of the optics', () => {
    const rx: SensorReading = {
      key: '1',
      name: 'rx',
      kind: 'signal-power',
      value: -40,
      limits: { low: -28 },
    };
    expect(judge(rx, { before: null, at: NOW, isLinkDown: true }).health).toBe('unknown');
  });
});
