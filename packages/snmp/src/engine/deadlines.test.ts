import type { Clock } from '@rollcall/shared/clock';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { describe, expect, it } from 'vitest';
import { Deadlines, type Waiting } from './deadlines.ts';

interface Item extends Waiting {
  name: string;
}
const item = (name: string): Item => ({ name, due: 0, waitMs: 0 });

function setUp() {
  const clock = new ManualClock();
  const expired: string[] = [];
  const deadlines = new Deadlines<Item>(clock, ({ name }) => expired.push(name));
  return { clock, expired, deadlines };
}

describe('Deadlines', () => {
  it('ends each item at its own time, not before', async () => {
    const { clock, expired, deadlines } = setUp();
    deadlines.add(item('slow'), 100);
    deadlines.add(item('fast'), 30);
    await clock.pass(29);
    expect(expired).toEqual([]);
    await clock.pass(20);
    expect(expired).toEqual(['fast']);
    await clock.pass(70);
    expect(expired).toEqual(['fast', 'slow']);
  });

  it('forgets what is deleted, and takes it again', async () => {
    const { clock, expired, deadlines } = setUp();
    const one = item('one');
    deadlines.add(one, 30);
    deadlines.delete(one);
    deadlines.delete(one);
    await clock.pass(100);
    expect(expired).toEqual([]);
    deadlines.add(one, 30);
    await clock.pass(60);
    expect(expired).toEqual(['one']);
  });

  it('runs no timer while nothing waits', () => {
    let running = 0;
    const clock: Clock = {
      now: () => 0,
      monotonic: () => 0,
      sleep: () => Promise.resolve(),
      every: () => {
        running += 1;
        return () => {
          running -= 1;
        };
      },
    };
    const deadlines = new Deadlines<Item>(clock, () => undefined);
    const items = [item('a'), item('b')];
    for (const [i, each] of items.entries()) deadlines.add(each, 10 * i + 10);
    expect(running).toBe(1);
    for (const each of items) deadlines.delete(each);
    expect(running).toBe(0);
  });

  it('does not count time in which the process stood still', async () => {
    let now = 0;
    let tick: () => void = () => undefined;
    const clock: Clock = {
      now: () => now,
      monotonic: () => now,
      sleep: () => Promise.resolve(),
      every: (_ms, task) => {
        tick = () => void task();
        return () => undefined;
      },
    };
    const expired: string[] = [];
    const deadlines = new Deadlines<Item>(clock, ({ name }) => expired.push(name));
    deadlines.add(item('waiting'), 1000);
    now = 5000;
    tick();
    expect(expired).toEqual([]);
    for (let i = 0; i < 94; i++) {
      now += 10;
      tick();
    }
    expect(expired).toEqual([]);
    now += 20;
    tick();
    expect(expired).toEqual(['waiting']);
  });
});
