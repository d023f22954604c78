import { expect, it } from 'vitest';
import { pathOf } from './path.ts';

it.each([
  [[0, 5, 10], 10, 'M0 11L10 6L20 1'],
  [[0, null, 10], 10, 'M0 11h0M20 1h0'],
  [[null, null], 10, ''],
  [[0, 0], 0, 'M0 11L20 11'],
  [[4], 4, 'M0 1h0'],
])('%j of at most %s', (values, most, path) => expect(pathOf(values, most, 20, 12)).toBe(path));
