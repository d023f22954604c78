import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Intake, type Run } from './intake.ts';

const batch = (from: number, count: number): Run => ({
  from,
  items: Array.from({ length: count }, (_, i) => from + i),
});

/** An intake whose store ends when it is told to. */
function held() {
  const stored: Run[] = [];
  let release: () => void = () => undefined;
  const intake = new Intake(async (run) => {
    stored.push(run);
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const turn = async () => {
    await new Promise(setImmediate);
    release();
    await new Promise(setImmediate);
  };
  return { intake, stored, turn };
}

describe('batches that wait for the store', () => {
  it('go in together where one goes on where the other ends', async () => {
    const { intake, stored, turn } = held();
    for (const each of [batch(0, 2), batch(2, 1), batch(7, 1), batch(3, 1)]) intake.add(each);
    for (let i = 0; i < 3; i++) await turn();
    await intake.idle();
    expect(stored).toEqual([batch(0, 3), batch(7, 1), batch(3, 1)]);
  });

  it('count until they are stored', async () => {
    const { intake, turn } = held();
    const depths = [intake.depth];
    for (const each of [batch(0, 1), batch(1, 1)]) intake.add(each);
    depths.push(intake.depth);
    await new Promise(setImmediate);
    intake.add(batch(2, 1));
    depths.push(intake.depth);
    await turn();
    depths.push(intake.depth);
    await turn();
    await intake.idle();
    expect([...depths, intake.depth]).toEqual([0, 2, 3, 1, 0]);
  });

  it('are stored once and in order, however they come', async () => {
    const step = fc.record({ count: fc.integer({ min: 1, max: 4 }), wait: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step), async (steps) => {
        let [sent, got] = [0, 0];
        const intake = new Intake(async (run) => {
          expect(run).toEqual(batch(got, run.items.length));
          await new Promise(setImmediate);
          got += run.items.length;
        });
        for (const { count, wait } of steps) {
          intake.add(batch(sent, count));
          sent += count;
          if (wait) await new Promise(setImmediate);
        }
        await intake.idle();
        expect(got).toBe(sent);
      }),
    );
  });
});
