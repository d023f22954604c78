import type { MetricName, Series } from '@rollcall/shared/api/measurements';
import { expect, it } from 'vitest';
import { busiest, loadOf } from './busiest.ts';

const series = (name: string, metric: MetricName, values: (number | null)[]): Series => ({
  ...{
    deviceId: 'd',
    deviceName: 'sw',
    interfaceId: name,
    interfaceName: name,
    sensorId: null,
    sensorName: null,
    metric,
    unit: 'bit/s',
    values,
    gaps: [],
    p95: null,
  },
});

it('ranks interfaces by their busier direction, gaps and idle ones left out', () => {
  const ports = busiest([
    series('a', 'in', [10, null, 20]),
    series('a', 'out', [1, 1, 1]),
    series('b', 'in', [0, 0, 0]),
    series('b', 'out', [100, null, 100]),
    series('idle', 'in', [0, 0]),
    series('silent', 'in', [null, null]),
    { ...series('', 'rtt', [5]), interfaceId: null },
  ]);
  expect(ports.map(({ name, meanIn, meanOut }) => [name, meanIn, meanOut])).toEqual([
    ['b', 0, 100],
    ['a', 15, 1],
  ]);
});

it('lists at most eight', () => {
  const many = Array.from({ length: 20 }, (_, i) => series(`p${i}`, 'in', [i + 1]));
  expect(busiest(many).map(({ name }) => name)).toEqual([19, 18, 17, 16, 15, 14, 13, 12].map((i) => `p${i}`));
});

it('knows how much of an interface is used, and how many packets are lost on it', () => {
  const ports = loadOf([
    series('a', 'inUtilisation', [10, 20]),
    series('a', 'outUtilisation', [5, null]),
    series('a', 'inErrors', [0.5]),
    series('a', 'outDiscards', [0.25]),
    series('b', 'inErrors', [null]),
  ]);
  expect([...ports]).toEqual([['a', { utilisation: 15, errors: 0.75 }]]);
});
