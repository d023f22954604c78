import { expect, it } from 'vitest';
import { newLiveness } from './liveness.ts';
import type { Pinged } from './pinger.ts';
import { Target } from './target.ts';

it('is at the address where its agent is read only while its own is silent', () => {
  const pinged = { liveness: newLiveness() } as Pinged;
  const target = new Target({ deviceId: 'd', address: '10.0.0.1' }, pinged);
  // The answer from there came when its own address answered again.
  target.readAt('10.0.0.2', 0);
  pinged.liveness.state = 'up';
  expect(target.provesElsewhere(100_000)).toBe(false);
  expect(target.report(100_000)).not.toHaveProperty('address');
  pinged.liveness.state = 'down';
  expect(target.provesElsewhere(100_000)).toBe(true);
});
