import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { describe, expect, it } from 'vitest';
import { Pace, type PaceSettings } from './pace.ts';

const OPEN = { rate: 'max', ratePerNet: 'max' } as const;

/** Takes as fast as the pace allows for `ms`; how many packets left. */
const sentIn = async (pace: Pace, clock: ManualClock, ms: number, address: (n: number) => string) => {
  let sent = 0;
  let stop = false;
  const run = async () => {
    while (!stop) {
      await pace.take(1, address(sent));
      if (!stop) sent += 1;
      if (sent > 1_000_000) throw new Error('nothing holds it back');
    }
  };
  const running = run();
  await clock.pass(ms);
  stop = true;
  void running;
  return sent;
};
const everywhere = (n: number) => `10.${(n >> 8) & 255}.${n & 255}.1`;
const oneNet = (n: number) => `10.0.0.${n & 255}`;
const make = (settings: PaceSettings) => {
  const clock = new ManualClock();
  return { clock, pace: new Pace(settings, clock) };
};

describe('Pace', () => {
  it('lets no more than the rate leave, plus one burst', async () => {
    const { clock, pace } = make({ rate: 2000, ratePerNet: 'max' });
    const sent = await sentIn(pace, clock, 1000, everywhere);
    expect(sent).toBeGreaterThanOrEqual(1990);
    expect(sent).toBeLessThanOrEqual(2000 + 50 + 2);
  });

  it('lets no more into one /24 than its own rate, and only there', async () => {
    const { clock, pace } = make({ rate: 2000, ratePerNet: 500 });
    const sent = await sentIn(pace, clock, 1000, oneNet);
    expect(sent).toBeGreaterThanOrEqual(495);
    expect(sent).toBeLessThanOrEqual(500 + 13 + 2);
    const other = make({ rate: 2000, ratePerNet: 500 });
    expect(await sentIn(other.pace, other.clock, 1000, everywhere)).toBeGreaterThan(1900);
  });

  it('counts a /64 as one net in IPv6', async () => {
    const { clock, pace } = make({ rate: 2000, ratePerNet: 100 });
    const sent = await sentIn(pace, clock, 1000, (n) => `2001:db8::${n.toString(16)}:1`);
    expect(sent).toBeLessThanOrEqual(105);
    const other = make({ rate: 2000, ratePerNet: 100 });
    expect(
      await sentIn(other.pace, other.clock, 1000, (n) => `2001:db8:0:${n.toString(16)}::1`),
    ).toBeGreaterThan(1900);
  });

  it('makes a batch wait for all its packets', async () => {
    const { clock, pace } = make({ rate: 1000, ratePerNet: 'max' });
    let gone = false;
    void Promise.resolve(pace.take(1000, '10.0.0.1')).then(() => {
      gone = true;
    });
    await clock.pass(970);
    expect(gone).toBe(false);
    await clock.pass(10);
    expect(gone).toBe(true);
  });

  it('serves takers in the order they came, so that a small sweep is not kept waiting by a large one', async () => {
    const { clock, pace } = make({ rate: 1000, ratePerNet: 'max' });
    const done: string[] = [];
    const sweep = async (name: string, packets: number) => {
      for (let i = 0; i < packets; i += 1) await pace.take(1, everywhere(i));
      done.push(name);
    };
    void sweep('/12', 5000);
    await clock.pass(100);
    void sweep('/28', 14);
    await clock.pass(100);
    expect(done).toEqual(['/28']);
  });

  it('the local cap beats the profile, max included', async () => {
    const { clock, pace } = make({ ...OPEN, cap: 100 });
    expect(pace.free).toBe(false);
    expect(await sentIn(pace, clock, 1000, everywhere)).toBeLessThanOrEqual(105);
    expect(make({ rate: 5000, ratePerNet: 'max', cap: 300 }).pace.rate).toBe(300);
  });

  it('max is free: nothing waits', () => {
    const { pace } = make(OPEN);
    expect(pace.free).toBe(true);
    expect(pace.take(1_000_000, '10.0.0.1')).toBeUndefined();
  });

  it.each([0, -1, 0.5, Number.NaN])('F96: refuses the rate %s', (rate) => {
    expect(() => make({ rate, ratePerNet: 'max' })).toThrow(RangeError);
    expect(() => make({ rate: 100, ratePerNet: rate })).toThrow(RangeError);
  });

  it('halves on loss, once a second at most, and never below its floor', async () => {
    const { clock, pace } = make({ rate: 1600, ratePerNet: 'max' });
    const lossy = async () => {
      pace.report(50, 50);
      await clock.pass(1000);
      pace.report(50, 50);
    };
    await lossy();
    expect(pace.rate).toBe(800);
    pace.report(50, 50);
    expect(pace.rate).toBe(800);
    for (let i = 0; i < 10; i += 1) await lossy();
    expect(pace.rate).toBe(200);
  });

  it('grows back slowly, to the ceiling', async () => {
    const { clock, pace } = make({ rate: 1600, ratePerNet: 'max' });
    await clock.pass(1000);
    pace.report(0, 100);
    expect(pace.rate).toBe(800);
    for (const expected of [880, 960, 1040]) {
      await clock.pass(1000);
      pace.report(100, 1);
      expect(pace.rate).toBe(expected);
    }
    for (let i = 0; i < 20; i += 1) {
      await clock.pass(1000);
      pace.report(100, 0);
    }
    expect(pace.rate).toBe(1600);
  });

  it('does not take the retries at the end of a sweep for a lossy network', async () => {
    const { clock, pace } = make({ rate: 2000, ratePerNet: 'max' });
    for (let second = 0; second < 3; second += 1) {
      await clock.pass(1000);
      pace.report(2000, 20);
    }
    await clock.pass(1000);
    pace.report(60, 60);
    expect(pace.rate).toBe(2000);
  });

  it('judges nothing by a handful of answers', async () => {
    const { clock, pace } = make({ rate: 1600, ratePerNet: 'max' });
    await clock.pass(5000);
    pace.report(10, 30);
    expect(pace.rate).toBe(1600);
  });

  it('remembers a bounded number of nets', async () => {
    const { clock, pace } = make({ rate: 'max', ratePerNet: 10 });
    for (let n = 0; n < 20_000; n += 1) void pace.take(1, everywhere(n));
    await clock.pass(1000);
    const sent = await sentIn(pace, clock, 1000, oneNet);
    expect(sent).toBeLessThanOrEqual(12);
  });
});
