import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressSpace } from './address-space.ts';
import { formatAddress, Range } from './ip.ts';
import { describeProblem, parseTargets, planJobs, type TargetPolicy } from './targets.ts';

const read = (text: string, policy?: TargetPolicy) => {
  const result = parseTargets(text, policy);
  if (!result.ok) throw new Error(result.problems.map(describeProblem).join('; '));
  return result.targets;
};
const problems = (text: string, policy?: TargetPolicy) => {
  const result = parseTargets(text, policy);
  return result.ok ? [] : result.problems;
};
const texts = (text: string, policy?: TargetPolicy) => read(text, policy).ranges.map(String);

describe('targets', () => {
  it.each<[string, string[], number]>([
    ['10.0.0.1', ['10.0.0.1'], 1],
    ['10.0.0.0/24', ['10.0.0.1-10.0.0.254'], 254],
    ['10.0.0.7/24', ['10.0.0.1-10.0.0.254'], 254],
    ['10.0.0.0/30', ['10.0.0.1-10.0.0.2'], 2],
    ['10.0.0.0/31', ['10.0.0.0/31'], 2],
    ['10.0.0.0/32', ['10.0.0.0'], 1],
    ['10.0.0.10-10.0.0.12', ['10.0.0.10-10.0.0.12'], 3],
    ['10.0.0.0-10.0.0.255', ['10.0.0.0/24'], 256],
    ['10.0.0.0/24,10.0.0.0', ['10.0.0.0-10.0.0.254'], 255],
    ['10.0.0.0/24 10.0.0.128/25\n10.0.0.5', ['10.0.0.1-10.0.0.254'], 254],
    ['10.0.1.0/24, 10.0.0.0/16', ['10.0.0.1-10.0.255.254'], 65534],
    ['10.0.0.0/29 !10.0.0.3', ['10.0.0.1-10.0.0.2', '10.0.0.4-10.0.0.6'], 5],
    ['!10.0.0.0/30,10.0.0.0/29', ['10.0.0.4-10.0.0.6'], 3],
    ['2001:db8::/126', ['2001:db8::/126'], 4],
    ['2001:DB8::1 10.0.0.1', ['10.0.0.1', '2001:db8::1'], 2],
  ])('%j is %j', (text, ranges, count) => {
    expect(texts(text)).toEqual(ranges);
    expect(read(text).count).toBe(count);
  });

  it('counts what exclusions took out, those of the profile too', () => {
    expect(read('10.0.0.0/29 !10.0.0.3')).toMatchObject({ count: 5, excluded: 1 });
    expect(read('10.0.0.0/29', { exclude: ['10.0.0.4/30'] })).toMatchObject({ count: 3, excluded: 3 });
    expect(read('10.0.0.1 !192.0.2.0/24')).toMatchObject({ count: 1, excluded: 0 });
  });

  it('F91 F92: what is too large is refused with its count, without being expanded', () => {
    expect(problems('0.0.0.0/0')[0]).toMatchObject({
      code: 'too-many',
      token: '0.0.0.0/0',
      reason: '4294967294 addresses; one scan takes at most 1048576',
    });
    expect(problems('::/0').map(({ code }) => code)).toContain('forbidden');
    expect(problems('2001:db8::/64')[0]?.reason).toContain('18446744073709551616 addresses');
    expect(problems('0.0.0.0/1')[0]?.code).toBe('too-many');
    expect(read('10.0.0.0/12 10.0.0.0').count).toBe(1_048_575);
    expect(problems('10.0.0.0/24', { max: 253 })[0]?.reason).toContain(
      '254 addresses; one scan takes at most 253',
    );
  });

  // F93: every malformed form names the token and says why.
  it.each([
    ['10.0.0.0/33', 'longer than an IPv4 address'],
    ['10.0.0.256', 'above 255'],
    ['010.1.1.1', 'starts with 0'],
    ['0x0a.0.0.1', 'hexadecimal'],
    ['1.1', 'four parts'],
    ['::ffff:10.0.0.1', 'write the IPv4 address'],
    ['::ffff:0:0/104', 'write the IPv4 address'],
    ['fe80::1%eth0', 'zone'],
    ['10.0.0.１', 'ASCII'],
    ['10.0.0.1-50', 'written in full'],
    ['10.0.0.9-10.0.0.1', 'ends before it starts'],
    ['10.0.0.1-::1', 'mixes IPv4 and IPv6'],
    ['10.0.0.1-', 'behind the dash'],
    ['10.0.0.0/24-10.0.1.0', 'plain decimal'],
    ['!', 'without a target'],
    ['!!10.0.0.1', 'not an address'],
    ['-iL', 'starts with a dash'],
    ['--help', 'starts with a dash'],
    ['router', 'names are not resolved'],
    ['10.0.0.1;reboot', 'not an address'],
    ['1'.repeat(101), 'longer than 100'],
  ])('F93 F103: refuses %s', (token, reason) => {
    const [problem] = problems(`10.0.0.1 ${token}`);
    expect(problem?.code).toBe('malformed');
    expect(problem?.reason).toContain(reason);
    expect(problem?.token.slice(0, 5)).toBe(
      [...token].every((c) => c < '\x7f') ? token.slice(0, 5) : '10.0.',
    );
  });

  it('F104: a name is no target, in no notation: nothing is left to be resolved when a sweep begins', () => {
    for (const name of [
      'localhost',
      'router.example.net',
      'example.net/24',
      'a.example-b.example',
      '10.0.0.1.nip.io',
    ]) {
      expect(problems(name).map(({ code }) => code)).toEqual(['malformed']);
    }
  });

  it('tells all problems of one text at once, bounded', () => {
    expect(problems('10.0.0.256 1.1 10.0.0.1').map(({ token }) => token)).toEqual(['10.0.0.256', '1.1']);
    expect(problems('x,'.repeat(500))).toHaveLength(21);
    expect(problems('1 '.repeat(10_001))[0]?.code).toBe('too-many');
  });

  it('takes as much as it says, and refuses one more', () => {
    const tokens = (n: number) => Array.from({ length: n }, () => '10.0.0.1').join(' ');
    expect(read(tokens(10_000)).count).toBe(1);
    expect(problems(tokens(10_001)).map(({ code }) => code)).toEqual(['too-many']);
    expect(read('10.0.0.0/24', { max: 254 }).count).toBe(254);
    expect(problems('x '.repeat(20))).toHaveLength(20);
    expect(problems('x '.repeat(21)).map(({ reason }) => reason)[20]).toBe('and 1 more problems');
    expect(problems('1'.repeat(100))[0]?.reason).not.toContain('longer than');
    expect(texts('10.0.0.9-10.0.0.9')).toEqual(['10.0.0.9']);
  });

  it('shows a token cut to 60 characters, control characters made visible', () => {
    expect(problems('x'.repeat(60))[0]?.token).toBe('x'.repeat(60));
    expect(problems('x'.repeat(61))[0]?.token).toBe(`${'x'.repeat(60)}…`);
    expect(problems('x\u0007')[0]?.token).toBe('x\\u0007');
  });

  it('names the first part of a range that is no address, and the largest target of too many', () => {
    expect(problems('10.0.0.256-10.0.1.1')[0]?.reason).toMatch(/^(?!behind).*above 255/);
    expect(problems('10.0.0.0/25 10.1.0.0/24 10.2.0.0/26', { max: 9 })[0]?.token).toBe('10.1.0.0/24');
  });

  it('puts the target before the reason, where there is one', () => {
    expect(problems('router').map(describeProblem)[0]).toMatch(/^router: /);
    expect(problems('').map(describeProblem)).toEqual(['names no address to sweep']);
  });

  it.each([
    ['', 'names no address'],
    [' , ', 'names no address'],
    ['!10.0.0.1', 'names no address'],
    ['10.0.0.1 !10.0.0.0/24', 'leave no address'],
  ])('refuses %j, which leaves nothing', (text, reason) => {
    expect(problems(text)).toEqual([{ code: 'empty', token: '', reason: expect.stringContaining(reason) }]);
  });

  it.each([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['0.1.2.3', 'this network'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1', 'link-local'],
    ['255.255.255.255', 'broadcast'],
    ['126.255.255.0-127.0.0.0', 'loopback'],
    ['::fffe:ffff:ffff-::ffff:0.0.0.1', 'IPv4-mapped'],
  ])('F94: refuses %s (%s)', (text, name) => {
    const [problem] = problems(`10.0.0.1 ${text}`);
    expect(problem).toMatchObject({ code: 'forbidden', token: text });
    expect(problem?.reason).toContain(name);
  });

  it('F94: allows each only by its flag, or when excluded', () => {
    expect(read('127.0.0.0/30', { allowLoopback: true }).count).toBe(2);
    expect(problems('169.254.0.1', { allowLoopback: true })).toHaveLength(1);
    expect(read('169.254.0.1', { allowSpecial: true }).count).toBe(1);
    expect(problems('127.0.0.1', { allowSpecial: true })).toHaveLength(1);
    expect(texts('126.255.255.254-127.0.0.5 !127.0.0.0/8')).toEqual(['126.255.255.254/31']);
  });

  it('count equals enumeration, each address once', () => {
    const octet = fc.nat(40);
    const token = fc.oneof(
      octet.map((n) => `10.0.0.${n}`),
      fc.tuple(octet, fc.integer({ min: 27, max: 32 })).map(([n, length]) => `10.0.0.${n}/${length}`),
      fc.tuple(octet, octet).map(([a, b]) => `10.0.0.${Math.min(a, b)}-10.0.0.${Math.max(a, b)}`),
    );
    const signed = fc.tuple(token, fc.boolean()).map(([text, hole]) => (hole ? `!${text}` : text));
    fc.assert(
      fc.property(fc.array(signed, { maxLength: 8 }), (tokens) => {
        const expected = enumerate(tokens);
        const result = parseTargets(tokens.join(','));
        if (!result.ok) {
          expect(expected.size).toBe(0);
          return;
        }
        const { ranges, count } = result.targets;
        const space = new AddressSpace(ranges);
        const listed = Array.from({ length: space.size }, (_, i) => space.at(i));
        expect(new Set(listed)).toEqual(expected);
        expect(listed).toHaveLength(expected.size);
        expect(count).toBe(expected.size);
      }),
    );
  });
});

/** The slow way, by the words of the specification, for 10.0.0.0/24 only. */
const enumerate = (tokens: string[]): Set<string> => {
  const covers = (text: string, n: number, hole: boolean): boolean => {
    const [from = '', to] = text.split('-');
    const [base = '', length = '32'] = from.split('/');
    const start = Number(base.split('.')[3]);
    if (to) return n >= start && n <= Number(to.split('.')[3]);
    const size = 2 ** (32 - Number(length));
    const first = start - (start % size);
    const edge = size > 2 && !hole && (n === first || n === first + size - 1);
    return n >= first && n < first + size && !edge;
  };
  const is = (n: number, hole: boolean) =>
    tokens.some((t) => t.startsWith('!') === hole && covers(t.replace('!', ''), n, hole));
  const all = Array.from({ length: 256 }, (_, n) => n);
  return new Set(all.filter((n) => is(n, false) && !is(n, true)).map((n) => `10.0.0.${n}`));
};

describe('planJobs', () => {
  const labels = (text: string, max?: number) => planJobs(read(text).ranges, max).map(({ label }) => label);

  it.each<[string, string[]]>([
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/24', ['10.0.0.0/24']],
    ['10.0.0.0/30', ['10.0.0.0/30']],
    ['10.0.0.0/31', ['10.0.0.0/31']],
    ['10.0.0.0/20', ['10.0.0.0/20']],
    ['10.0.0.0/19', ['10.0.0.0/20', '10.0.16.0/20']],
    ['10.0.8.0-10.0.23.255', ['10.0.8.0-10.0.23.255']],
    ['10.0.0.10-10.0.0.12', ['10.0.0.10-10.0.0.12']],
    ['10.0.0.1,10.9.0.1', ['10.0.0.1-10.9.0.1']],
    ['10.0.0.1,2001:db8::/116', ['10.0.0.1', '2001:db8::/116']],
  ])('%s → %j', (text, expected) => expect(labels(text)).toEqual(expected));

  it('a /16 is sixteen /20', () => {
    const jobs = planJobs(read('10.0.0.0/16').ranges);
    expect(jobs.map(({ label }) => label)).toEqual(
      Array.from({ length: 16 }, (_, i) => `10.0.${i * 16}.0/20`),
    );
    expect(jobs[0]).toMatchObject({ ranges: [{ first: '10.0.0.1', count: 4095 }], count: 4095 });
    expect(jobs[15]).toMatchObject({ ranges: [{ first: '10.0.240.0', count: 4095 }], count: 4095 });
  });

  it('holds every address once, no job above its bound', () => {
    const range = fc
      .tuple(fc.nat(3000), fc.integer({ min: 1, max: 300 }))
      .map(
        ([first, size]) =>
          `10.0.${first >> 8}.${first & 255}-10.0.${(first + size) >> 8}.${(first + size) & 255}`,
      );
    fc.assert(
      fc.property(
        fc.array(range, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 500 }),
        (list, max) => {
          const { ranges } = read(list.join(' '));
          const jobs = planJobs(ranges, max);
          const whole = new AddressSpace(ranges);
          const listed = jobs.flatMap((job) => {
            const space = AddressSpace.ofSpans(job.ranges);
            expect(job.count).toBe(space.size);
            expect(job.count).toBeLessThanOrEqual(max);
            return Array.from({ length: space.size }, (_, i) => space.at(i));
          });
          expect(listed).toEqual(Array.from({ length: whole.size }, (_, i) => whole.at(i)));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('fills a job to its bound, down to one address each', () => {
    expect(labels('10.0.0.0-10.0.0.3 10.0.0.8-10.0.0.11', 8)).toEqual(['10.0.0.0-10.0.0.11']);
    expect(labels('10.0.0.0-10.0.0.2', 1)).toEqual(['10.0.0.0', '10.0.0.1', '10.0.0.2']);
    expect(planJobs([])).toEqual([]);
  });

  it('refuses a bound that plans nothing', () => {
    for (const max of [0, -1, Number.NaN, 1.5])
      expect(() => planJobs(read('10.0.0.1').ranges, max)).toThrow(RangeError);
  });
});

describe('AddressSpace', () => {
  const range = fc.oneof(
    fc.tuple(
      fc.bigInt({ min: 0n, max: 2n ** 32n - 101n }),
      fc.bigInt({ min: 0n, max: 100n }),
      fc.constant(4 as const),
    ),
    fc.tuple(
      fc.bigInt({ min: 0n, max: 2n ** 128n - 101n }),
      fc.bigInt({ min: 0n, max: 100n }),
      fc.constant(6 as const),
    ),
  );

  it('index → address → index is the identity, by text and by bytes', () => {
    fc.assert(
      fc.property(range, fc.nat(100), ([first, more, family], pick) => {
        const space = new AddressSpace([new Range(family, first, first + more)]);
        const index = pick % space.size;
        expect(space.indexOf(space.at(index))).toBe(index);
        expect(space.at(index)).toBe(formatAddress({ family, value: first + BigInt(index) }));
        const bytes = new DataView(new ArrayBuffer(20));
        expect(space.writeBytes(index, bytes, 3)).toBe(family === 4 ? 4 : 16);
        expect(space.indexOfBytes(family, bytes, 3)).toBe(index);
        expect(space.indexOfBytes(family === 4 ? 6 : 4, bytes, 3)).toBe(-1);
      }),
    );
  });

  it('numbers several spans in the order given and knows what is between them', () => {
    const space = AddressSpace.ofSpans([
      { first: '10.0.1.0', count: 3 },
      { first: '2001:db8::', count: 2 },
      { first: '10.0.0.255', count: 1 },
    ]);
    const all = ['10.0.1.0', '10.0.1.1', '10.0.1.2', '2001:db8::', '2001:db8::1', '10.0.0.255'];
    expect(all.map((_, i) => space.at(i))).toEqual(all);
    expect(all.map((text) => space.indexOf(text))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(all.map((_, i) => space.familyAt(i))).toEqual([4, 4, 4, 6, 6, 4]);
    for (const text of ['10.0.1.3', '10.0.0.254', '2001:db8::2', '::', 'nonsense'])
      expect(space.indexOf(text)).toBe(-1);
    for (const index of [-1, 6, 0.5 + 6, Number.NaN]) expect(() => space.at(index)).toThrow(RangeError);
  });

  it('refuses spans that run past the last address or are none', () => {
    expect(() => AddressSpace.ofSpans([{ first: '255.255.255.255', count: 2 }])).toThrow(RangeError);
    expect(() => AddressSpace.ofSpans([{ first: 'x', count: 2 }])).toThrow(RangeError);
    expect(new AddressSpace([]).indexOf('10.0.0.1')).toBe(-1);
  });
});
