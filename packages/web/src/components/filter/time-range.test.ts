import { expect, it } from 'vitest';
import { rangeOf } from './time-range.tsx';

const NOW = 1_763_773_259_999;

it.each([
  [{ last: '1h' }, { from: '1763769600' }],
  [{ last: '1h', from: '1', to: '2' }, { from: '1763769600' }],
  [{ last: 'whenever', from: '1' }, { from: '1' }],
  [{ to: '2' }, { to: '2' }],
  [{}, {}],
])('%o is the range %o', (search, range) => expect(rangeOf(search, NOW)).toEqual(range));

it.each([
  [{}, { to: '1763000100' }],
  [{ last: '1h' }, { from: '1762996500', to: '1763000100' }],
  [
    { from: '1', to: '2' },
    { from: '1', to: '2' },
  ],
  [{ to: '1763000101' }, { to: '1763000100' }],
])('as of a moment %o is the range %o', (search, range) =>
  expect(rangeOf(search, NOW, '1763000100')).toEqual(range),
);
