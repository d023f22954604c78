import { describe, expect, it } from 'vitest';
import { MAKERS } from '../data.ts';
import { openMakers } from './makers.ts';

const makers = openMakers(MAKERS);

describe('makers of hardware addresses', () => {
  it.each([
    ['00:1b:54:00:00:01', 'Cisco Systems'],
    // A block of 28 bits below one that IEEE divided.
    ['74:1a:e0:90:00:01', null],
    ['20:85:93:b0:00:01', 'IOG Products'],
    // One of 36 bits.
    ['70:b3:d5:71:90:01', '2M Technology'],
    // Made up, though its digits begin like one that is assigned.
    ['02:07:01:00:00:01', null],
  ])('%s is of %s', (mac, maker) => {
    expect(makers.of(mac)).toBe(maker);
  });

  it('knows the prefixes of makers by a part of their names', () => {
    expect(makers.prefixes('2m techno')).toContain('70b3d5719');
    expect(makers.prefixes('no such maker')).toEqual([]);
  });
});
