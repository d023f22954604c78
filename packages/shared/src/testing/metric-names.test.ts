import { expect, it } from 'vitest';
import { brokenConventions } from './metric-names.ts';

it.each([
  ['# HELP a_total Things.\n# TYPE a_total counter\na_total 1', []],
  [
    '# HELP a_total Things.\n# TYPE a_total gauge',
    ['a_total: only a counter ends in _total, this is a gauge'],
  ],
  ['# HELP a Things.\n# TYPE a counter', ['a: a counter ends in _total']],
  ['# TYPE a gauge', ['a: no help']],
  ['# HELP a_lag_ms Late.\n# TYPE a_lag_ms gauge', ['a_lag_ms: ms: use seconds']],
  ['# HELP a_count Things.\n# TYPE a_count gauge', ['a_count: _count belongs to histograms and summaries']],
  ['# HELP aThing Things.\n# TYPE aThing gauge', ['aThing: lower case with underscores']],
])('%j', (page, broken) => {
  expect(brokenConventions(page)).toEqual(broken);
});
