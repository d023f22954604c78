import { THRESHOLDS } from '@rollcall/shared/api/sites';
import { describe, expect, it } from 'vitest';
import {
  besides,
  hourOfWeek,
  learn,
  learnTraffic,
  type Traffic,
  type Usual,
  unusual,
  usualPackets,
} from './baseline.ts';
import type { Series } from './series.ts';
import { crossings } from './thresholds.ts';

const MIN = 60_000;
const HOUR = 60 * MIN;
const WEEK = 168 * HOUR;
/** Hold time of the events. */
const HOLD_MS = 300_000;

/** Numbers that look like chance, the same each time (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Pings {
  sent: number;
  lost: number;
  avgMs: number | null;
}
type Link = (end: number, random: () => number) => Pings;

/** A link of four pings a minute; each round trip by `rtt`, each lost with the probability `loss`. */
const link =
  (rtt: (end: number, random: () => number) => number, loss = 0): Link =>
  (end, random) => {
    const answered = Array.from({ length: 4 }, () => (random() < loss ? null : rtt(end, random))).filter(
      (one) => one !== null,
    );
    const sum = answered.reduce((all, one) => all + one, 0);
    return {
      sent: 4,
      lost: 4 - answered.length,
      avgMs: answered.length ? sum / answered.length : null,
    };
  };
const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
const steady = (ms: number) => (_: number, random: () => number) => ms * Math.exp(0.05 * normal(random));
/** Office hours are slower, and their begin moves from day to day. */
const busy = (end: number, random: () => number) => {
  const hour = (end / HOUR) % 24;
  const begins = 8 + (Math.floor(end / (24 * HOUR)) % 3) * 0.3;
  return (hour > begins && hour < 17 ? 60 : 12) * Math.exp(0.4 * normal(random));
};
const spiky = (_: number, random: () => number) => 15 + (random() < 0.05 ? 400 * random() : 2 * random());

const hourOf = (of: Link, begins: number, random: () => number): Series => {
  const end = Array.from({ length: 60 }, (_, i) => begins + (i + 1) * MIN);
  const all = end.map((at) => of(at, random));
  return {
    end,
    over: end.map(() => MIN),
    columns: {
      sent: all.map(({ sent }) => sent),
      lost: all.map(({ lost }) => lost),
      avgMs: all.map(({ avgMs }) => avgMs),
    },
  };
};

/** Plays a link from `from` to `to`, learning each hour after it; answers what would be told, with its hold time. */
function play(
  of: Link,
  { from, to, seed, usual }: { from: number; to: number; seed: number; usual: Map<number, Usual> },
) {
  const random = chance(seed);
  const present = new Set<'loss' | 'latency'>();
  const since = new Map<string, number>();
  const told: string[] = [];
  for (let begins = from; begins < to; begins += HOUR) {
    const series = hourOf(of, begins, random);
    const known = besides(hourOfWeek(begins + 1)).map((hour) => usual.get(hour));
    const baseline = known[0] ? unusual(known.filter((one) => one !== undefined)) : {};
    const limits = () => ({ ...THRESHOLDS, ...baseline });
    for (const { of: what, kind, at } of crossings(series, {
      limits,
      present: present as never,
    })) {
      if (kind === 'measured.above') since.set(what, at);
      else if (at - (since.get(what) ?? at) >= HOLD_MS)
        told.push(`${what} at ${(since.get(what) ?? 0) / MIN}`);
      if (kind === 'measured.below') since.delete(what);
    }
    const learnt = learn(usual.get(hourOfWeek(begins + 1)) ?? null, series);
    if (learnt) usual.set(hourOfWeek(begins + 1), learnt);
  }
  for (const [what, at] of since) if (to - at >= HOLD_MS) told.push(`${what} at ${at / MIN}`);
  return told;
}

describe('a link that is as it always was is never told', () => {
  it.each<[what: string, of: Link]>([
    ['steady', link(steady(20))],
    ['steady and far', link(steady(600))],
    ['very near', link(steady(0.3))],
    ['slower and noisy in office hours', link(busy)],
    ['of single late answers', link(spiky)],
    ['that loses one of ten', link(steady(40), 0.1)],
    ['that loses one of four', link(steady(40), 0.25)],
  ])('%s', (_, of) => {
    const usual = new Map<number, Usual>();
    // What it does in its first week is judged by the fixed thresholds, which a lossy link exceeds.
    play(of, { from: 0, to: WEEK, seed: 1, usual });
    for (const seed of [2, 3, 4, 5])
      expect(play(of, { from: seed * WEEK, to: (seed + 1) * WEEK, seed, usual })).toEqual([]);
  });
});

describe('trouble is told', () => {
  const learnt = (of: Link): Map<number, Usual> => {
    const usual = new Map<number, Usual>();
    for (const week of [0, 1, 2])
      play(of, { from: week * WEEK, to: (week + 1) * WEEK, seed: week + 1, usual });
    return usual;
  };
  const night = 3 * WEEK + 50 * HOUR;
  const play2 = (of: Link, trouble: Link) =>
    play(trouble, { from: night, to: night + HOUR, seed: 9, usual: learnt(of) });

  it('of a link that takes a long way round, at its first minute', () => {
    expect(play2(link(steady(20)), link(steady(80)))).toEqual([`latency at ${night / MIN + 1}`]);
  });
  it('of a night that is as slow as the day always is', () => {
    expect(play2(link(busy), link(steady(120)))).toEqual([`latency at ${night / MIN + 1}`]);
  });
  it('of a far link that is three times as far', () => {
    expect(play2(link(steady(600)), link(steady(1800)))).toEqual([`latency at ${night / MIN + 1}`]);
  });
  it('of a link that lost nothing and now loses half', () => {
    expect(play2(link(steady(20)), link(steady(20), 0.5))).not.toEqual([]);
  });
  it('not of a few milliseconds more on a short link', () => {
    expect(play2(link(steady(0.3)), link(steady(8)))).toEqual([]);
  });
});

describe('what is learnt', () => {
  const hour = (rtt: number, pings: Partial<Pings> = {}) =>
    hourOf(() => ({ sent: 4, lost: 0, avgMs: rtt, ...pings }), 0, Math.random);
  it('nothing of an hour in which the device was down, or was hardly measured', () => {
    expect(learn(null, hour(5, { lost: 4, avgMs: null }))).toBeNull();
    const short = hour(5);
    expect(learn(null, { ...short, columns: { sent: [4], lost: [0], avgMs: [5] } })).toBeNull();
  });
  it('of one hour of trouble no more than what was unusual before', () => {
    const before = learn(null, hour(10)) as Usual;
    const after = learn(before, hour(5000)) as Usual;
    expect(after.rtt).toBeLessThanOrEqual(unusual([before]).latency ?? 0);
  });
  it('what lasts for weeks', () => {
    let usual = learn(null, hour(10));
    for (let week = 0; week < 20; week++) usual = learn(usual, hour(200));
    expect(usual?.rtt).toBeGreaterThan(150);
    expect(usual?.weeks).toBe(4);
  });
  it('nothing is known of no hours', () => expect(unusual([])).toEqual({}));
});

it('an interval belongs to the hour in which it ends, and the week goes round', () => {
  expect([1, HOUR, HOUR + 1, WEEK, WEEK + 1].map(hourOfWeek)).toEqual([0, 0, 1, 167, 0]);
  expect(besides(0)).toEqual([0, 167, 1]);
  expect(besides(167)).toEqual([167, 166, 0]);
});

describe('traffic of an interface', () => {
  const hour = (columns: Series['columns']): Series => ({
    end: [60_000, 120_000],
    over: [60_000, 60_000],
    columns,
  });
  const known = { least: 30, hours: 24 };
  it.each<[what: string, before: Traffic | null, columns: Series['columns'], expected: Traffic | null]>([
    [
      'begins with the first hour',
      null,
      { inUnicast: [600, 600], outUnicast: [1200, 1200] },
      { least: 30, hours: 1 },
    ],
    [
      'is that of the quietest hour',
      { least: 30, hours: 3 },
      { inUnicast: [60, 60] },
      { least: 1, hours: 4 },
    ],
    ['stays in about the same', known, { inUnicast: [3000, 3000] }, known],
    ['rises slowly', known, { inUnicast: [60_000, 60_000] }, { least: 60, hours: 24 }],
    ['begins anew after an hour without', known, { inUnicast: [0, 0], outUnicast: [0, 0] }, null],
    ['stays when nothing is known', known, { inUnicast: [null, null] }, known],
    [
      'leaves out intervals of which nothing is known',
      null,
      { inUnicast: [600, null] },
      { least: 10, hours: 1 },
    ],
  ])('%s', (_, before, columns, expected) => expect(learnTraffic(before, hour(columns))).toEqual(expected));

  it('is usual after a day without a silent hour', () => {
    let traffic: Traffic | null = null;
    for (let i = 0; i < 23; i++) traffic = learnTraffic(traffic, hour({ inUnicast: [600, 600] }));
    expect(usualPackets(traffic ?? undefined)).toBeNull();
    expect(usualPackets(learnTraffic(traffic, hour({ inUnicast: [600, 600] })) ?? undefined)).toBe(10);
    expect(usualPackets(undefined)).toBeNull();
  });
});
