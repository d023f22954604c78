import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { expect, it } from 'vitest';
import { rateLimitedLog } from './rate-limited-log.ts';

it('tells of each sender at once, then once a minute how many there were', async () => {
  const clock = new ManualClock();
  const told: [string, number][] = [];
  const tell = rateLimitedLog(clock, (sender, count) => told.push([sender, count]));
  tell('a', 3);
  tell('a', 4);
  tell('b', 1);
  await clock.pass(59_000);
  tell('a', 5);
  expect(told).toEqual([
    ['a', 3],
    ['b', 1],
  ]);
  await clock.pass(1_000);
  tell('a', 1);
  expect(told.at(-1)).toEqual(['a', 10]);
});
