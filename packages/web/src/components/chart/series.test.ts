import type { MetricData } from '@rollcall/shared/api/measurements';
import { describe, expect, it } from 'vitest';
import {
  csvOf,
  described,
  figuresOf,
  gapText,
  hasValues,
  lineOf,
  nothing,
  tickText,
  timesOf,
  valueRange,
  valueText,
} from './series.ts';

const data = (values: (number | null)[]): MetricData => ({
  from: 600,
  to: 600 + values.length * 60,
  step: 60,
  series: [
    {
      deviceId: 'd',
      deviceName: 'sw',
      interfaceId: null,
      interfaceName: null,
      sensorId: null,
      sensorName: null,
      metric: 'rtt',
      unit: 'ms',
      values,
      gaps: [],
      p95: 7,
    },
  ],
  readings: [],
});

describe('a line', () => {
  it('has its values in the middle of their steps', () => {
    expect(timesOf(data([1, 2, null]))).toEqual([630, 690, 750]);
    expect(timesOf({ from: 0, to: 60, step: 60, series: [], readings: [] })).toEqual([]);
  });

  it('is there only where its metric was measured', () => {
    expect(lineOf(data([1, null]), 'rtt', { label: 'Mean', colour: '--chart-1' })).toEqual({
      ...{ label: 'Mean', colour: '--chart-1', values: [1, null], p95: 7, gaps: [] },
    });
    expect(lineOf(data([1]), 'loss', { label: 'Loss', colour: '--bad' })).toBeUndefined();
  });

  it('is told in figures, gaps left out', () => {
    expect(figuresOf([1, null, 5, 3, null])).toEqual({ last: 3, mean: 3, most: 5 });
    expect(figuresOf([null])).toEqual({ last: null, mean: null, most: null });
    expect(hasValues(data([null, null]).series)).toBe(false);
    expect(hasValues(data([null, 0]).series)).toBe(true);
    expect(described('Round trip', 'ms', [{ label: 'Mean', colour: '', values: [2, 4], p95: null }])).toBe(
      'Round trip. Mean: last 4 ms, mean 3 ms, max 4 ms.',
    );
  });
});

it.each([
  [0, 'UTC', null],
  [60, 'UTC', 'not measured 00:02–00:05: the agent restarted'],
  [240, 'Europe/Berlin', 'not measured 01:02–01:05: the agent restarted'],
  [300, 'UTC', null],
  [120_000, 'UTC', 'not measured 2 Jan, 00:00–4 Jan, 00:00: the device was not monitored'],
])('the step from %s on in %s: %s', (from, zone, text) => {
  const gaps = [
    { from: 120, to: 300, reason: 'restarted' as const, message: 'the agent restarted' },
    {
      ...{ from: 86_400, to: 259_200 },
      ...{ reason: 'not-monitored' as const, message: 'the device was not monitored' },
    },
  ];
  expect(gapText(gaps, { from, to: from + 120 }, zone)).toBe(text);
  expect(nothing([{ gaps: gaps.slice(1) }])).toBe(
    'Nothing was measured in this time: the device was not monitored.',
  );
  expect(gapText(undefined, { from, to: from + 120 }, zone)).toBeNull();
});

it('is a file of lines with gaps', () => {
  const line = { label: 'In', colour: '', values: [1.5, null], p95: null };
  expect(csvOf('bit/s', [0, 60], [line])).toEqual([
    'time,"In, bit/s"\r\n',
    '1970-01-01T00:00:00.000Z,1.5\r\n',
    '1970-01-01T00:01:00.000Z,\r\n',
  ]);
});

it.each([
  [null, 'ms', '–'],
  [0, 'bit/s', '0 bit/s'],
  [12_345_678, 'bit/s', '12.3 Mbit/s'],
  [3.14259, 'ms', '3.14 ms'],
  [0.0213, '1/s', '0.021 /s'],
  [12_345.6, '1/s', '12,346 /s'],
  [99.96, '%', '100 %'],
])('%s in %s reads %s', (value, unit, text) => expect(valueText(value, unit)).toBe(text));

it.each([
  [Date.UTC(2026, 10, 25, 14, 5), 300, 'UTC', '14:05'],
  [Date.UTC(2026, 10, 25, 14, 5), 300, 'Europe/Berlin', '15:05'],
  [Date.UTC(2026, 10, 25), 3600, 'UTC', '25 Nov'],
  [Date.UTC(2026, 10, 25, 14), 86_400, 'UTC', '25 Nov'],
])('the tick at %s, %s s apart, in %s reads %s', (at, apart, zone, text) =>
  expect(tickText(at / 1000, apart, zone)).toBe(text),
);

it.each([
  [0, 100, 1, [0, 110]],
  [0, 0, 1, [0, 1]],
  [null, null, 5, [0, 5]],
  [-50, 100, 1, [-55, 110]],
])('values from %s to %s are drawn within bounds', (low, high, least, range) => {
  const bounds = valueRange(low, high, least);
  expect(bounds[0]).toBeCloseTo(range[0] as number);
  expect(bounds[1]).toBeCloseTo(range[1] as number);
});
