import { expect, it } from 'vitest';
import { runs } from './runs.ts';

it('shortens ports that count up, and nothing else', () => {
  const names = [
    'Te1/1/1',
    'Gi1/0/9',
    'Gi1/0/10',
    'Gi1/0/11',
    'Gi2/0/12',
    'Gi2/0/13',
    'lo',
    'lo',
    '1',
    '2',
    '3',
  ];
  expect(runs(names)).toEqual(['Te1/1/1', 'Gi1/0/9–11', 'Gi2/0/12', 'Gi2/0/13', 'lo', 'lo', '1–3']);
  expect(runs(['ge-0/0/08', 'ge-0/0/09', 'ge-0/0/10'])).toEqual(['ge-0/0/08', 'ge-0/0/09', 'ge-0/0/10']);
  expect(runs([])).toEqual([]);
});
