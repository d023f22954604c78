import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@rollcall/shared/clock';
import { parseCidr, type Range } from '@rollcall/shared/ip';
import type { JobEndObservation, Observation } from '@rollcall/shared/observation';
import { BUILT_IN_PROFILES, type ProfileSettings } from '@rollcall/shared/profile';
import { type Assignment, type CollectorMessage, parseObservation } from '@rollcall/shared/protocol';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenEcho } from '../icmp/echo.ts';
import { Outbox } from '../outbox/outbox.ts';
import { Scope } from '../sweep/scope.ts';
import { echoOf } from '../testing/fake-network.ts';
import { Paces } from './paces.ts';
import { Runner, type RunnerLimits } from './runner.ts';

const log = pino({ level: 'silent' });
let folder: string;
let outbox: Outbox;
const runners: Runner[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-runner-'));
  const settings = { bytes: 256 * 1024 * 1024, ageMs: 1e12, minFreeBytes: 0 };
  outbox = await Outbox.open({ folder: join(folder, 'outbox'), settings, clock: systemClock, log });
});
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.stop();
  await outbox.close();
  rmSync(folder, { recursive: true, force: true });
});

const block = (text: string): Range => {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value.range;
};
const jobId = (n: number) => `0192f0c0-0000-7000-8000-${String(n).padStart(12, '0')}`;
const ping = (more: Partial<ProfileSettings> = {}): ProfileSettings => ({
  ...(BUILT_IN_PROFILES.ping as ProfileSettings),
  icmp: { tries: 1, timeoutMs: 30 },
  rate: 'max',
  ratePerNet: 'max',
  ...more,
});
const assignment = (n: number, first: string, count: number, more: Partial<Assignment> = {}): Assignment => ({
  job: jobId(n),
  fence: 1,
  spans: [{ first, count }],
  profile: ping(),
  credentials: [],
  ...more,
});

const start = (
  options: {
    echo?: OpenEcho;
    limits?: Partial<RunnerLimits>;
    cap?: number;
    outbox?: Pick<Outbox, 'append' | 'status'>;
  } = {},
) => {
  const { cap = 1_000_000 } = options;
  const said: CollectorMessage[] = [];
  const unused = () => Promise.reject(new Error('SNMP is not asked here'));
  const runner = new Runner({
    tools: {
      clock: systemClock,
      echo: options.echo ?? echoOf((address) => (Number(address.split('.')[3]) % 4 === 0 ? 1 : undefined)),
      snmp: unused,
      inventory: unused,
      macOf: () => undefined,
      routerSilentTowards: () => undefined,
      nameOf: async () => null,
      names: unused,
    },
    outbox: options.outbox ?? outbox,
    clock: systemClock,
    log,
    paces: new Paces({ rate: cap, ratePerNet: cap }, systemClock),
    limits: { jobs: 4, scope: new Scope({ deny: [], loopback: false }), ...options.limits },
    send: (message) => {
      said.push(message);
      return true;
    },
  });
  runners.push(runner);
  return { runner, said };
};

/** What lies in the outbox, in order; every one checked as the server would. */
const recorded = (): Observation[] => {
  const all: Observation[] = [];
  for (let after = -1; ; ) {
    const batch = outbox.next('state', after, 1e6, 2000);
    if (!batch) return all;
    for (const item of batch.items) {
      const parsed = parseObservation(JSON.parse(item.toString()));
      expect(parsed.ok).toBe(true);
      if (parsed.ok) all.push(parsed.message);
    }
    after = batch.from + batch.items.length - 1;
  }
};
const of = (job: number) => recorded().filter((o) => 'job' in o && o.job === jobId(job));
const endOf = (job: number) => of(job).find((o): o is JobEndObservation => o.kind === 'job-end');
/** The codes of a job, laid over each other in order. */
const codesOf = (job: number, size: number): string => {
  const codes = Array<string>(size).fill('.');
  for (const o of of(job))
    if (o.kind === 'outcomes')
      for (const [i, code] of [...o.codes].entries()) if (code !== '.') codes[o.from + i] = code;
  return codes.join('');
};
const until = async (condition: () => boolean, ms = 10_000) => {
  for (const end = Date.now() + ms; !condition(); ) {
    if (Date.now() > end) throw new Error('waited in vain');
    await systemClock.sleep(5);
  }
};
const idle = (runner: Runner) => until(() => runner.working().length === 0);

describe('a job', () => {
  test('ends with an outcome for each of its 4,096 addresses, facts before outcomes, and its end last', async () => {
    const { runner } = start();
    runner.assign(assignment(1, '10.1.0.0', 4096));
    await idle(runner);
    const codes = codesOf(1, 4096);
    expect(codes).toBe('i___'.repeat(1024));
    expect(endOf(1)).toMatchObject({
      fence: 1,
      result: 'done',
      counts: { probed: 4096, alive: 1024, devices: 1024 },
    });
    const all = of(1);
    expect(all.at(-1)?.kind).toBe('job-end');
    const toldAt = new Map(all.flatMap((o, i) => (o.kind === 'host' ? [[o.address, i]] : [])));
    for (const [i, o] of all.entries()) {
      if (o.kind !== 'outcomes') continue;
      for (const [k, code] of [...o.codes].entries()) {
        if (code !== 'i') continue;
        const index = o.from + k;
        expect(toldAt.get(`10.1.${index >> 8}.${index & 255}`)).toBeLessThan(i);
      }
    }
  });

  test('resumes where it was left: what is done is not visited again', async () => {
    const asked: string[] = [];
    const { runner } = start({ echo: echoOf(() => 1, asked) });
    // Addresses 0–7 and 9 of 16.
    const done = Buffer.from([0b1111_1111, 0b0000_0010]).toString('base64');
    runner.assign(assignment(1, '10.1.0.0', 16, { done, fence: 5 }));
    await idle(runner);
    expect(codesOf(1, 16)).toBe('........i.iiiiii');
    expect(new Set(asked).size).toBe(7);
    expect(endOf(1)).toMatchObject({ fence: 5, result: 'done', counts: { probed: 16, alive: 7 } });
  });

  test('A23: assigned twice it is one sweep; a newer lease changes the fence of what follows', async () => {
    const asked: string[] = [];
    const { runner } = start({ echo: echoOf(() => 1, asked) });
    const slow = assignment(1, '10.1.0.0', 64, { profile: ping({ rate: 200, ratePerNet: 200 }) });
    runner.assign(slow);
    await systemClock.sleep(60);
    runner.assign(slow);
    runner.assign({ ...slow, fence: 2 });
    expect(runner.working()).toEqual([{ job: jobId(1), fence: 2 }]);
    await idle(runner);
    expect(asked).toHaveLength(64);
    expect(of(1).filter((o) => o.kind === 'job-end')).toHaveLength(1);
    expect(endOf(1)).toMatchObject({ fence: 2 });
    expect(codesOf(1, 64)).toBe('i'.repeat(64));
  });

  test('A23: one that ended here, assigned anew before its end arrived, only ends again', async () => {
    const asked: string[] = [];
    const { runner } = start({ echo: echoOf(() => 1, asked) });
    runner.assign(assignment(1, '10.1.0.0', 16));
    await idle(runner);
    runner.assign(assignment(1, '10.1.0.0', 16, { fence: 2 }));
    await until(() => of(1).filter((o) => o.kind === 'job-end').length === 2);
    expect(asked).toHaveLength(16);
    expect(of(1).at(-1)).toMatchObject({ kind: 'job-end', fence: 2, result: 'done' });
  });

  test('reports its progress', async () => {
    const { runner, said } = start({ echo: echoOf(() => 1) });
    runner.assign(assignment(1, '10.1.0.0', 300, { profile: ping({ rate: 150, ratePerNet: 150 }) }));
    await until(() => said.some((message) => message.type === 'progress' && message.probed > 0));
    expect(said.find(({ type }) => type === 'progress')).toMatchObject({
      job: jobId(1),
      fence: 1,
      rate: 150,
    });
    runner.cancel(jobId(1), 1);
    await idle(runner);
  });
});

describe('cancelling', () => {
  /** However late a busy machine hears an answer. */
  const heard = { icmp: { tries: 1, timeoutMs: 10_000 } };

  test('A22: takes effect long before the sweep ends, keeps what was found, ends nothing', async () => {
    const { runner } = start({ echo: echoOf(() => 1) });
    runner.assign(
      assignment(1, '10.1.0.0', 4096, { profile: ping({ ...heard, rate: 300, ratePerNet: 300 }) }),
    );
    await systemClock.sleep(700);
    const since = performance.now();
    runner.cancel(jobId(1), 1);
    await idle(runner);
    expect(performance.now() - since).toBeLessThan(9_000);
    expect(endOf(1)).toBeUndefined();
    const hosts = of(1).filter((o) => o.kind === 'host').length;
    expect(hosts).toBeGreaterThan(50);
    expect(codesOf(1, 4096).replaceAll('.', '')).toHaveLength(hosts);
  });

  test('of an older lease it has no effect', async () => {
    const { runner } = start();
    runner.assign(assignment(1, '10.1.0.0', 64, { fence: 3, profile: ping({ rate: 200, ratePerNet: 200 }) }));
    runner.cancel(jobId(1), 2);
    await idle(runner);
    expect(endOf(1)).toMatchObject({ result: 'done' });
  });

  test('B36: stopping in the middle of sweeps writes down what they found', async () => {
    const { runner } = start({ echo: echoOf(() => 1) });
    for (const n of [1, 2, 3])
      runner.assign(
        assignment(n, `10.${n}.0.0`, 4096, { profile: ping({ ...heard, rate: 450, ratePerNet: 450 }) }),
      );
    await systemClock.sleep(600);
    const since = performance.now();
    await runner.stop();
    expect(performance.now() - since).toBeLessThan(9_000);
    for (const n of [1, 2, 3]) {
      const hosts = of(n).filter((o) => o.kind === 'host').length;
      expect(hosts).toBeGreaterThan(20);
      expect(codesOf(n, 4096).replaceAll('.', '')).toHaveLength(hosts);
      expect(endOf(n)).toBeUndefined();
    }
    runner.assign(assignment(9, '10.9.0.0', 1));
    expect(runner.working()).toEqual([]);
  });
});

describe('what is not taken', () => {
  test.each([
    [
      'F91: more than a job holds',
      [
        { first: '10.0.0.0', count: 4096 },
        { first: '10.1.0.0', count: 1 },
      ],
      /4097 addresses; a job has 4096/,
    ],
    ['what is no address', [{ first: '10.0.0.256', count: 1 }], /cannot be read/],
    ['what runs past the last address', [{ first: '255.255.255.250', count: 100 }], /cannot be read/],
    ['F94: the metadata address', [{ first: '169.254.169.254', count: 1 }], /link-local.*by name/],
    ['F94: multicast', [{ first: '224.0.0.1', count: 5 }], /multicast/],
    ['F94: loopback', [{ first: '127.0.0.1', count: 1 }], /loopback.*by name/],
  ])('%s', async (_name, spans, reason) => {
    const { runner, said } = start();
    runner.assign({ ...assignment(1, '10.0.0.0', 1), spans });
    expect(runner.working()).toEqual([]);
    expect(said).toMatchObject([
      { type: 'outcome', job: jobId(1), fence: 1, result: 'failed', reason: expect.stringMatching(reason) },
    ]);
    expect(recorded()).toEqual([]);
  });

  test('F95: a job outside what the administrator of the site allows, whatever the server says', async () => {
    const asked: string[] = [];
    const scope = new Scope({ allow: [block('10.1.0.0/16')], deny: [], loopback: true });
    const { runner, said } = start({ echo: echoOf(() => 1, asked), limits: { scope } });
    runner.assign(assignment(1, '192.168.0.0', 16));
    expect(said).toMatchObject([
      { result: 'failed', reason: '192.168.0.0/28 is outside what this collector’s settings allow' },
    ]);
    expect(asked).toEqual([]);
  });

  test('F95: of a job that lies partly outside the allowed part is swept, the rest is excluded with the reason', async () => {
    const asked: string[] = [];
    const scope = new Scope({ allow: [block('10.1.0.0/29')], deny: [block('10.1.0.4/31')], loopback: false });
    const { runner } = start({ echo: echoOf(() => 1, asked), limits: { scope } });
    runner.assign(assignment(1, '10.1.0.0', 16));
    await idle(runner);
    expect(codesOf(1, 16)).toBe('iiiixxiixxxxxxxx');
    expect(new Set(asked).size).toBe(6);
    const notes = Object.assign(
      {},
      ...of(1).flatMap((o) => (o.kind === 'outcomes' && o.notes ? [o.notes] : [])),
    );
    expect(notes).toEqual({
      4: '10.1.0.4/31 is denied by this collector’s settings',
      8: '10.1.0.8/29 is outside what this collector’s settings allow',
    });
    expect(endOf(1)).toMatchObject({ result: 'done', counts: { probed: 16 } });
  });

  test('exclusions of the profile hold even if the server forgot them', async () => {
    const { runner } = start({ echo: echoOf(() => 1) });
    runner.assign(assignment(1, '10.1.0.0', 8, { profile: ping({ exclude: ['10.1.0.2', '10.1.0.4/31'] }) }));
    await idle(runner);
    expect(codesOf(1, 8)).toBe('iixixxii');
  });

  test('more jobs than it takes are put off', async () => {
    const { runner, said } = start({ limits: { jobs: 1 } });
    runner.assign(assignment(1, '10.1.0.0', 64, { profile: ping({ rate: 200, ratePerNet: 200 }) }));
    runner.assign(assignment(2, '10.2.0.0', 64));
    expect(said).toMatchObject([
      { type: 'outcome', job: jobId(2), result: 'deferred', reason: 'it works on 1 jobs already' },
    ]);
    await idle(runner);
  });

  test('B28: nothing is begun while nothing can be kept', async () => {
    const full = {
      append: () => new Promise<void>(() => undefined),
      status: () => ({ ...outbox.status(), paused: 'the disk is full' }),
    };
    const { runner, said } = start({ outbox: full });
    runner.assign(assignment(1, '10.1.0.0', 8));
    expect(said).toMatchObject([{ result: 'deferred', reason: 'the disk is full' }]);
  });

  test('B28: a disk that fills in the middle holds the sweep up; it can still be cancelled', async () => {
    const asked: string[] = [];
    const stuck = { append: () => new Promise<void>(() => undefined), status: () => outbox.status() };
    const { runner } = start({ outbox: stuck, echo: echoOf(() => 1, asked) });
    runner.assign(assignment(1, '10.1.0.0', 4096));
    await until(() => asked.length > 0);
    for (let before = -1; before !== asked.length; await systemClock.sleep(400)) before = asked.length;
    expect(asked.length).toBeLessThan(4096);
    runner.cancel(jobId(1), 1);
    // Its record can never be finished here; the runner is left to the process that ends.
    runners.splice(0);
  });
});

describe('side by side', () => {
  test('a /28 is not kept waiting by a /20: both get their turns of one rate', async () => {
    const { runner } = start({ echo: echoOf(() => 1) });
    const profile = ping({ rate: 1000, ratePerNet: 1000 });
    runner.assign(assignment(1, '10.1.0.0', 4096, { profile }));
    await systemClock.sleep(200);
    runner.assign(assignment(2, '10.2.0.0', 16, { profile }));
    await until(() => endOf(2) !== undefined);
    expect(endOf(1)).toBeUndefined();
    runner.cancel(jobId(1), 1);
    await idle(runner);
  });

  test('F102: jobs of one scan share its rate, and all of them the cap of the site', async () => {
    const sent: number[] = [];
    const counting: OpenEcho = (space, events, options) => {
      const echo = echoOf(() => 1)(space, events, options);
      return {
        ...echo,
        send: (indexes, attempts) => {
          sent.push(...Array<number>(indexes.length).fill(performance.now()));
          return echo.send(indexes, attempts);
        },
      };
    };
    /** Addresses asked a second. */
    const run = async (rates: number[], cap: number) => {
      sent.length = 0;
      const { runner } = start({ echo: counting, cap });
      for (const [n, rate] of rates.entries())
        runner.assign(assignment(n + 1, `10.${n}.0.0`, 4096, { profile: ping({ rate, ratePerNet: rate }) }));
      const since = performance.now();
      await systemClock.sleep(1000);
      const rate = (sent.length * 1000) / (performance.now() - since);
      await runner.stop();
      return rate;
    };
    const shared = await run([500, 500, 500], 1_000_000);
    expect(shared).toBeGreaterThan(250);
    expect(shared).toBeLessThan(700);
    const apart = await run([500, 501], 1_000_000);
    expect(apart).toBeGreaterThan(560);
    const capped = await run([500, 501, 502], 400);
    expect(capped).toBeLessThan(600);
  });
});
