import { describe, expect, it } from 'vitest';
import { isWithin } from './hours.ts';

const office = { timezone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '08:00', to: '18:00' };
const night = { timezone: 'America/New_York', days: [5], from: '22:00', to: '06:00' };
const sunday = { timezone: 'UTC', days: [7], from: '00:00', to: '00:00' };

describe('hours of a subscription', () => {
  it.each([
    ['2026-11-20T03:00:00Z', null, true, 'no hours are all hours'],
    ['2026-11-20T07:00:00Z', office, true, 'Friday, 8:00 in Berlin'],
    ['2026-11-20T06:59:59Z', office, false, 'a second before'],
    ['2026-11-20T17:00:00Z', office, false, '18:00 is outside'],
    ['2026-07-17T06:00:00Z', office, true, 'clocks are an hour ahead in summer'],
    ['2026-11-21T10:00:00Z', office, false, 'Saturday'],
    ['2026-11-22T23:30:00Z', office, false, 'Monday has begun in Berlin, its hours have not'],
    ['2026-11-21T03:00:00Z', night, true, 'Friday, 22:00 in New York'],
    ['2026-11-21T10:59:00Z', night, true, 'the night of Friday ends on Saturday'],
    ['2026-11-21T11:00:00Z', night, false, 'and is over then'],
    ['2026-11-20T08:00:00Z', night, false, 'the night before is that of Thursday'],
    ['2026-11-22T00:00:00Z', sunday, true, 'from and to alike are the whole day'],
    ['2026-11-22T23:59:59Z', sunday, true, 'to its end'],
    ['2026-11-23T00:00:00Z', sunday, false, 'and not longer'],
    // Clocks go back on 2026-10-25 at 3:00: 2:30 comes twice.
    ['2026-10-25T00:30:00Z', { ...office, days: [7], from: '02:00', to: '03:00' }, true, 'the first'],
    ['2026-10-25T01:30:00Z', { ...office, days: [7], from: '02:00', to: '03:00' }, true, 'the second'],
  ])('%s', (at, hours, is, _why) => {
    expect(isWithin(hours, Date.parse(at))).toBe(is);
  });
});
