import type { MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import { describe, expect, it } from 'vitest';
import { nextTurn, scopeInWords, standing, whenInWords } from './windows.ts';

const window = (part: Partial<MaintenanceWindow>): MaintenanceWindow => ({
  id: '019aa3c4-5b00-7000-8000-000000000001',
  siteId: '019aa3c4-5b00-7000-8000-000000000002',
  site: 'Berlin',
  name: 'Core upgrade',
  note: '',
  scope: {},
  timezone: 'Europe/Berlin',
  times: { kind: 'repeat', cron: '0 2 * * 0', minutes: 90, until: null },
  enabled: true,
  active: null,
  next: null,
  createdBy: 'ada',
  createdAt: 0,
  ...part,
});

describe('a window', () => {
  const read = window({ active: { from: 100, until: 200 }, next: { from: 500, until: 600 } });
  it.each([
    [150, { state: 'running', until: 200 }, 200],
    [200, { state: 'planned', from: 500 }, 500],
    [500, { state: 'running', until: 600 }, 600],
    [600, { state: 'over' }, Number.POSITIVE_INFINITY],
  ])('at %d is %o, as read before it', (now, stands, turns) => {
    expect([standing(read, now), nextTurn(read, now)]).toEqual([stands, turns]);
  });

  it('that is switched off does not run', () => {
    expect(standing({ ...read, enabled: false }, 150)).toEqual({ state: 'off' });
  });

  it('says when in its own zone, and how long', () => {
    const once = window({ times: { kind: 'once', from: 1_763_773_200, until: 1_763_787_600 } });
    expect(whenInWords(once)).toBe('2025-11-22 02:00, 4 h');
    expect(whenInWords(window({}))).toBe('Sunday at 02:00, 1 h 30 min');
  });

  it.each([
    [{}, 'the whole site'],
    [{ class: ['switch'], tag: ['core', 'hall 2'] }, 'switch; tagged core and hall 2'],
    [{ class: ['switch', 'router'] as const, search: 'floor-3' }, 'switch, router; “floor-3”'],
    [{ deviceIds: ['019aa3c4-5b00-7000-8000-000000000003'] }, '1 device'],
  ])('says what it covers: %o', (scope, words) => {
    expect(scopeInWords(scope as never)).toBe(words);
  });
});
