import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DueQueue, onGrid, phaseOf } from './due-queue.ts';
import { WatchList, type WatchMessage } from './list.ts';
import { answered, isUnconfirmed, missed, newLiveness } from './liveness.ts';
import { type PortReading, Ports } from './ports.ts';
import { restarted, type Uptime } from './uptime.ts';

describe('liveness', () => {
  it.each<[name: string, signals: string, state: string, turns: number]>([
    ['nothing is known', '', 'unknown', 0],
    ['an answer', '+', 'up', 1],
    ['answers', '+++', 'up', 1],
    ['two misses decide nothing', '+--', 'up', 1],
    ['the third in a row does', '+---', 'down', 2],
    ['misses that are not in a row do not', '+--+--+--', 'up', 1],
    ['from the start too', '---', 'down', 1],
    ['one answer is a return', '---+', 'up', 2],
    ['further misses are no news', '------', 'down', 1],
  ])('%s: %s', (_name, signals, state, turns) => {
    const liveness = newLiveness();
    const turned = [...signals].filter((each) => (each === '+' ? answered : missed)(liveness)).length;
    expect([liveness.state, turned]).toEqual([state, turns]);
  });

  it('is in doubt between the first miss and the verdict', () => {
    const liveness = newLiveness();
    const doubts = [...'+---'].map((each) => {
      (each === '+' ? answered : missed)(liveness);
      return isUnconfirmed(liveness);
    });
    expect(doubts).toEqual([false, true, true, false]);
  });
});

describe('an uptime', () => {
  const at = (ticks: number, seconds: number, boots: number | null = null): Uptime => ({
    ticks,
    boots,
    at: seconds * 1000,
  });
  const WRAP = 2 ** 32;
  it.each<[name: string, before: Uptime, now: Uptime, verdict: boolean]>([
    ['goes on', at(1000, 0), at(7000, 60), false],
    ['began anew', at(100_000, 0), at(500, 60), true],
    ['began anew soon after the last time', at(3000, 0), at(500, 60), true],
    ['wrapped after 497 days', at(WRAP - 3000, 0), at(3000, 60), false],
    ['wrapped, read a little late', at(WRAP - 3000, 0), at(3400, 60), false],
    [
      'began anew just when it would have wrapped half an hour later',
      at(WRAP - 180_000, 0),
      at(500, 60),
      true,
    ],
    ['lags a little, as clocks do', at(100_000, 0), at(159_000, 600), false],
    ['was away for longer than it had been up', at(1000, 0), at(1500, 600), true],
    ['counted a boot, longer ago than it had been up before', at(1000, 0, 3), at(20_000, 600, 4), true],
    ['stands still', at(100_000, 0), at(100_000, 60), false],
    ['was never counted', at(0, 0), at(0, 60), false],
    ['is counted at half the speed', at(100_000, 0), at(103_000, 60), false],
    ['the same boot', at(1000, 0, 3), at(7000, 60, 3), false],
  ])('%s', (_name, before, now, verdict) => {
    expect(restarted(before, now)).toBe(verdict);
  });
});

describe('the queue of what is due', () => {
  it('gives what is due in the order of time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1000 })),
        fc.integer({ min: 0, max: 1000 }),
        (times, now) => {
          const queue = new DueQueue<number>();
          for (const [i, time] of times.entries()) queue.add(time, i);
          const taken: number[] = [];
          for (let next = queue.take(now); next; next = queue.take(now)) {
            expect(times[next.item]).toBe(next.time);
            taken.push(next.time);
          }
          expect(taken).toEqual(times.filter((time) => time <= now).sort((a, b) => a - b));
          expect(queue.size).toBe(times.length - taken.length);
        },
      ),
    );
  });

  it('spreads evenly: every hundredth of the interval has about its share', () => {
    const buckets = new Array<number>(100).fill(0);
    for (let n = 0; n < 10_000; n += 1) {
      const due = onGrid(0, 15_000, phaseOf(`10.${n >> 8}.${n & 255}.1`));
      buckets[Math.floor((due % 15_000) / 150)]! += 1;
    }
    expect(Math.max(...buckets)).toBeLessThan(160);
    expect(Math.min(...buckets)).toBeGreaterThan(50);
  });

  it('stays on its grid, and in the future', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.integer({ min: 1000, max: 3_600_000 }),
        fc.string(),
        (now, interval, text) => {
          const due = onGrid(now, interval, phaseOf(text));
          expect(due).toBeGreaterThan(now - 1e-3);
          expect(due - now).toBeLessThanOrEqual(interval + 1e-3);
        },
      ),
    );
  });
});

describe('ports', () => {
  const read = (rows: Record<number, PortReading>) =>
    new Map(Object.entries(rows).map(([ifIndex, row]) => [Number(ifIndex), row]));
  const up = { adminStatus: 1, operStatus: 1 };

  it('report everything first, then what differs', () => {
    const ports = new Ports();
    expect(ports.take(read({ 1: up, 2: up }), true)).toEqual([
      { ifIndex: 1, ...up },
      { ifIndex: 2, ...up },
    ]);
    expect(ports.take(read({ 1: up, 2: up }), true)).toEqual([]);
    expect(ports.take(read({ 1: up, 2: { ...up, operStatus: 2 } }), true)).toEqual([
      { ifIndex: 2, adminStatus: 1, operStatus: 2 },
    ]);
    expect(ports.take(read({ 1: { ...up, speedBps: 1e9, duplex: 'full' } }), false)).toEqual([
      { ifIndex: 1, ...up, speedBps: 1e9, duplex: 'full' },
    ]);
    expect(ports.size).toBe(2);
  });

  it('keep what a partial reading did not have, forget what a whole one did not', () => {
    const ports = new Ports();
    ports.take(read({ 1: up, 2: up, 9: up }), true);
    ports.take(read({ 2: up }), false);
    expect(ports.all().map(({ ifIndex }) => ifIndex)).toEqual([1, 2, 9]);
    ports.take(read({ 2: up, 5: up }), true);
    expect(ports.all()).toEqual([
      { ifIndex: 2, ...up },
      { ifIndex: 5, ...up },
    ]);
  });

  it('report a doubted one again, changed or not', () => {
    const ports = new Ports();
    ports.take(read({ 1: up, 2: up }), true);
    ports.doubt(2);
    ports.doubt(77);
    expect(ports.take(read({ 1: up, 2: up }), true)).toEqual([{ ifIndex: 2, ...up }]);
  });

  it('reported one after the other give what was read last', () => {
    const row = fc.record(
      {
        adminStatus: fc.integer({ min: 1, max: 7 }),
        operStatus: fc.integer({ min: 1, max: 7 }),
        speedBps: fc.constantFrom(0, 1e6, 1e9, 4e11),
        duplex: fc.constantFrom('half' as const, 'full' as const, 'unknown' as const),
      },
      { requiredKeys: ['adminStatus', 'operStatus'] },
    ) as fc.Arbitrary<PortReading>;
    const table = fc.dictionary(fc.integer({ min: 1, max: 2 ** 31 - 1 }).map(String), row);
    fc.assert(
      fc.property(fc.array(table), (readings) => {
        const ports = new Ports();
        const heard = new Map<number, PortReading>();
        const truth = new Map<number, PortReading>();
        for (const reading of readings) {
          const rows = read(reading);
          for (const { ifIndex, ...fact } of ports.take(rows, false))
            heard.set(ifIndex, { ...heard.get(ifIndex), ...fact } as PortReading);
          for (const [ifIndex, fact] of rows) truth.set(ifIndex, { ...truth.get(ifIndex), ...fact });
        }
        expect(heard).toEqual(truth);
      }),
    );
  });
});

describe('a watch list', () => {
  const id = (n: number) => `0192f0c0-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const message = (more: Partial<WatchMessage>): WatchMessage => ({
    type: 'watch',
    revision: 1,
    full: false,
    set: [],
    remove: [],
    credentials: [],
    intervals: { icmpMs: 15_000, snmpMs: 60_000 },
    ...more,
  });
  const set = (...numbers: number[]) => numbers.map((n) => ({ deviceId: id(n), address: `10.0.0.${n}` }));

  it('keeps what a new list names again, and drops the rest when that list is whole', () => {
    const list = new WatchList();
    list.take(message({ full: true, set: set(1, 2, 3) }));
    const first = list.take(message({ full: true, more: true, set: set(2) }));
    expect([first.set, first.remove]).toEqual([[], []]);
    const second = list.take(message({ set: set(4) }));
    expect([second.set, second.remove.sort()]).toEqual([set(4), [id(1), id(3)]]);
    expect(list.size).toBe(2);
  });

  it('takes changes one by one; what changed nothing is no change', () => {
    const list = new WatchList();
    list.take(message({ full: true, set: set(1, 2) }));
    const change = list.take(
      message({ set: [...set(1), { deviceId: id(2), address: '10.9.9.9' }], remove: [id(7)] }),
    );
    expect(change.set).toEqual([{ deviceId: id(2), address: '10.9.9.9' }]);
    expect(change.remove).toEqual([]);
    expect(list.take(message({ remove: [id(1)] })).remove).toEqual([id(1)]);
  });
});
