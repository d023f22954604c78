import { expect, it } from 'vitest';
import type { ChangeOf } from '../../changes.ts';
import { SERVICE_KINDS } from './service.ts';

it.each([
  [1, 'bytes', '1 observation of the state stream lost: the queue was full'],
  [5, 'age', '5 observations of the state stream lost: they waited too long in the queue'],
  [2, 'of-later', '2 observations of the state stream lost: of-later'],
])('%i lost by %s are told in words', (count, reason, message) => {
  const lost = { after: { stream: 'state', from: 1, to: count, count, reason } };
  const opening = SERVICE_KINDS['collector.gap'].opens['observations.lost']?.(
    lost as ChangeOf<'observations.lost'>,
  );
  expect(opening).toMatchObject({ message });
});
