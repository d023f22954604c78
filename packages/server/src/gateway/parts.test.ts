import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mintToken, withoutTokens } from '../platform/access/token.ts';
import { BoundedQueue } from './connection/bounded-queue.ts';
import { ClockOffset } from './connection/clock-offset.ts';
import { Paced } from './connection/paced.ts';
import { cut } from './connection/states.ts';
import { shareOf } from './connection/window.ts';
import { hostOf } from './enrolment/installer.ts';
import { joinSecret, mintJoinToken } from './enrolment/join-token.ts';
import { judgeHello } from './identity.ts';
import { KeyedQuota, Quota } from './quota.ts';

describe('join tokens', () => {
  it('have the documented form and hold the certificate where there is one', () => {
    const { secret, plaintext } = mintJoinToken();
    expect(plaintext).toBe(secret);
    expect(secret).toMatch(/^rcj_[0-9A-Za-z]{40}$/);
    expect(joinSecret(plaintext)).toBe(secret);
    const pinned = mintJoinToken(Buffer.alloc(32, 9));
    expect(pinned.plaintext).toMatch(/^rcj_[0-9A-Za-z]{40}\.[A-Za-z0-9_-]{43}$/);
    expect(joinSecret(pinned.plaintext)).toBe(pinned.secret);
    expect(withoutTokens(`token ${plaintext} was`)).toBe('token rcj_*** was');
  });

  it('case 53, 65: are told from mistyped ones and from those of people', () => {
    const { plaintext } = mintJoinToken();
    for (let at = 4; at < plaintext.length; at++)
      expect(
        joinSecret(`${plaintext.slice(0, at)}${plaintext[at] === 'A' ? 'B' : 'A'}${plaintext.slice(at + 1)}`),
      ).toBeUndefined();
    expect(joinSecret(mintToken().plaintext)).toBeUndefined();
    expect(joinSecret(plaintext.replace('rcj_', 'svc_'))).toBeUndefined();
    expect(joinSecret(`${plaintext}\n`)).toBeUndefined();
  });
});

it.each([
  ['rollcall.example.net', true],
  ['rollcall.example.net:8443', true],
  ['192.0.2.1', true],
  ['[2001:db8::1]:8443', true],
  ['a$(reboot)', false],
  ["a';reboot;'", false],
  ['a b', false],
  ['a|sh', false],
  ['a\n', false],
  ['', false],
  [undefined, false],
])('attack: a Host header %j stands in the line for a shell: %s', (header, stands) => {
  expect(hostOf(header)).toBe(stands ? header : null);
});

describe('a hello whose signature is right', () => {
  const row = { status: 'active' as const, status_reason: '', generation: 5, pending_generation: null };
  const hello = {
    version: 1,
    oldest: 1,
    generation: 5,
    last: { state: 10, event: 3, sample: 7 },
    retired: false,
  };
  const through = { state: 10, event: 3, sample: 7 };

  it.each([
    ['the confirmed generation', {}, {}, 'admit'],
    ['a generation that was handed out and not confirmed', {}, { generation: 7 }, 'admit'],
    ['an older generation', {}, { generation: 4 }, 'quarantine'],
    ['a generation that the database forgot in a restore', {}, { generation: 900_000 }, 'admit'],
    ['attack: a generation that no server gave out', {}, { generation: 2_000_000_000 }, 'refuse'],
    ['attack: a key that was replaced', {}, { retired: true }, 'quarantine'],
    ['a key that was replaced, of a revoked collector', { status: 'revoked' }, { retired: true }, 'refuse'],
    ['an outbox that is further than what is stored', {}, { last: { state: 99, event: 3 } }, 'admit'],
    ['an outbox of state that went back', {}, { last: { state: 9, event: 3 } }, 'quarantine'],
    ['an outbox of events that went back', {}, { last: { state: 10, event: 2 } }, 'quarantine'],
    ['an outbox of samples that went back', {}, { last: { state: 10, event: 3, sample: 6 } }, 'quarantine'],
    ['a version that has no samples', {}, { last: { state: 10, event: 3 } }, 'admit'],
    ['a revoked collector', { status: 'revoked' }, {}, 'refuse'],
    [
      'a revoked collector with an old generation: it stays revoked',
      { status: 'revoked' },
      { generation: 1 },
      'refuse',
    ],
    ['a quarantined collector', { status: 'quarantined' }, {}, 'refuse'],
    ['a version that nobody speaks any more', {}, { version: 0, oldest: 0 }, 'refuse'],
    ['a version yet to come', {}, { version: 9, oldest: 9 }, 'refuse'],
    ['a newer version that still speaks ours', {}, { version: 9, oldest: 1 }, 'admit'],
  ] as const)('%s', (_what, stored, said, kind) => {
    expect(judgeHello({ ...row, ...stored }, { ...hello, ...said }, through).kind).toBe(kind);
  });
});

describe('clock offset', () => {
  it('lies within half the round trip of the truth, whatever the delays', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.array(fc.tuple(fc.nat(2_000), fc.nat(2_000)), { minLength: 1, maxLength: 20 }),
        (truth, delays) => {
          const offset = new ClockOffset();
          let now = 1_800_000_000_000;
          for (const [there, back] of delays) {
            now += 10_000;
            offset.add(now - back - truth, now, there + back);
          }
          const best = Math.min(...delays.slice(-8).map(([there, back]) => there + back));
          expect(Math.abs(offset.offsetMs - truth)).toBeLessThanOrEqual(best / 2 + 1);
        },
      ),
    );
  });

  it('case 16: follows a clock that was set, at once', () => {
    const offset = new ClockOffset();
    for (let i = 0; i < 5; i++) offset.add(1_000_000 + i, 1_000_000 + i, 20);
    const decade = 10 * 365 * 86_400_000;
    offset.add(1_000_010 - decade, 1_000_010, 500);
    expect(offset.offsetMs).toBe(decade - 250);
  });
});

describe('bounds', () => {
  it('a lane runs one after the other, survives what fails, and is full when it is full', async () => {
    const lane = new BoundedQueue(2);
    const ran: number[] = [];
    let open: () => void = () => undefined;
    const first = lane.run(
      () =>
        new Promise<void>((_resolve, reject) => {
          open = () => reject(new Error('first'));
        }),
    );
    const second = lane.run(async () => void ran.push(2));
    expect(lane.run(async () => void ran.push(3))).toBeUndefined();
    await Promise.resolve();
    expect(ran).toEqual([]);
    open();
    await expect(first).rejects.toThrow('first');
    await second;
    expect(ran).toEqual([2]);
    expect(lane.depth).toBe(0);
  });

  it('a quota gives its burst, then what time brings', async () => {
    const clock = new ManualClock();
    const quota = new Quota({ burst: 3, perSecond: 2 }, clock);
    expect([1, 2, 3, 4].map(() => quota.take())).toEqual([true, true, true, false]);
    expect(quota.wait).toBeCloseTo(0.5);
    await clock.pass(500);
    expect(quota.take()).toBe(true);
    expect(quota.take()).toBe(false);
    quota.give();
    expect(quota.take()).toBe(true);
  });

  it('quotas of keys do not grow without end', () => {
    const quotas = new KeyedQuota({ burst: 1, perSecond: 0.001 }, new ManualClock());
    expect(quotas.take('a')).toBe(0);
    expect(quotas.take('a')).toBeGreaterThan(0);
    for (let i = 0; i < 10_000; i++) quotas.take(`key ${i}`);
    expect(quotas.take('a')).toBe(0);
  });

  it('what is paced runs at once, then once per interval however often it is asked for', async () => {
    const clock = new ManualClock();
    let runs = 0;
    const paced = new Paced(1_000, clock, new AbortController().signal, async () => {
      runs += 1;
    });
    for (let i = 0; i < 5; i++) paced.run();
    expect(runs).toBe(1);
    await clock.pass(1_000);
    expect(runs).toBe(2);
    await clock.pass(5_000);
    expect(runs).toBe(2);
  });

  it('texts are cut between characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 4, max: 40 }), (text, bytes) => {
        const short = cut(text, bytes);
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(bytes);
        expect(text.startsWith(short)).toBe(true);
        expect(Buffer.from(short).toString()).toBe(short);
      }),
    );
    expect(cut('a😀😀', 6)).toBe('a😀');
  });
});

describe('the share of a collector', () => {
  it.each([
    [0, 120, 16],
    [1, 120, 16],
    [16, 120, 16],
    [32, 120, 8],
    [64, 120, 4],
    [128, 120, 2],
    [256, 64, 2],
    [2_000, 16, 2],
    [100_000, 16, 2],
  ])('of %i is batches of %i KiB, %i ahead', (collectors, kib, window) => {
    expect(shareOf(collectors)).toEqual({ batchBytes: kib * 1024, window });
  });

  it('is no more for more collectors, and all together no more than 32 MiB down to two of 16 KiB each', () => {
    const bytes = (n: number) => shareOf(n).batchBytes * shareOf(n).window;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: 200_000 }), (a, b) => {
        expect(bytes(Math.max(a, b))).toBeLessThanOrEqual(bytes(Math.min(a, b)));
        expect(a * bytes(a)).toBeLessThanOrEqual(Math.max(32 * 1024 * 1024, a * 32 * 1024));
      }),
    );
  });
});
