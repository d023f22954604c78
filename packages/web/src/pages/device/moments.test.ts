import type { DeviceHistoryEntry } from '@rollcall/shared/api/inventory';
import { expect, it } from 'vitest';
import { momentsOf } from './moments.ts';

const entry = (eventId: string, at: number, closedAt: number | null, closeReason: string | null) =>
  ({ eventId, at, closedAt, closeReason }) as DeviceHistoryEntry;

it('tells the end of trouble where it ended, with its duration, and no end of what only expired', () => {
  const moments = momentsOf([
    entry('blip', 400, 400, 'cleared'),
    entry('down', 100, 700, 'cleared'),
    entry('rebooted', 500, 9_000, 'expired'),
    entry('hot', 450, 800, 'manual'),
    entry('open', 600, null, null),
  ]);
  expect(moments.map(({ at, entry, lasted }) => [at, entry.eventId, lasted])).toEqual([
    [700, 'down', 600],
    [600, 'open', undefined],
    [500, 'rebooted', undefined],
    [450, 'hot', undefined],
    [400, 'blip', 0],
    [400, 'blip', undefined],
    [100, 'down', undefined],
  ]);
});
