import { expect, it } from 'vitest';
import { requireMatch } from './etag.ts';

it('is computed once, however many validators a caller names', () => {
  let computed = 0;
  const shown = { toJSON: () => ++computed };
  expect(() => requireMatch(','.repeat(1000), shown)).toThrow('changed in the meantime');
  expect(computed).toBe(1);
});
