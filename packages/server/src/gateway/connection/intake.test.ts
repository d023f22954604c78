import { EventEmitter, once } from 'node:events';
import type { UnreadBatch } from '@rollcall/shared/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Intake } from './intake.ts';

const batch = (from: number): UnreadBatch => ({ from, frame: Buffer.alloc(0) });

/** An intake whose store ends when it is told to. */
function held() {
  const stored: (readonly UnreadBatch[])[] = [];
  let release: () => void = () => undefined;
  const intake = new Intake(async (gather) => {
    stored.push(gather());
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
  it('go in together while it is busy', async () => {
    const { intake, stored, turn } = held();
    for (const from of [0, 2]) intake.add(batch(from));
    await new Promise(setImmediate);
    for (const from of [3, 7, 9]) intake.add(batch(from));
    for (let i = 0; i < 2; i++) await turn();
    await intake.idle();
    expect(stored.map((each) => each.map(({ from }) => from))).toEqual([
      [0, 2],
      [3, 7, 9],
    ]);
  });

  it('count until they are stored', async () => {
    const { intake, turn } = held();
    const depths = [intake.depth];
    for (const from of [0, 1]) intake.add(batch(from));
    depths.push(intake.depth);
    await new Promise(setImmediate);
    intake.add(batch(2));
    depths.push(intake.depth);
    await turn();
    depths.push(intake.depth);
    await turn();
    await intake.idle();
    expect([...depths, intake.depth]).toEqual([0, 2, 3, 1, 0]);
  });

  it('go along with those whose turn has not come, and with those that are tried again', async () => {
    const stored: number[][] = [];
    const steps = new EventEmitter();
    const intake = new Intake(async (gather) => {
      for (const step of ['turn', 'again']) {
        await once(steps, step);
        stored.push(gather().map(({ from }) => from));
      }
    });
    intake.add(batch(0));
    await new Promise(setImmediate);
    intake.add(batch(1));
    steps.emit('turn');
    await new Promise(setImmediate);
    intake.add(batch(2));
    steps.emit('again');
    await intake.idle();
    expect(stored).toEqual([
      [0, 1],
      [0, 1, 2],
    ]);
  });

  it('are forgotten where nobody wants them any more', async () => {
    let asked = 0;
    const intake = new Intake(async (gather) => {
      asked += 1;
      await new Promise(setImmediate);
      // As of a link that ends while its first batches are stored.
      if (asked === 1) gather();
      else if (asked > 2) throw new Error('asked for ever');
      if (asked === 1) intake.add(batch(2));
    });
    for (const from of [0, 1]) intake.add(batch(from));
    await intake.idle();
    expect([asked, intake.depth]).toEqual([2, 0]);
  });

  it('are stored once and in order, however they come', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean()), async (waits) => {
        let [sent, got] = [0, 0];
        const intake = new Intake(async (gather) => {
          if (got % 2) await new Promise(setImmediate);
          const batches = gather();
          expect(batches.map(({ from }) => from)).toEqual(batches.map((_, i) => got + i));
          await new Promise(setImmediate);
          got += batches.length;
        });
        for (const wait of waits) {
          intake.add(batch(sent++));
          if (wait) await new Promise(setImmediate);
        }
        await intake.idle();
        expect(got).toBe(sent);
      }),
    );
  });
});
