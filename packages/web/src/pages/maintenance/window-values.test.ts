import type { MaintenanceScope, MaintenanceTimes, MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  coveredBy,
  isNamed,
  scopeOf,
  spanInWords,
  timesOf,
  typedTimes,
  usualTimes,
} from './window-values.ts';

const ZONE = 'Europe/Berlin';
beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-11-25T12:50:00Z') }));
afterEach(() => void vi.useRealTimers());

describe('times', () => {
  it.each<MaintenanceTimes>([
    { kind: 'once', from: 1_763_773_200, until: 1_763_787_600 },
    { kind: 'repeat', cron: '0 2 * * 0', minutes: 90, until: null },
    { kind: 'repeat', cron: '0 2 * * 0', minutes: 90, until: 1_763_773_200 },
  ])('%o come back as they were', (times) => {
    expect(timesOf(typedTimes({ times, timezone: ZONE } as MaintenanceWindow), ZONE)).toEqual(times);
  });

  it('begin at the next full hour that leaves time to get ready', () => {
    expect(usualTimes(ZONE)).toMatchObject({ from: '2026-11-25T15:00', until: '2026-11-25T17:00' });
  });

  it('are told in words', () => {
    const typed = usualTimes(ZONE);
    expect(spanInWords(typed, ZONE)).toBe('begins in 1 h, lasts 2 h');
    expect(spanInWords({ ...typed, from: '2026-11-25T12:50' }, ZONE)).toBe('began 1 h ago, lasts 4 h 10 min');
    expect(spanInWords({ ...typed, until: typed.from }, ZONE)).toBe('It ends before it begins.');
    expect(spanInWords({ ...typed, until: '' }, ZONE)).toBe('');
  });
});

describe('a scope', () => {
  it.each<MaintenanceScope>([
    {},
    { class: ['switch'], search: 'floor-3' },
    { Address: '10.20.3.0/24' },
    { tag: ['core', 'hall 2'] },
    { field: ['Rack:A-17'] },
    { deviceIds: ['a', 'b'] },
  ])('%o comes back as it was, and names something', (scope) => {
    expect(scopeOf(coveredBy(scope))).toEqual(scope);
    expect(isNamed(coveredBy(scope))).toBe(true);
  });

  it('that chose a filter or a list and named nothing does not mean the whole site', () => {
    const covered = coveredBy({});
    expect(isNamed({ ...covered, by: 'filter', search: ' ' })).toBe(false);
    expect(isNamed({ ...covered, by: 'list' })).toBe(false);
  });
});
