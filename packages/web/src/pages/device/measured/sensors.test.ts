import type { Sensor } from '@rollcall/shared/api/sensors';
import { expect, it } from 'vitest';
import { course, groupsOf, limitsText, readingText } from './sensors.ts';

const sensor = (more: Partial<Sensor>): Sensor => ({
  ...{ id: 'i', siteId: 's', deviceId: 'd', deviceName: 'sw', key: '1', name: 'x', kind: 'temperature' },
  ...{ component: 'chassis', value: 41.5, unit: '°C', usedBytes: null, totalBytes: null, state: null },
  ...{
    interfaceId: null,
    interfaceName: null,
    health: 'ok',
    reason: '',
    healthSince: 1,
    firstSeen: 1,
    lastSeen: 1,
  },
  limits: { low: null, lowWarning: null, highWarning: null, high: null },
  ...more,
});
const limits = (
  low: number | null,
  lowWarning: number | null,
  highWarning: number | null,
  high: number | null,
) => limitsText(sensor({ limits: { low, lowWarning, highWarning, high } }));

it('shows what is wrong, and everything by what it belongs to, as people count', () => {
  const { wrong, groups } = groupsOf([
    sensor({ name: 'Fan 10', component: 'fan', health: 'critical' }),
    sensor({ name: 'Fan 2', component: 'fan', health: 'warning' }),
    sensor({ name: 'PSU', component: 'psu' }),
  ]);
  expect(wrong.map(({ name }) => name)).toEqual(['Fan 10', 'Fan 2']);
  expect(groups.map(({ title, sensors }) => [title, ...sensors.map(({ name }) => name)])).toEqual([
    ['Power supplies', 'PSU'],
    ['Fans', 'Fan 2', 'Fan 10'],
  ]);
});

it('says a reading with its unit, its room and its state', () => {
  expect(readingText(sensor({}))).toBe('41.5 °C');
  expect(readingText(sensor({ value: null, unit: '', state: 'failed' }))).toBe('failed');
  expect(readingText(sensor({ value: 50, unit: '%', usedBytes: 1024, totalBytes: 2048 }))).toBe(
    '50 %, 1.0 KiB of 2.0 KiB',
  );
  expect(readingText(sensor({ value: 3, unit: '' }))).toBe('3');
});

it('says the limits that there are, those of warnings in brackets', () => {
  expect(limits(5, 10, 60, 70)).toBe('5 (10) – (60) 70 °C');
  expect(limits(null, null, null, 70)).toBe('≤ 70 °C');
  expect(limits(-28, null, null, null)).toBe('≥ -28 °C');
  expect(limits(null, null, null, null)).toBe('');
});

it('draws values of any level from a floor of their own', () => {
  expect(course([-10, null, -8])).toEqual([2, null, 4]);
  expect(course([40, 40])).toEqual([0.8, 0.8].map((n) => expect.closeTo(n, 5)));
});
