import type { Clock } from '@rollcall/shared/clock';
import { describe, expect, it } from 'vitest';
import { loginThrottle, placeOf } from './throttle.ts';

function manualClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  return {
    now: () => now,
    monotonic: () => now,
    sleep: async () => undefined,
    every: () => () => undefined,
    advance: (ms) => {
      now += ms;
    },
  };
}
const HOUR = 3600_000;
const QUARTER = 15 * 60_000;

/** Guesses as fast as the throttle lets it for an hour; answers how many were checked. */
function attack(guesses: number, target: (i: number) => [account: string, address: string]) {
  const clock = manualClock();
  const throttle = loginThrottle(clock);
  let checked = 0;
  for (let i = 0; i < guesses; i++) {
    if (!('waitMs' in throttle.begin(...target(i)))) checked++;
    clock.advance(HOUR / guesses);
  }
  return { clock, throttle, checked };
}

describe('the login throttle', () => {
  it('lets a person mistype, then makes them wait longer and longer, a quarter of an hour at most', () => {
    const clock = manualClock();
    const throttle = loginThrottle(clock);
    const waits: number[] = [];
    for (let i = 0; i < 40; i++) {
      const answer = throttle.begin('ada', '192.0.2.1');
      if (!('waitMs' in answer)) continue;
      waits.push(answer.waitMs);
      clock.advance(answer.waitMs);
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
    const clock = manualClock();
    const throttle = loginThrottle(clock);
    const first = throttle.begin('ada', '198.51.100.7');
    if (!('waitMs' in first)) first.succeeded();
    for (let i = 0; i < 5_000; i++) {
      throttle.begin('ada', `10.0.${i % 250}.1`);
      clock.advance(100);
    }
    expect(throttle.begin('ada', '198.51.100.9')).toHaveProperty('succeeded');
    const stranger = throttle.begin('ada', '203.0.113.5');
    expect(stranger).toHaveProperty('waitMs');
    clock.advance(QUARTER);
    expect(throttle.begin('ada', '203.0.113.5')).toHaveProperty('succeeded');
  });

  it('counts guesses that are made at the same time', () => {
    const throttle = loginThrottle(manualClock());
    const begun = Array.from({ length: 1_000 }, () => throttle.begin('ada', '192.0.2.1'));
    expect(begun.filter((b) => 'succeeded' in b)).toHaveLength(5);
  });

  it('forgets failures after an hour, and a success takes its own guess back', () => {
    const clock = manualClock();
    const throttle = loginThrottle(clock);
    for (let i = 0; i < 4; i++) throttle.begin('ada', '192.0.2.1');
    const fifth = throttle.begin('ada', '192.0.2.1');
    if ('succeeded' in fifth) fifth.succeeded();
    expect(throttle.begin('ada', '192.0.2.1')).toHaveProperty('succeeded');
    for (let i = 0; i < 10; i++) throttle.begin('bob', '192.0.2.1');
    clock.advance(HOUR + 1);
    expect(throttle.begin('bob', '192.0.2.1')).toHaveProperty('succeeded');
  });

  it.each([
    ['192.0.2.77', '192.0.2'],
    ['::ffff:192.0.2.77', '192.0.2'],
    ['2001:db8:1:2ff::1', '2001:0db8:0001:02'],
    ['2001:db8:1:200:a:b:c:d', '2001:0db8:0001:02'],
    ['::1', '0000:0000:0000:00'],
  ])('takes neighbours of %s together', (address, place) => expect(placeOf(address)).toBe(place));
});
