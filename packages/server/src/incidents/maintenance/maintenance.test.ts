import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeAt, nextAfter, type Times } from './recurrence.ts';

const at = (text: string) => Date.parse(text);
const repeat = (
  cron: string,
  minutes: number,
  timezone = 'Europe/Berlin',
  until: string | null = null,
): Times => ({
  timezone,
  times: { kind: 'repeat', cron, minutes, until: until === null ? null : at(until) / 1000 },
});
const shown = (span: ReturnType<typeof activeAt>) =>
  span &&
  [new Date(span.from).toISOString(), new Date(span.until).toISOString()]
    .map((t) => t.slice(0, 16))
    .join(' ');

describe('maintenance windows', () => {
  it.each<[string, Times, string, string | null]>([
    ['before it begins', repeat('0 2 * * 0', 60), '2026-11-22T00:59:59Z', null],
    ['as it begins', repeat('0 2 * * 0', 60), '2026-11-22T01:00:00Z', '2026-11-22T01:00 2026-11-22T02:00'],
    ['as it ends', repeat('0 2 * * 0', 60), '2026-11-22T02:00:00Z', null],
    ['over midnight', repeat('0 23 * * *', 120), '2026-11-21T23:30:00Z', '2026-11-21T22:00 2026-11-22T00:00'],
    // Clocks in Berlin: 2026-03-29 02:00 → 03:00, 2026-10-25 03:00 → 02:00.
    [
      'summer begins inside it: elapsed time',
      repeat('0 1 * * *', 240),
      '2026-03-29T03:59:00Z',
      '2026-03-29T00:00 2026-03-29T04:00',
    ],
    [
      'it begins in the hour that is left out: when that is over',
      repeat('30 2 * * *', 60),
      '2026-03-29T01:30:00Z',
      '2026-03-29T01:00 2026-03-29T02:00',
    ],
    ['it begins in the hour that comes twice: once', repeat('30 2 * * *', 60), '2026-10-25T01:45:00Z', null],
    [
      'the same, the first time',
      repeat('30 2 * * *', 60),
      '2026-10-25T00:45:00Z',
      '2026-10-25T00:30 2026-10-25T01:30',
    ],
    [
      'local time in winter',
      repeat('0 2 * * *', 60),
      '2026-12-01T01:30:00Z',
      '2026-12-01T01:00 2026-12-01T02:00',
    ],
    [
      'local time in summer',
      repeat('0 2 * * *', 60),
      '2026-07-01T00:30:00Z',
      '2026-07-01T00:00 2026-07-01T01:00',
    ],
    [
      'the other side of the world',
      repeat('0 2 * * *', 60, 'Pacific/Auckland'),
      '2026-11-21T13:30:00Z',
      '2026-11-21T13:00 2026-11-21T14:00',
    ],
    [
      'those that touch are one',
      repeat('0 * * * *', 60, 'UTC', '2026-11-21T12:00:00Z'),
      '2026-11-21T11:30:00Z',
      '2026-11-21T11:00 2026-11-21T13:00',
    ],
    [
      'none begins after the last day',
      repeat('0 2 * * *', 60, 'UTC', '2026-11-20T00:00:00Z'),
      '2026-11-21T02:30:00Z',
      null,
    ],
    [
      'once',
      {
        timezone: 'UTC',
        times: {
          kind: 'once',
          from: at('2026-11-21T02:00:00Z') / 1000,
          until: at('2026-11-21T03:00:00Z') / 1000,
        },
      },
      '2026-11-21T02:30:00Z',
      '2026-11-21T02:00 2026-11-21T03:00',
    ],
  ])('%s', (_what, window, moment, expected) => {
    expect(shown(activeAt(window, at(moment)))).toBe(expected);
  });

  it('tells the next one', () => {
    expect(shown(nextAfter(repeat('0 2 * * 0', 60), at('2026-11-21T00:00:00Z')))).toBe(
      '2026-11-22T01:00 2026-11-22T02:00',
    );
    expect(
      nextAfter(repeat('0 2 * * 0', 60, 'UTC', '2026-11-21T00:00:00Z'), at('2026-11-21T12:00:00Z')),
    ).toBeNull();
  });

  it('what runs at a moment covers it, and a moment after its end it does not run as the same', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: at('2026-01-01'), max: at('2027-01-01') }),
        fc.integer({ min: 1, max: 7 * 24 * 60 }),
        fc.constantFrom('0 2 * * 0', '*/7 * * * *', '30 2 * * *', '59 23 28-31 * *'),
        fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'),
        (moment, minutes, cron, zone) => {
          const span = activeAt(repeat(cron, minutes, zone), moment);
          if (span === null) return;
          expect(span.from).toBeLessThanOrEqual(moment);
          expect(span.until).toBeGreaterThan(moment);
        },
      ),
      { numRuns: 40 },
    );
  });
});
