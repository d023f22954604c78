import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { describe, expect, it } from 'vitest';
import { Problem } from '../platform/problem.ts';
import type { Stored, WaitingBatches } from '../ports.ts';
import { Storing } from './storing.ts';

const waiting = { stream: 'state', gather: () => [] } as unknown as WaitingBatches;
const stored = { count: 1 } as unknown as Stored;

function scene() {
  const clock = new ManualClock();
  const storing = new Storing(clock);
  const refuse = (of = waiting) =>
    storing
      .watch(of, async ({ gather }) => {
        gather();
        throw new Problem('unavailable', 'the disk of the database is full');
      })
      .catch(() => undefined);
  const store = () => storing.watch(waiting, async () => stored);
  /** Refused every second, as collectors try again. */
  const refuseFor = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await refuse();
      await clock.pass(1_000);
    }
    await refuse();
  };
  return { clock, storing, refuse, store, refuseFor };
}

describe('what collectors send', () => {
  it('that is refused for longer than a failover takes is not stored, until something is', async () => {
    const { storing, refuseFor, store } = scene();
    await refuseFor(29);
    expect(storing.refusal()).toBeNull();
    await refuseFor(1);
    expect(storing.refusal()).toBe('nothing is stored since 30 s: the disk of the database is full');
    await store();
    expect(storing.refusal()).toBeNull();
  });

  it('is not refused for ever by one that does not come again', async () => {
    const { clock, storing, refuseFor, refuse } = scene();
    await refuseFor(40);
    await clock.pass(60_000);
    expect(storing.refusal()).toBeNull();
    await refuse();
    expect(storing.refusal(), 'it counts anew').toBeNull();
  });

  it('that cannot be read is the fault of who sends it', async () => {
    const { clock, storing } = scene();
    const unreadable = async ({ gather }: WaitingBatches): Promise<Stored> => {
      gather();
      throw new Problem('invalid_request', 'a batch that cannot be read');
    };
    for (let second = 0; second < 40; second++) {
      await storing.watch(waiting, unreadable).catch(() => undefined);
      await clock.pass(1_000);
    }
    expect(storing.refusal()).toBeNull();
  });

  it('of a link that ended is refused by nobody', async () => {
    const { clock, storing, refuse } = scene();
    const ended = () => {
      throw new Problem('unavailable', 'the link ended');
    };
    for (let second = 0; second < 40; second++) {
      await refuse({ ...waiting, gather: ended });
      await clock.pass(1_000);
    }
    expect(storing.refusal()).toBeNull();
  });
});
