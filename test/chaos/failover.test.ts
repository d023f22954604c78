/** A database whose primary dies: docs/operations.md has the recipe. `npm run chaos:failover -- --rounds N` does it often. */
import { skipped } from '@rollcall/shared/testing/skipped';
import { describe, expect, test } from 'vitest';
import { failover } from './failover.ts';
import { databaseKinds } from './world.ts';

const possible = databaseKinds().includes('postgresql');
const missing = 'a standby that takes over: install postgresql';
if (!possible && process.env.CI) throw new Error(missing);
if (!possible) skipped(missing);

describe.skipIf(!possible)('a primary that is killed under load', () => {
  test('is followed by its standby, and nothing is lost or doubled that was acknowledged', async () => {
    const { served, verdict } = await failover({
      rounds: 1,
      seed: 'standby',
      withinMs: 90_000,
      say: () => undefined,
    });
    expect(served).toEqual([expect.any(Number)]);
    expect(verdict).toMatchObject({ lost: 0, doubled: 0, altered: 0, misattributed: 0, foreign: 0 });
  }, 240_000);
});
