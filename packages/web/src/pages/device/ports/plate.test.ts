import { describe, expect, it } from 'vitest';
import { type Port, plateOf, socketBy, stateOf, vlansText } from './plate.ts';

const NOW = 1_800_000_000;
const DAY = 86_400;
const port = (name: string, more: Partial<Port> = {}): Port =>
  ({ id: name, name, isPort: 1, operStatus: 'up', adminStatus: 'up', unusedSince: null, ...more }) as Port;
const many = (prefix: string, count: number): Port[] =>
  Array.from({ length: count }, (_, i) => port(`${prefix}${i + 1}`));
const placesOf = (ports: Port[]) =>
  plateOf(ports, NOW).map(({ name, sockets }) => [
    name,
    Object.fromEntries(sockets.map(({ port: { name: socket }, column, row }) => [socket, [column, row]])),
  ]);

describe('the face of a box', () => {
  it('has odd ports above even ones, and few ports of a kind in one row beside them', () => {
    expect(placesOf([...many('Gi0/', 8), ...many('Te0/', 2), port('Vlan1', { isPort: 0 })])).toEqual([
      [
        '',
        {
          ...{ 'Gi0/1': [0, 0], 'Gi0/2': [0, 1], 'Gi0/3': [1, 0], 'Gi0/4': [1, 1] },
          ...{ 'Gi0/5': [2, 0], 'Gi0/6': [2, 1], 'Gi0/7': [3, 0], 'Gi0/8': [3, 1] },
          ...{ 'Te0/1': [4, 0], 'Te0/2': [5, 0] },
        },
      ],
    ]);
  });

  it('has the management port of a box alone on its one face', () => {
    const [unit, ...others] = plateOf([port('Gi0/0'), ...many('Gi1/0/', 8)], NOW);
    expect([unit?.sockets.length, others]).toEqual([9, []]);
  });

  it('has a row of its own for each member of a stack, and no socket for what the software made', () => {
    const units = plateOf([...many('Gi1/0/', 2), port('Gi2/0/1'), port('Gi1/0/1.30', { isPort: 0 })], NOW);
    // As some makers name their sockets.
    expect(plateOf([...many('port1.0.', 4), ...many('ge.1.', 4)], NOW)[0]?.sockets).toHaveLength(8);
    expect(units.map(({ name, sockets }) => [name, sockets.length])).toEqual([
      ['1', 2],
      ['2', 1],
    ]);
  });

  it.each<[what: string, more: Partial<Port>, state: string]>([
    ['up', {}, 'up'],
    ['down', { operStatus: 'down', unusedSince: NOW - 5 * DAY }, 'down'],
    ['down for long', { operStatus: 'down', unusedSince: NOW - 91 * DAY }, 'free'],
    [
      'disabled by a person',
      { operStatus: 'down', adminStatus: 'down', unusedSince: NOW - 91 * DAY },
      'disabled',
    ],
  ])('a port that is %s', (_what, more, state) => {
    expect(stateOf(port('a', more), NOW)).toBe(state);
  });

  it('is gone over by the arrow keys', () => {
    const units = plateOf([...many('Gi1/0/', 8), ...many('Gi2/0/', 8)], NOW);
    const all = units.flatMap(({ sockets }) => sockets.map(({ port: { name } }) => name));
    const go = (from: string, key: string) => all[socketBy(units, all.indexOf(from), key)];
    expect(go('Gi1/0/1', 'ArrowRight')).toBe('Gi1/0/3');
    expect(go('Gi1/0/3', 'ArrowDown')).toBe('Gi1/0/4');
    expect(go('Gi1/0/4', 'ArrowDown')).toBe('Gi2/0/3');
    expect(go('Gi1/0/1', 'ArrowLeft')).toBe('Gi1/0/1');
    expect(go('Gi1/0/3', 'End')).toBe('Gi2/0/8');
    expect(go('Gi2/0/8', 'Home')).toBe('Gi1/0/1');
    expect(go('Gi2/0/8', 'x')).toBe('Gi2/0/8');
  });
});

it.each<[vlan: number | null, tagged: number[], text: string]>([
  [10, [], '10'],
  [10, [20, 21, 22, 30], '10 + 20–22, 30'],
  [null, [20, 30], 'tagged 20, 30'],
  [null, [], ''],
])('VLAN %s with %j is written %s', (vlan, taggedVlans, text) => {
  expect(vlansText({ vlan, taggedVlans })).toBe(text);
});
