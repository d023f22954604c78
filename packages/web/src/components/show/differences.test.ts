import { expect, it } from 'vitest';
import { differences, fieldName, readings, valueAsText } from './differences.ts';

it.each([
  [null, '—'],
  ['', '—'],
  [0, '0'],
  [false, 'false'],
  [['a', 1], 'a, 1'],
  [[], '—'],
  [[{ a: 1 }], '[{"a":1}]'],
])('%j reads %s', (value, text) => expect(valueAsText(value)).toBe(text));

it('names the members that differ, with words for the numbers of IF-MIB and times for milliseconds', () => {
  const before = { osVersion: '17.6.5', operStatus: 1, seenAt: 0, speedBps: 1e9, name: 'core' };
  const after = {
    osVersion: '17.9.4a',
    operStatus: 2,
    seenAt: 60_000,
    speedBps: 1e8,
    name: 'core',
    serial: 'X',
  };
  expect(differences(before, after, 'UTC')).toEqual([
    ['OS version', '17.6.5', '17.9.4a'],
    ['operational state', 'up', 'down'],
    ['seen at', '1970-01-01 00:00:00Z', '1970-01-01 00:01:00Z'],
    ['speed', '1 Gbit/s', '100 Mbit/s'],
    ['serial', '—', 'X'],
  ]);
});

it.each([
  ['osVersion', 'OS version'],
  ['holdSeconds', 'hold seconds'],
  ['alias', 'alias'],
  ['constructor', 'constructor'],
  ['siteId', 'site ID'],
  ['behindMs', 'behind (ms)'],
  ['neighbour on Gi1/0/1', 'neighbour on Gi1/0/1'],
  ['endpoint 00:1b:21:3c:9d:f8', 'endpoint 00:1b:21:3c:9d:f8'],
])('the member %s is read as %s', (name, words) => expect(fieldName(name)).toBe(words));

it('of what has no side before, tells the values as people read them, and not what they are of', () => {
  const after = { of: 'utilisation', limit: 95, value: 96.984_138_078_222, sensorId: 'x' };
  const told = [
    ['limit', '95'],
    ['value', '96.98'],
  ];
  expect(readings(undefined, after, 'UTC')).toEqual(told);
  expect(readings({}, after, 'UTC')).toEqual(told);
  expect(readings({ osVersion: '1' }, { osVersion: '2' }, 'UTC')).toBeNull();
});

it('of what was found, tells what is known of it', () => {
  const after = { kind: 'Cisco', address: '10.0.0.1', vendor: null, model: '' };
  expect(readings(null, after, 'UTC')).toEqual([
    ['kind', 'Cisco'],
    ['address', '10.0.0.1'],
  ]);
});

it('shows every difference, however small, and none that is nothing on both sides', () => {
  const before = { power: 12_345.6, ratio: 0.123_456, parts: ['a, b'], vendor: null, model: '' };
  const after = { power: 12_345.7, ratio: 0.123_457, parts: ['a', 'b'], model: null };
  expect(differences(before, after, 'UTC')).toEqual([
    ['power', '12345.6', '12345.7'],
    ['ratio', '0.123456', '0.123457'],
  ]);
});

it('takes what is no object as one value', () => {
  expect(differences('admin', 'viewer', 'UTC')).toEqual([['value', 'admin', 'viewer']]);
  expect(differences(null, null, 'UTC')).toEqual([]);
});
