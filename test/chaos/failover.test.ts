/** A database whose primary ends: docs/operations.md has the recipe. `npm run chaos:failover -- --rounds N` does it often. */
import { skipped } from '@rollcall/shared/testing/skipped';
import { describe, expect, test } from 'vitest';
import { ByHand, failover } from './failover.ts';
import { mayVanish } from './postgres.ts';
import { databaseKinds } from './world.ts';

const possible = databaseKinds().includes('postgresql');
const missing = 'a standby that takes over: install postgresql';
if (!possible && process.env.CI) throw new Error(missing);
if (!possible) skipped(missing);

describe.skipIf(!possible)('a primary that ends under load', () => {
  const ways = ByHand.WAYS.filter((way) => way !== 'vanish' || mayVanish());
  if (ways.length < ByHand.WAYS.length)
    skipped('a primary whose host vanishes: be root, and install nftables');
  test.each(ways)(
    '(%s) is followed by its standby, and nothing is lost or doubled that was acknowledged',
    async (way) => {
      const { served, verdict } = await failover({
        pair: await ByHand.create(),
        rounds: 1,
        ways: [way],
        seed: 'standby',
        // 15 s are promised; a machine that does everything else beside takes longer.
        withinMs: 90_000,
        say: () => undefined,
      });
      expect(served).toEqual([expect.any(Number)]);
      expect(verdict).toMatchObject({ lost: 0, doubled: 0, altered: 0, misattributed: 0, foreign: 0 });
    },
  );
});
