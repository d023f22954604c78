import { describe, expect, it } from 'vitest';
import { stateOf } from './mood.ts';
import { readWall, USUAL, writeWall } from './settings.ts';

describe('a wall', () => {
  it.each([
    [{}, {}, 10, 'ok', 0],
    [{}, {}, 0, 'unknown', 0],
    [{ 5: 40 }, { 5: 1 }, 10, 'ok', 0],
    [{ 4: 2, 5: 40 }, {}, 10, 'warn', 2],
    [{ 3: 1, 4: 2 }, { 1: 3 }, 10, 'warn', 3],
    [{ 2: 1, 4: 2 }, {}, 10, 'bad', 3],
    [{ 1: 1 }, { 1: 1 }, 0, 'bad', 1],
    [{ 5: 40 }, { 1: 1, 4: 2 }, 10, 'acknowledged', 0],
  ])(
    'with open events %j, acknowledged ones %j and %i monitored devices is %s',
    (open: Record<number, number>, acknowledged: Record<number, number>, monitored, mood, count) => {
      const bySeverity = [1, 2, 3, 4, 5].map((severity) => ({
        severity,
        open: open[severity] ?? 0,
        acknowledged: acknowledged[severity] ?? 0,
      }));
      expect(stateOf({ devices: { monitored }, events: { bySeverity } })).toMatchObject({
        mood,
        open: count,
      });
    },
  );

  it('is in its address as it was arranged', () => {
    const settings = { panels: ['map', 'cases'] as const, rotate: 30, sound: true, site: 'x' };
    expect(readWall(writeWall({ ...settings, panels: [...settings.panels] }))).toEqual(settings);
  });

  it.each([
    [{}, USUAL],
    [{ panels: 'none,evil' }, USUAL],
    [
      { panels: 'cases,cases,map', rotate: '-4' },
      { ...USUAL, panels: ['cases', 'map'] },
    ],
    [{ rotate: '9999999' }, { ...USUAL, rotate: 3600 }],
    [{ rotate: 'often', sound: 'yes' }, USUAL],
  ])('takes the address %j', (search, settings) => expect(readWall(search)).toEqual(settings));
});
