import { describe, expect, it } from 'vitest';
import { shadows } from './shadow.ts';

const linksOf = (cables: string[]) => {
  const links = new Map<string, Set<string>>();
  for (const cable of cables) {
    const [a = '', b = ''] = cable.split('-');
    links.set(a, (links.get(a) ?? new Set()).add(b));
    links.set(b, (links.get(b) ?? new Set()).add(a));
  }
  return links;
};
const explained = (down: string, cables: string[], up: string[]) =>
  Object.fromEntries(
    shadows(
      down.split('').map((deviceId, since) => ({ deviceId, since })),
      linksOf(cables),
      new Set(up),
    ),
  );

describe('shadows', () => {
  it.each<[string, string, string[], string[], Record<string, string>]>([
    ['a device alone explains nothing', 'A', [], [], {}],
    ['what hangs behind a dead switch', 'CAB', ['U-C', 'C-A', 'C-B'], ['U'], { A: 'C', B: 'C' }],
    ['two levels behind it', 'CAB', ['U-C', 'C-A', 'A-B'], ['U'], { A: 'C', B: 'C' }],
    [
      'any path counts: a device with another way up stands for itself',
      'CA',
      ['U-C', 'C-A', 'A-V'],
      ['U', 'V'],
      {},
    ],
    ['two failures with nothing between them', 'AB', ['U-A', 'U-B'], ['U'], {}],
    [
      'nothing around is up: the best connected is the root',
      'ABCD',
      ['C-A', 'C-B', 'C-D'],
      [],
      { A: 'C', B: 'C', D: 'C' },
    ],
    ['equally connected: the one that went first', 'BA', ['A-B'], [], { A: 'B' }],
    ['each island has its own root', 'CAXY', ['U-C', 'C-A', 'V-X', 'X-Y'], ['U', 'V'], { A: 'C', Y: 'X' }],
    [
      'a ring between two roots goes to the nearer',
      'PQAB',
      ['U-P', 'U-Q', 'P-A', 'A-B', 'B-Q'],
      ['U'],
      { A: 'P', B: 'Q' },
    ],
  ])('%s', (_name, down, cables, up, expected) => {
    expect(explained(down, cables, up)).toEqual(expected);
  });
});
