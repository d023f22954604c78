import { describe, expect, it } from 'vitest';
import { bitrate, bytes, plural, timeFormat } from './format.ts';

it.each([
  [0, '0 bit/s'],
  [999, '999 bit/s'],
  [1_000, '1 kbit/s'],
  [2_500_000_000, '2.5 Gbit/s'],
  [1_234_567, '1.23 Mbit/s'],
  [4e15, '4000 Tbit/s'],
])('%d bit/s reads %s', (bps, text) => expect(bitrate(bps)).toBe(text));

it.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [109_051_904, '104 MiB'],
])('%d bytes read %s', (count, text) => expect(bytes(count)).toBe(text));

it.each([
  [0, '0 addresses'],
  [1, '1 address'],
  [1_234, '1,234 addresses'],
])('counts %d as %s', (count, text) => expect(plural(count, 'address', 'addresses')).toBe(text));

describe('a format of times', () => {
  it('is made once, however often it is asked for', () => {
    const clock = { hour: '2-digit', minute: '2-digit' } as const;
    expect(timeFormat('en-GB', 'Europe/Berlin', clock)).toBe(
      timeFormat('en-GB', 'Europe/Berlin', { ...clock }),
    );
    expect(timeFormat('en-GB', 'UTC', clock)).not.toBe(timeFormat('en-GB', 'Europe/Berlin', clock));
  });
});
