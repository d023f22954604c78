import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { type Counts, hostOf, judge, loginThrottle, placeOf, type SignedInFrom } from './throttle.ts';

afterAll(closeDatabases);

const SECOND = 1_000;
const HOUR = 3600_000;
const QUARTER = 15 * 60_000;
const START = Date.parse('2026-11-21T12:00:00Z');

/** What the database keeps, in memory: a hundred thousand guesses are judged in a second. */
function imagined() {
  const counts = new Map<string, Counts>();
  const known = new Set<string>();
  let paidAt: number | undefined;
  let now = START;
  return {
    advance: (ms: number) => {
      now += ms;
    },
    signedIn: (account: string, address: string) => {
      for (const at of [hostOf(address), placeOf(address)]) known.add(`${account} ${at}`);
    },
    /** Milliseconds to wait; 0: the password is checked, and was wrong. */
    guess: (account: string, address: string): number => {
      const [host, place] = [hostOf(address), placeOf(address)];
      const keys = { host: `${account} ${host}`, pair: `${account} ${place}`, place: ` ${place}`, account };
      const so: Counts = paidAt === undefined ? {} : { paidAt };
      for (const key of ['host', 'pair', 'place', 'account'] as const)
        Object.assign(so, counts.get(keys[key]));
      const where: SignedInFrom = known.has(keys.host)
        ? 'address'
        : known.has(keys.pair)
          ? 'place'
          : 'nowhere';
      const judged = judge(so, where, now);
      if ('waitMs' in judged) return judged.waitMs;
      const { paidAt: next, ...failures } = judged.counted;
      paidAt = next ?? paidAt;
      for (const [key, value] of Object.entries(failures))
        counts.set(keys[key as keyof typeof keys], { [key]: value });
      return 0;
    },
  };
}

/** Guesses as fast as they are let for an hour; answers how many were checked. */
function attack(guesses: number, target: (i: number) => [account: string, address: string]) {
  const throttle = imagined();
  let checked = 0;
  for (let i = 0; i < guesses; i++) {
    if (throttle.guess(...target(i)) === 0) checked++;
    throttle.advance(HOUR / guesses);
  }
  return { throttle, checked };
}

describe('the login throttle', () => {
  it('lets a person mistype, then makes them wait longer and longer, a quarter of an hour at most', () => {
    const throttle = imagined();
    const waits: number[] = [];
    for (let i = 0; i < 40; i++) {
      const wait = throttle.guess('ada', '192.0.2.1');
      if (wait === 0) continue;
      waits.push(wait);
      throttle.advance(wait);
    }
    expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(Math.max(...waits)).toBe(QUARTER);
  });

  it('G11 checks at most 100 of 10,000 guesses at one account in an hour, from one place or from many', () => {
    expect(attack(10_000, () => ['ada', '192.0.2.1']).checked).toBeLessThanOrEqual(100);
    expect(attack(10_000, (i) => ['ada', `10.${i % 200}.${i % 7}.1`]).checked).toBeLessThanOrEqual(100);
  });

  it('G11 checks at most 1,000 of 100,000 guesses spread over accounts and places in an hour', () => {
    const { checked } = attack(100_000, (i) => [`user${i % 5000}`, `10.${i % 250}.${(i >> 4) % 250}.9`]);
    expect(checked).toBeGreaterThan(0);
    expect(checked).toBeLessThanOrEqual(1_000);
  });

  it('G11 never locks the owner out: a known place at once, any other within a quarter of an hour of the end', () => {
    const throttle = imagined();
    throttle.signedIn('ada', '198.51.100.7');
    for (let i = 0; i < 5_000; i++) {
      throttle.guess('ada', `10.0.${i % 250}.1`);
      throttle.advance(100);
    }
    expect(throttle.guess('ada', '198.51.100.9')).toBe(0);
    expect(throttle.guess('ada', '203.0.113.5')).toBeGreaterThan(0);
    throttle.advance(QUARTER);
    expect(throttle.guess('ada', '203.0.113.5')).toBe(0);
  });

  it('attack: a neighbour in the same /24 does not make the owner wait', () => {
    const throttle = imagined();
    throttle.signedIn('ada', '198.51.100.7');
    let checked = 0;
    for (let i = 0; i < 10_000; i++) {
      if (throttle.guess('ada', `198.51.100.${8 + (i % 240)}`) === 0) checked += 1;
      throttle.advance(HOUR / 10_000);
    }
    expect(checked).toBeLessThanOrEqual(100);
    expect(throttle.guess('ada', '198.51.100.7')).toBe(0);
    // Nor does one who guesses five times the next address of a person.
    const other = imagined();
    other.signedIn('ada', '198.51.100.7');
    for (let i = 0; i < 6; i++) other.guess('ada', '198.51.100.8');
    expect(other.guess('ada', '198.51.100.9')).toBe(0);
  });

  it('forgets failures after an hour, and waits no longer than promised when the clock is set back', () => {
    const throttle = imagined();
    for (let i = 0; i < 10; i++) throttle.guess('bob', '192.0.2.1');
    expect(throttle.guess('bob', '192.0.2.1')).toBeGreaterThan(0);
    throttle.advance(-30 * 24 * HOUR);
    expect(throttle.guess('bob', '192.0.2.1')).toBeLessThanOrEqual(QUARTER);
    throttle.advance(30 * 24 * HOUR + HOUR + 1);
    expect(throttle.guess('bob', '192.0.2.1')).toBe(0);
  });

  it.each([
    ['192.0.2.77', '192.0.2.77'],
    ['::ffff:192.0.2.77', '192.0.2.77'],
    ['2001:db8:1:2ff::1', '2001:0db8:0001:02ff::'],
  ])('takes %s for one host', (address, host) => expect(hostOf(address)).toBe(host));

  it.each([
    ['192.0.2.77', '192.0.2'],
    ['::ffff:192.0.2.77', '192.0.2'],
    ['2001:db8:1:2ff::1', '2001:0db8:0001:02'],
    ['2001:db8:1:200:a:b:c:d', '2001:0db8:0001:02'],
    ['::1', '0000:0000:0000:00'],
  ])('takes neighbours of %s together', (address, place) => expect(placeOf(address)).toBe(place));
});

describe.each(databases())('the login throttle on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
    await db.query(
      `INSERT INTO users (id, name, password_hash, role, all_sites) VALUES (gen_random_uuid(), 'ada', '', 'viewer', true)`,
    );
  });
  beforeEach(async () => {
    for (const table of ['login_failures', 'login_places']) await db.query(`DELETE FROM ${table}`);
  });

  it('counts for all instances together, also guesses that are made at the same time', async () => {
    const clock = new ManualClock(START);
    const instances = [loginThrottle({ db, clock }), loginThrottle({ db, clock })];
    const begun = await Promise.all(
      Array.from({ length: 100 }, (_, i) => instances[i % 2]!.begin('ada', '192.0.2.1')),
    );
    expect(begun.filter((b) => 'succeeded' in b)).toHaveLength(5);
  });

  it('takes a success back, forgives that place its failures, and knows it from then on, on every instance', async () => {
    const clock = new ManualClock(START);
    const [one, two] = [loginThrottle({ db, clock }), loginThrottle({ db, clock })];
    for (let i = 0; i < 4; i++) await one.begin('ada', '192.0.2.1');
    const fifth = await one.begin('ada', '192.0.2.1');
    if (!('succeeded' in fifth)) throw new Error('the fifth guess had to wait');
    await fifth.succeeded();
    for (let i = 0; i < 60; i++) {
      await two.begin('ada', `10.0.${i}.1`);
      clock.set(clock.now() + SECOND);
    }
    expect(await two.begin('ada', '203.0.113.5')).toHaveProperty('waitMs');
    expect(await two.begin('ada', '192.0.2.9')).toHaveProperty('succeeded');
  });

  it('keeps no name that was typed, and only so many places', async () => {
    const clock = new ManualClock(START);
    const throttle = loginThrottle({ db, clock });
    for (let i = 0; i < 20; i++) {
      const guess = await throttle.begin('ada', `10.1.${i}.1`);
      if ('succeeded' in guess) await guess.succeeded();
      clock.set(clock.now() + SECOND);
    }
    expect(await db.query('SELECT 1 FROM login_places')).toHaveLength(32);
    const rows = await db.query<{ text: string }>('SELECT f::text AS text FROM login_failures f');
    expect(rows.map(({ text }) => text).join()).not.toContain('ada');
  });
});
