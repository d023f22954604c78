import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Database } from '../db/db.ts';
import { Problem } from '../problem.ts';
import { startHealthCheck } from './health-check.ts';

function scene() {
  const clock = new ManualClock();
  const base = { there: true };
  const query = async () => {
    if (!base.there) throw new Problem('unavailable', 'the database is away');
    return [];
  };
  const log = pino({ enabled: false });
  return { clock, base, ...startHealthCheck({ db: { query } as unknown as Database, clock, log }) };
}

it('a database that refuses is no reason to start again, and after 30 s one to say that the server does not serve', async () => {
  const { clock, base, unhealthyReason, servingReason } = scene();
  await clock.pass(10_000);
  base.there = false;
  await clock.pass(10_000);
  expect([unhealthyReason(), servingReason()]).toEqual([null, null]);
  await clock.pass(30_000);
  expect([unhealthyReason(), servingReason()]).toEqual([null, 'the database is away since 30 s']);
  base.there = true;
  await clock.pass(10_000);
  expect(servingReason()).toBeNull();
});
