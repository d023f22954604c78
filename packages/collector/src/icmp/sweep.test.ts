import { execFileSync } from 'node:child_process';
import { allowDatagramIcmp, enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { AddressSpace } from '@rollcall/shared/address-space';
import { systemClock } from '@rollcall/shared/clock';
import { parseTargets } from '@rollcall/shared/targets';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { beforeAll, describe, expect, it } from 'vitest';
import { Pace } from '../runner/pace.ts';
import { chooseEcho } from './choose.ts';
import { type Echo, type EchoEvents, noCounts, type OpenEcho } from './echo.ts';
import { type IcmpSweep, sweepIcmp } from './sweep.ts';

const spaceOf = (text: string) => {
  const result = parseTargets(text, { allowLoopback: true });
  if (!result.ok) throw new Error(text);
  return new AddressSpace(result.targets.ranges);
};

const FREE = { free: true, take: () => undefined };

/** Runs a sweep and writes down what it said. */
const roll = async (space: AddressSpace, echo: OpenEcho, more: Partial<IcmpSweep> = {}) => {
  const answers = new Map<string, number>();
  const silent: string[] = [];
  const unsent: string[] = [];
  const summary = await sweepIcmp({
    space,
    echo,
    pace: FREE,
    tries: 2,
    timeoutMs: 200,
    onAnswer: (index, address, rttMs) => {
      expect(space.indexOf(address)).toBe(index);
      expect(answers.has(address)).toBe(false);
      answers.set(address, rttMs);
    },
    onSilent: (_index, address, code) => (code === null ? silent : unsent).push(address),
    ...more,
  });
  return { summary, answers, silent, unsent };
};

const hasPing = () => {
  try {
    execFileSync('ping', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    skipped('sweeps by the ping program: install iputils-ping');
    return false;
  }
};

describe.skipIf(!enterOwnNetwork())('on a real loopback', () => {
  beforeAll(() => allowDatagramIcmp(true));

  it.each(['datagram', 'raw'] as const)('%s: finds all that answer, and nothing else', async (engine) => {
    const { choices, open } = await chooseEcho([engine]);
    expect(choices.map((choice) => choice.engine)).toEqual([engine, engine]);
    const { summary, answers, silent, unsent } = await roll(spaceOf('127.0.0.0/20'), open);
    expect(answers.size).toBe(4094);
    expect([...silent, ...unsent]).toEqual([]);
    expect(summary).toMatchObject({ ended: 'complete', answered: 4094, silent: 0, duplicates: 0 });
    expect(summary.counts).toMatchObject({ sent: 4094, wrong: { check: 0, source: 0 }, overflow: 0 });
    for (const rtt of answers.values()) expect(rtt).toBeLessThan(5_000);
  });

  it.each(['datagram', 'raw'] as const)('%s: IPv6, and both families in one sweep', async (engine) => {
    const { open } = await chooseEcho([engine]);
    const { summary, answers } = await roll(spaceOf('::1, 127.0.0.1-127.0.0.9'), open);
    expect(answers.size).toBe(10);
    expect(answers.has('::1')).toBe(true);
    expect(summary.counts).toMatchObject({ sent: 10, received: 10 });
  });

  it('an address the host cannot send to is distinguished from a silent one', async () => {
    const { open } = await chooseEcho(['raw']);
    const { unsent, silent, answers, summary } = await roll(spaceOf('127.0.0.1 192.0.2.1-192.0.2.3'), open);
    expect(answers.size).toBe(1);
    expect(silent).toEqual([]);
    expect(unsent.sort()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    expect(summary.counts.failed).toEqual({ ENETUNREACH: 6 });
  });

  it.skipIf(!hasPing())('ping: the last resort finds the same', async () => {
    const { choices, open } = await chooseEcho(['ping']);
    expect(choices[0].engine).toBe('ping');
    const { answers, unsent, silent, summary } = await roll(spaceOf('127.0.0.1-127.0.0.40 192.0.2.1'), open);
    expect(answers.size).toBe(40);
    expect([unsent, silent]).toEqual([['192.0.2.1'], []]);
    expect(summary.counts.failed).toEqual({ 'exit 2': 2 });
  });

  it('gives way to the rest of the process every few milliseconds, at full speed', async () => {
    const { open } = await chooseEcho(['datagram']);
    // Processor time between turns of the event loop, so that a busy machine does not count.
    const turns: number[] = [];
    let last = process.cpuUsage();
    let running = true;
    const turn = () => {
      const used = process.cpuUsage(last);
      turns.push((used.user + used.system) / 1000);
      last = process.cpuUsage();
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    await roll(spaceOf('127.0.0.0/17'), open);
    running = false;
    const slowest = turns.toSorted((a, b) => b - a);
    expect(turns.length).toBeGreaterThan(20);
    // The collector of garbage works in between, for everything that the process holds.
    expect(slowest[Math.ceil(turns.length / 2)]).toBeLessThan(20);
    expect(slowest[Math.ceil(turns.length / 100)]).toBeLessThan(200);
  });

  it('stops at once at the signal', async () => {
    const { open } = await chooseEcho(['datagram']);
    const control = new AbortController();
    const pace = new Pace({ rate: 100, ratePerNet: 'max' }, systemClock);
    const running = roll(spaceOf('127.0.0.0/16'), open, { pace, signal: control.signal });
    setTimeout(() => control.abort(), 50);
    const { summary, silent } = await running;
    expect(summary.ended).toBe('aborted');
    expect(summary.answered).toBeGreaterThan(0);
    expect(silent).toEqual([]);
  });
});

/** Map.groupBy, which Node 20 has not. */
const groupBy = <T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
};

/** A network that is a function: what becomes of each request, decided by the test, on a manual clock. */
class Net {
  readonly clock = new ManualClock();
  readonly asked: { index: number; attempt: number; at: number }[] = [];
  flood = false;
  receives = 0;
  readonly #fate: (index: number, attempt: number) => number | 'fail' | null;
  #due: { at: number; index: number; attempt: number; sentAt: number }[] = [];

  /** `fate` gives the round trip in milliseconds, null for a loss. */
  constructor(fate: (index: number, attempt: number) => number | 'fail' | null) {
    this.#fate = fate;
  }

  readonly open: OpenEcho = (_space, events): Echo => ({
    batch: 64,
    counts: noCounts(),
    send: (indexes, attempts) => {
      for (const [i, index] of indexes.entries()) this.#ask(index, attempts[i] ?? 0, events);
      return indexes.length;
    },
    receive: () => {
      this.receives += 1;
      const now = this.clock.monotonic();
      const due = this.#due.filter(({ at }) => at <= now);
      this.#due = this.#due.filter(({ at }) => at > now);
      for (const { index, attempt, at, sentAt } of due) events.heard(index, at - sentAt, attempt);
      return this.flood;
    },
    close: () => undefined,
  });

  #ask(index: number, attempt: number, events: EchoEvents) {
    const now = this.clock.monotonic();
    this.asked.push({ index, attempt, at: now });
    const fate = this.#fate(index, attempt);
    if (fate === 'fail') events.failed(index, 'ENETUNREACH');
    else if (fate !== null) this.#due.push({ at: now + fate, index, attempt, sentAt: now });
  }

  async roll(space: AddressSpace, more: Partial<IcmpSweep> = {}, ms = 60_000) {
    const running = roll(space, this.open, { clock: this.clock, timeoutMs: 1000, ...more });
    await this.clock.pass(ms);
    return running;
  }
}

describe('over a network made of functions', () => {
  const space = spaceOf('10.0.0.0-10.0.3.255');

  it('asks again only the silent, each a timeout after it was asked, then reports them', async () => {
    const net = new Net((index) => (index % 4 === 0 ? null : 5));
    const { silent, answers, summary } = await net.roll(space, { tries: 3 });
    expect(answers.size).toBe(768);
    expect(silent).toHaveLength(256);
    expect(summary).toMatchObject({ answered: 768, silent: 256, late: 0, duplicates: 0 });
    expect(net.asked).toHaveLength(1024 + 256 + 256);
    const perAddress = groupBy(net.asked, ({ index }) => index);
    for (const [index, asks] of perAddress) {
      expect(asks.map(({ attempt }) => attempt)).toEqual(index % 4 === 0 ? [1, 2, 3] : [1]);
      for (const [i, ask] of asks.entries()) {
        if (i > 0) expect(ask.at - (asks[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(1000);
      }
    }
  });

  it('finds what answers only the second or third time', async () => {
    const net = new Net((index, attempt) => (attempt > index % 3 ? 5 : null));
    const reports: [number, number][] = [];
    const pace = { ...FREE, report: (answered: number, lost: number) => reports.push([answered, lost]) };
    const { answers, silent } = await net.roll(space, { tries: 3, pace });
    expect(answers.size).toBe(1024);
    expect(silent).toEqual([]);
    const sum = (which: 0 | 1) => reports.reduce((total, report) => total + report[which], 0);
    expect(sum(0)).toBe(1024);
    expect(sum(1)).toBe(341 * 1 + 341 * 2);
  });

  it('asks in a keyed order', async () => {
    const order = async (fill: number) => {
      const net = new Net(() => 5);
      await net.roll(space, { key: new Uint8Array(16).fill(fill) });
      return net.asked.map(({ index }) => index);
    };
    const [a, b, c] = [await order(1), await order(1), await order(2)];
    expect(a).toEqual(b);
    expect(a).not.toEqual(c);
    expect(a.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 1024 }, (_, i) => i));
  });

  it('takes late answers before the verdict, counts them, and those after it change nothing', async () => {
    const net = new Net((index, attempt) => (attempt === 1 ? (index % 2 ? 1500 : 2800) : null));
    const { answers, silent, summary } = await net.roll(space, { tries: 2 });
    expect(answers.size).toBe(512);
    expect(silent).toHaveLength(512);
    expect(summary.late).toBe(512);
    // A slow sweep goes on long after its first verdicts: an answer that comes then is late and nothing more.
    const slow = new Net((_index, attempt) => (attempt === 1 ? 8000 : null));
    const pace = new Pace({ rate: 100, ratePerNet: 'max' }, slow.clock);
    const later = await slow.roll(space, { tries: 2, pace });
    expect([later.answers.size, later.silent.length]).toEqual([0, 1024]);
    expect(later.summary).toMatchObject({ answered: 0, silent: 1024, duplicates: 0 });
    expect(later.summary.late).toBeGreaterThan(500);
  });

  it('counts a second answer as a duplicate, once reported', async () => {
    const net = new Net((index, attempt) => (index === 7 ? 1200 / attempt : 5));
    const { answers, summary } = await net.roll(spaceOf('10.0.0.0-10.0.0.9'));
    expect(answers.size).toBe(10);
    // The answer to the second request (600 ms) comes after that to the first (1200 ms): the sweep was over by then.
    expect(summary).toMatchObject({ late: 1, duplicates: 0, answered: 10 });
    const twice = new Net((index, attempt) => (index === 7 ? 1200 / attempt : index === 8 ? null : 5));
    expect((await twice.roll(spaceOf('10.0.0.0-10.0.0.9'))).summary).toMatchObject({
      duplicates: 1,
      silent: 1,
    });
  });

  it('leaves out what is skipped, everywhere', async () => {
    const net = new Net((index) => (index % 2 ? 5 : null));
    const { answers, silent, summary } = await net.roll(space, { skip: (index) => index < 512 });
    expect(net.asked.every(({ index }) => index >= 512)).toBe(true);
    expect([answers.size, silent.length, summary.skipped]).toEqual([256, 256, 512]);
  });

  it('an address whose last request could be sent is silent, not unsent', async () => {
    const net = new Net((index, attempt) => (index < 10 && attempt === 1 ? 'fail' : index < 20 ? null : 5));
    const { silent, unsent } = await net.roll(space);
    expect(silent).toHaveLength(20);
    expect(unsent).toEqual([]);
    const gone = new Net(() => 'fail');
    expect((await gone.roll(spaceOf('10.0.0.1'))).unsent).toEqual(['10.0.0.1']);
  });

  it('F101: a flood in the receive queue neither stops the sweep nor holds the event loop', async () => {
    const net = new Net((index) => (index % 2 ? 5 : null));
    net.flood = true;
    const { answers, silent } = await net.roll(space);
    expect([answers.size, silent.length]).toEqual([512, 512]);
    // Between two turns of the event loop the queue is looked at once; five rounds a flush, sixteen flushes, the waits.
    expect(net.receives).toBeLessThan(20_000);
  });

  it('keeps to the pace', async () => {
    const net = new Net(() => 5);
    const pace = new Pace({ rate: 500, ratePerNet: 200 }, net.clock);
    await net.roll(space, { pace });
    const seconds = (net.asked.at(-1)?.at ?? 0) / 1000;
    expect(seconds).toBeGreaterThan(1.9);
    expect(seconds).toBeLessThan(3.5);
    for (const [, asks] of groupBy(net.asked, ({ index, at }) => `${index >> 8} ${Math.floor(at / 1000)}`)) {
      expect(asks.length).toBeLessThanOrEqual(210);
    }
  });

  it('ends with the error of a callback that throws, whoever called it', async () => {
    const net = new Net(() => 50);
    const broken = () => {
      throw new Error('no room');
    };
    const running = roll(spaceOf('10.0.0.1'), net.open, {
      clock: net.clock,
      timeoutMs: 1000,
      onAnswer: broken,
    });
    const refused = expect(running).rejects.toThrow('no room');
    await net.clock.pass(5000);
    await refused;
  });

  it('refuses more tries than a request can carry', async () => {
    const net = new Net(() => 5);
    for (const tries of [0, 16, Number.NaN])
      await expect(roll(space, net.open, { tries })).rejects.toThrow(RangeError);
  });
});
