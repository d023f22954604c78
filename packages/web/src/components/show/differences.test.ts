import { expect, it } from 'vitest';
import { differences, valueAsText } from './differences.ts';

it.each([
  [null, '—'],
  ['', '—'],
  [0, '0'],
  [false, 'false'],
  [['a', 1], '["a",1]'],
])('%j reads %s', (value, text) => expect(valueAsText(value)).toBe(text));

it('names the members that differ, with words for the numbers of IF-MIB and times for milliseconds', () => {
  const before = { osVersion: '17.6.5', operStatus: 1, seenAt: 0, name: 'core' };
  const after = { osVersion: '17.9.4a', operStatus: 2, seenAt: 60_000, name: 'core', serial: 'X' };
  expect(differences(before, after, 'UTC')).toEqual([
    ['osVersion', '17.6.5', '17.9.4a'],
    ['operStatus', 'up', 'down'],
    ['seenAt', '1970-01-01 00:00:00Z', '1970-01-01 00:01:00Z'],
    ['serial', '—', 'X'],
  ]);
});

it('takes what is no object as one value', () => {
  expect(differences('admin', 'viewer', 'UTC')).toEqual([['value', 'admin', 'viewer']]);
  expect(differences(null, null, 'UTC')).toEqual([]);
});
