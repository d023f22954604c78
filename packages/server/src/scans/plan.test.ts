import { Range } from '@rollcall/shared/ip';
import { SCAN_ADDRESSES } from '@rollcall/shared/model';
import { BUILT_IN_PROFILES, profileSettings } from '@rollcall/shared/profile';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseSite, estimate, overlap, type PlanSite, planScan, readTargets } from './plan.ts';
import { JOB_ENDS, JOB_MOVES, SCAN_ENDS, SCANS_OPEN } from './states.ts';
import { type Turn, takeTurns } from './turns.ts';

const site = (name: string, more: Partial<PlanSite> = {}): PlanSite => ({
  id: `id of ${name}`.toLowerCase(),
  name,
  networks: [],
  exclude: [],
  allowLoopback: false,
  allowSpecial: false,
  ...more,
});
const { standard, ping } = BUILT_IN_PROFILES;
const ranges = (targets: string) => {
  const read = readTargets(targets, ping, SCAN_ADDRESSES);
  if (!read.ok) throw new Error(read.problems[0]?.reason);
  return read.targets.ranges;
};

describe('which site', () => {
  const berlin = site('Berlin', { networks: ['10.20.0.0/16', '2001:db8::/32'] });
  const paris = site('Paris', { networks: ['10.30.0.0/16'] });
  const twin = site('Twin', { networks: ['10.20.0.0/16'] });
  const bare = site('Bare');
  const choose = (targets: string, sites: PlanSite[], named?: string, all = true) =>
    chooseSite({ named, sites, all, ranges: ranges(targets) });

  it.each([
    ['the named one, by name', '10.30.0.0/24', [berlin, paris], 'Berlin', { site: berlin, by: 'name' }],
    ['the named one, by id', '10.30.0.0/24', [berlin, paris], 'id of berlin', { site: berlin, by: 'name' }],
    [
      'the one whose networks contain all targets',
      '10.20.1.0/24, 2001:db8::1',
      [berlin, paris, bare],
      undefined,
      { site: berlin, by: 'networks' },
    ],
    [
      'the one whose network is the most specific',
      '10.20.1.0/24',
      [berlin, site('Office', { networks: ['10.20.1.0/24', '10.0.0.0/8'] })],
      undefined,
      { site: { name: 'Office' }, by: 'networks' },
    ],
    ['the first of equals', '10.20.0.1', [berlin, twin], undefined, { site: berlin, by: 'default' }],
    ['the only one, whatever its networks', '192.0.2.0/24', [paris], undefined, { site: paris, by: 'only' }],
  ] as const)('%s', (_what, targets, sites, named, expected) => {
    expect(choose(targets, [...sites], named)).toMatchObject({ ok: true, ...expected });
  });

  it("takes the caller's default site among equals only", () => {
    const chosen = (usual: string, sites = [berlin, twin, paris]) =>
      chooseSite({ named: undefined, usual, sites, all: true, ranges: ranges('10.20.0.1') });
    expect(chosen('Twin')).toMatchObject({ site: twin, by: 'default' });
    expect(chosen('id of twin')).toMatchObject({ site: twin, by: 'default' });
    expect(chosen('Paris')).toMatchObject({ site: berlin, by: 'default' });
    expect(chosen('Paris', [berlin, paris])).toMatchObject({ site: berlin, by: 'networks' });
  });

  it.each([
    [
      'targets in two sites at once',
      '10.20.0.1, 10.30.0.1',
      [berlin, paris],
      undefined,
      true,
      'invalid_request',
      /no site's networks contain all targets; name one: Berlin, Paris/,
    ],
    [
      'an unknown name',
      '10.20.0.1',
      [berlin],
      'Rome',
      true,
      'invalid_request',
      /no such site; there are Berlin/,
    ],
    ['a name that the caller does not see', '10.20.0.1', [berlin], 'Rome', false, 'forbidden', /no access/],
    ['no site at all', '10.20.0.1', [], undefined, true, 'invalid_request', /add one first/],
    ['a caller without a site', '10.20.0.1', [], undefined, false, 'invalid_request', /access to no site/],
  ] as const)('is refused: %s', (_what, targets, sites, named, all, code, message) => {
    expect(choose(targets, [...sites], named, all)).toMatchObject({
      ok: false,
      code,
      message: expect.stringMatching(message),
    });
  });
});

describe('a plan', () => {
  const plan = (targets: string, where = site('x'), settings = ping) => {
    const planned = planScan(targets, settings, where, SCAN_ADDRESSES);
    if (!planned.ok) throw new Error(planned.problems.map(({ reason }) => reason).join('; '));
    return planned.plan;
  };

  it('leaves out what the targets, the profile and the site exclude', () => {
    const where = site('x', { exclude: ['10.0.0.8/29'] });
    const settings = profileSettings.parse({ snmp: null, exclude: ['10.0.0.1'] });
    const { targets } = plan('10.0.0.0/28, !10.0.0.2', where, settings);
    expect(targets.ranges.map(String)).toEqual(['10.0.0.3-10.0.0.7']);
    expect(targets).toMatchObject({ count: 5, excluded: 9 });
  });

  it('counts after the exclusions: what they bring down to the limit is taken', () => {
    const where = site('x', { exclude: ['10.16.0.0/12'] });
    expect(plan('10.0.0.0/11', where).targets.count).toBeLessThanOrEqual(SCAN_ADDRESSES);
    expect(planScan('10.0.0.0/11', ping, site('x'), SCAN_ADDRESSES)).toMatchObject({ ok: false });
  });

  it('sweeps loopback only where the site allows it', () => {
    expect(plan('127.0.10.0/24', site('lab', { allowLoopback: true })).targets.count).toBe(254);
    expect(planScan('127.0.10.0/24', ping, site('x'), SCAN_ADDRESSES)).toMatchObject({
      problems: [{ code: 'forbidden' }],
    });
  });

  it.each(['224.0.0.251', 'ff02::1', '169.254.169.254', 'fe80::1', '0.1.2.3'])(
    'sweeps %s only where the site allows what is special, and loopback not with it',
    (targets) => {
      const where = site('lab', { allowSpecial: true });
      expect(plan(targets, where).targets.count).toBe(1);
      for (const refused of [
        planScan(targets, ping, site('x', { allowLoopback: true }), SCAN_ADDRESSES),
        planScan(`${targets}, 127.0.0.1`, ping, where, SCAN_ADDRESSES),
      ])
        expect(refused).toMatchObject({ problems: [{ code: 'forbidden' }] });
    },
  );

  it.each(['0.0.0.0/0', '::/0', '0.0.0.0/1', 'fe80::/10', '2001:db8::/64', '224.0.0.1', '169.254.169.254'])(
    'case 91, 92, 94: refuses %s at once',
    (targets) => {
      expect(planScan(targets, ping, site('x', { allowLoopback: true }), SCAN_ADDRESSES).ok).toBe(false);
    },
  );

  it('is cut into jobs that hold every address once', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc
            .tuple(fc.nat(255), fc.nat(255), fc.integer({ min: 18, max: 32 }))
            .map(([a, b, n]) => `10.${a}.${b}.0/${n}`),
          { minLength: 1, maxLength: 8 },
        ),
        (blocks) => {
          const { targets, jobs } = plan(blocks.join(' '));
          expect(jobs.reduce((sum, { count }) => sum + count, 0)).toBe(targets.count);
          for (const { count } of jobs) expect(count).toBeLessThanOrEqual(4096);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('says how long a sweep takes in which nothing answers', () => {
    const small = plan('10.0.0.0/24');
    // 254 addresses × 2 tries at 500/s into one /24, then the last answer is waited for.
    expect(estimate(small, ping, 1)).toEqual({ packetsPerSecond: 500, packets: 508, seconds: 3 });
    expect(estimate(small, standard, 1)).toMatchObject({ packets: 1016, seconds: 7 });
    const large = plan('10.0.0.0/18');
    expect(estimate(large, ping, 1)).toMatchObject({ packetsPerSecond: 2000 });
    expect(estimate(large, ping, 3)).toMatchObject({ packetsPerSecond: 6000 });
    expect(estimate(large, ping, 0).seconds).toBe(estimate(large, ping, 1).seconds);
    const all = profileSettings.parse({ rate: 'max', ratePerNet: 'max', snmp: null });
    expect(estimate(large, all, 1)).toMatchObject({ packetsPerSecond: null });
    const alive = profileSettings.parse({ snmp: { ask: 'alive' } });
    expect(estimate(small, alive, 1).packets).toBe(508);
  });

  it('knows what it shares with another', () => {
    expect(overlap(ranges('10.0.0.0/24'), ranges('10.0.0.128/25, 10.9.0.0/24'))).toBe(126);
    expect(overlap(ranges('10.0.0.0/24'), ranges('2001:db8::1'))).toBe(0);
    expect(overlap([new Range(4, 1n, 2n)], [])).toBe(0);
  });
});

describe('turns', () => {
  const turn = (scan: string, more: Partial<Turn> = {}): Turn => ({
    scan,
    leased: 0,
    mine: 0,
    waiting: 100,
    last: 0,
    ...more,
  });

  it.each([
    ['keep a slot for who comes next', [turn('a')], 4, ['a', 'a', 'a']],
    ['give the only slot', [turn('a')], 1, ['a']],
    ['go round', [turn('a'), turn('b')], 4, ['a', 'b', 'a', 'b']],
    ['begin with who has the fewest', [turn('a', { leased: 3, mine: 3 }), turn('b')], 4, ['b']],
    ['then with who waited longest', [turn('a', { last: 9 }), turn('b', { last: 5 })], 1, ['b']],
    ['skip who has nothing to give', [turn('a', { waiting: 0 }), turn('b', { waiting: 1 })], 4, ['b']],
    ['give nothing to a full collector', [turn('a', { leased: 4, mine: 4 }), turn('b')], 4, []],
  ])('%s', (_what, turns, capacity, expected) => {
    expect(takeTurns(turns, capacity)).toEqual(expected);
  });

  it('never give more than fits, nor a job that is not there, nor all of several slots to one scan', () => {
    const some = fc.record({
      scan: fc.uuid(),
      leased: fc.nat(5),
      mine: fc.nat(3),
      waiting: fc.nat(5),
      last: fc.nat(9),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(some, { selector: ({ scan }) => scan, maxLength: 6 }),
        fc.integer({ min: 1, max: 8 }),
        (turns, capacity) => {
          const order = takeTurns(turns, capacity);
          const mine = turns.reduce((sum, each) => sum + each.mine, 0);
          expect(order.length).toBeLessThanOrEqual(Math.max(0, capacity - mine));
          for (const each of turns) {
            const given = order.filter((scan) => scan === each.scan).length;
            expect(given).toBeLessThanOrEqual(each.waiting);
            if (capacity > 1 && given > 0) expect(given + each.mine).toBeLessThan(capacity);
          }
        },
      ),
    );
  });
});

describe('states', () => {
  it('end where they should', () => {
    expect([...JOB_ENDS].sort()).toEqual(['cancelled', 'done', 'failed']);
    expect([...SCAN_ENDS].sort()).toEqual(['cancelled', 'completed', 'failed', 'partial']);
    expect([...SCANS_OPEN].sort()).toEqual(['queued', 'running']);
    for (const end of JOB_ENDS) for (const from of Object.values(JOB_MOVES)) expect(from).not.toContain(end);
  });
});
