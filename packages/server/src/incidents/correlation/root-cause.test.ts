import { describe, expect, it } from 'vitest';
import { doubtful, rootCauses } from './root-cause.ts';

const linksOf = (cables: string[]) => {
  const links = new Map<string, Set<string>>();
  for (const cable of cables) {
    const [a = '', b = ''] = cable.split('-');
    links.set(a, (links.get(a) ?? new Set()).add(b));
    links.set(b, (links.get(b) ?? new Set()).add(a));
  }
  return links;
};
/** Each answers after whatever went down. */
const answering = (up: readonly string[]) => new Map(up.map((id) => [id, 1000]));
const downsOf = (down: string) => down.split('').map((deviceId, since) => ({ deviceId, since }));
const rootsOf = (found: ReturnType<typeof rootCauses>) =>
  Object.fromEntries([...found].map(([id, { root }]) => [id, root]));
const explained = (down: string, cables: string[], up: string[]) =>
  rootsOf(rootCauses(downsOf(down), linksOf(cables), answering(up)));

describe('rootCauses', () => {
  it.each([
    ['AB', ['A-B'], { B: 'A' }],
    ['BA', ['A-B'], { B: 'A' }],
    ['CBA', ['A-B', 'B-C', 'C-A'], { B: 'A', C: 'A' }],
    ['BAC', ['A-B', 'B-C', 'C-A'], { B: 'A', C: 'A' }],
  ])('at once and equally connected, in the order %s: always the same one', (down, cables, roots) => {
    const downs = downsOf(down).map(({ deviceId }) => ({ deviceId, since: 0 }));
    expect(rootsOf(rootCauses(downs, linksOf(cables), new Map()))).toEqual(roots);
  });

  it('what is asked seldom, and did not answer since, counts as down with what it is linked to', () => {
    const downs = downsOf('RTS').map((each) => ({ ...each, since: each.since + 10 }));
    const links = linksOf(['R-T', 'R-S', 'T-S', 'S-H']);
    expect(rootsOf(rootCauses(downs, links, new Map([['H', 5]])))).toEqual({ R: 'S', T: 'S' });
    expect(rootsOf(rootCauses(downs, links, new Map()))).toEqual({ T: 'R', S: 'R' });
  });

  it('is doubtful while what is beside a device answered last before that went down', () => {
    const downs = [{ deviceId: 'A', since: 10 }];
    const of = (...up: [string, number][]) => [...doubtful(downs, linksOf(['A-U', 'A-V']), new Map(up))];
    expect(of(['U', 9])).toEqual(['A']);
    expect(of(['U', 10])).toEqual([]);
    expect(of(['U', 9], ['V', 10])).toEqual([]);
    expect(of()).toEqual([]);
  });

  it('what answered before a device beside it went down proves nothing of that', () => {
    const downs = [
      { deviceId: 'R', since: 10 },
      { deviceId: 'A', since: 10 },
      { deviceId: 'B', since: 10 },
    ];
    const answered = (u: number) =>
      rootsOf(
        rootCauses(
          downs,
          linksOf(['V-R', 'R-A', 'A-B', 'A-U']),
          new Map([
            ['V', 1000],
            ['U', u],
          ]),
        ),
      );
    expect(answered(9)).toEqual({ A: 'R', B: 'R' });
    expect(answered(10)).toEqual({ B: 'A' });
  });

  it.each(['UPQA', 'UQPA'])(
    'as far from two roots, in the order %s: the one that comes first by id',
    (down) => {
      const found = explained(down.slice(1), ['U-P', 'U-Q', 'P-A', 'Q-A'], ['U']);
      expect(found).toEqual({ A: 'P' });
    },
  );

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

  describe('beside dead routers', () => {
    /** `A<R` reads: R cuts A off. `near`: in networks that are reached, as such routers are. */
    const both = (down: string, cables: string[], up: string[], cuts: string[], near: string[] = []) => {
      const cutOffs = new Map(
        cuts.map((cut) => {
          const [id = '', router = ''] = cut.split('<');
          return [id, { routers: [router] as [string], network: '10.0.2.0/24' }];
        }),
      );
      const reached = new Set([...cutOffs.values()].flatMap(({ routers }) => routers).concat(near));
      return rootCauses(downsOf(down), linksOf(cables), answering(up), { cutOff: cutOffs, reached });
    };

    it.each<[string, string, string[], string[], string[], Record<string, string>, string[]?]>([
      ['what no link names', 'RAB', [], [], ['A<R', 'B<R'], { A: 'R', B: 'R' }],
      [
        'a flat network behind a dead switch, where routers say nothing: by links as ever',
        'CABR',
        ['U-C', 'C-A', 'C-B', 'C-R'],
        ['U'],
        [],
        { A: 'C', B: 'C', R: 'C' },
      ],
      [
        'links know of one that is up: they keep their word, also on the router',
        'CRA',
        ['U-C', 'C-A', 'C-R'],
        ['U'],
        ['A<R', 'C<R'],
        { A: 'C', R: 'C' },
      ],
      [
        'nothing around is up: the router rather than the best connected',
        'RSAB',
        ['R-S', 'S-A', 'S-B'],
        [],
        ['S<R', 'A<R', 'B<R'],
        { S: 'R', A: 'R', B: 'R' },
      ],
      [
        'nor does what lies behind it take part in the guess about what stands before it',
        'CXYRSA',
        ['C-X', 'C-Y', 'C-R', 'C-S', 'R-S', 'S-A', 'S-P', 'S-Q'],
        [],
        ['S<R', 'A<R'],
        { X: 'C', Y: 'C', R: 'C', S: 'C', A: 'C' },
        ['C', 'X', 'Y'],
      ],
      [
        'nor do links to what lies behind it make a router the best connected of what stands before it',
        'RSQHAB',
        ['S-R', 'S-Q', 'S-H', 'R-Q', 'R-A', 'R-B'],
        [],
        ['A<R', 'B<R'],
        { R: 'S', Q: 'S', H: 'S', A: 'S', B: 'S' },
        ['S', 'R', 'Q', 'H'],
      ],
      [
        'leaves of a switch that a router cuts off, whose own networks nobody knows',
        'RSABC',
        ['S-A', 'S-B', 'S-C'],
        [],
        ['S<R'],
        { S: 'R', A: 'R', B: 'R', C: 'R' },
      ],
      ['what is linked to what routers cut off', 'RSA', ['S-A'], [], ['S<R'], { S: 'R', A: 'R' }],
      [
        'a port that is up leads no further where the only router is dead',
        'RA',
        ['A-U'],
        ['U'],
        ['A<R'],
        { A: 'R' },
      ],
      [
        'in a circle not all are suppressed',
        'RSPQ',
        ['U-S', 'S-R', 'U-Q', 'Q-P'],
        ['U'],
        ['S<P', 'Q<R'],
        { R: 'S', P: 'Q' },
      ],
    ])('%s', (_name, down, cables, up, cuts, expected, near) => {
      expect(rootsOf(both(down, cables, up, cuts, near))).toEqual(expected);
    });

    it('tells which routers are why, and nothing of them where links have the last word', () => {
      const behind = both('RSA', ['S-A'], [], ['S<R']);
      expect(behind.get('A')).toEqual({ root: 'R', cutOff: { routers: ['R'], network: '10.0.2.0/24' } });
      expect(both('CRA', ['U-C', 'C-A', 'C-R'], ['U'], ['C<R']).get('A')).toEqual({
        root: 'C',
        cutOff: null,
      });
    });
  });
});
