import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { devicesBehind, layersOf, type MapLink, type MapNode } from './graph.ts';
import { type Box, layoutOf } from './layout.ts';

const node = (id: string, siteId = 's', kind = 'switch'): MapNode => ({ id, siteId, name: id, class: kind });
const link = (a: string, b: string): MapLink => ({ a: { deviceId: a }, b: { deviceId: b } });

/** A site as most are: two in the core, two that distribute, access switches behind them, hosts at the ends. */
function campus(site: string, access: number, hosts: number) {
  const [core, other, left, right] = ['core-1', 'core-2', 'dist-1', 'dist-2'].map(
    (name) => `${site}-${name}`,
  ) as [string, string, string, string];
  const nodes = [core, other, left, right].map((id) => node(id, site));
  const links = [link(core, other), ...[left, right].flatMap((id) => [link(core, id), link(other, id)])];
  for (let a = 1; a <= access; a += 1) {
    const sw = `${site}-acc-${a}`;
    nodes.push(node(sw, site));
    links.push(link(left, sw), link(right, sw));
    for (let h = 0; h < hosts; h += 1) {
      nodes.push(node(`${sw}-${h}`, site, 'server'));
      links.push(link(sw, `${sw}-${h}`));
    }
  }
  return { nodes, links };
}

const distances = (layout: ReturnType<typeof layoutOf>) => {
  const points = [...layout.at.values()];
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < points.length; i += 1)
    for (let j = i + 1; j < points.length; j += 1) {
      const [a, b] = [points[i]!, points[j]!];
      least = Math.min(least, Math.hypot(a.x - b.x, a.y - b.y));
    }
  return least;
};
const apart = (a: Box, b: Box) =>
  Math.abs(a.x - b.x) >= (a.w + b.w) / 2 || Math.abs(a.y - b.y) >= (a.h + b.h) / 2;

describe('the layers of a network', () => {
  const layersIn = (nodes: readonly MapNode[], links: readonly MapLink[]) => {
    const { groups, unlinked } = layersOf(nodes, links);
    return { ...Object.fromEntries(groups.map((group) => [group.id, group.layer])), unlinked };
  };

  it('are core, distribution and access', () => {
    const { nodes, links } = campus('a', 3, 4);
    expect(layersIn([...nodes, node('a-lone')], links)).toEqual({
      'a-core-1': 'core',
      'a-core-2': 'core',
      'a-dist-1': 'distribution',
      'a-dist-2': 'distribution',
      'a-acc-1': 'access',
      'a-acc-2': 'access',
      'a-acc-3': 'access',
      unlinked: ['a-lone'],
    });
  });

  it('give every host to the device it hangs on, in the order of numbers', () => {
    const { nodes, links } = campus('a', 2, 11);
    const { groups } = layersOf(nodes, links);
    const hosts = groups.find(({ id }) => id === 'a-acc-2')?.hosts;
    expect(hosts).toEqual(Array.from({ length: 11 }, (_, i) => `a-acc-2-${i}`));
  });

  it('put a second network of the site into access: it has no core', () => {
    const { nodes, links } = campus('a', 2, 2);
    const small = [node('x'), node('y', 's', 'server')];
    expect(layersIn([...nodes, ...small], [...links, link('x', 'y')])).toMatchObject({ x: 'access' });
  });

  it('tell how many devices are behind one', () => {
    const { nodes, links } = campus('a', 3, 4);
    const behind = (id: string) => devicesBehind(nodes, links, id).length;
    expect(behind('a-acc-2')).toBe(4);
    // The other one carries them.
    expect(behind('a-dist-1')).toBe(0);
    expect(behind('a-acc-2-1')).toBe(0);
    expect(behind('a-core-1')).toBe(nodes.length - 1);
    const names = devicesBehind(nodes, links, 'a-acc-2').map(({ id }) => id);
    expect(names).toEqual([0, 1, 2, 3].map((n) => `a-acc-2-${n}`));
  });
});

describe('the map', () => {
  it.each([
    [90, 12, 6],
    [1_000, 60, 15],
  ])('places %i devices once, none upon another, wider than high', (_count, access, hosts) => {
    const { nodes, links } = campus('a', access, hosts);
    const layout = layoutOf(nodes, links);
    expect(layout.at.size).toBe(nodes.length);
    expect(distances(layout)).toBeGreaterThan(20);
    const [site] = layout.boxes;
    const ratio = (site?.w ?? 0) / (site?.h ?? 1);
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(2.4);
  });

  it('keeps every host in the box of its switch, and boxes of a kind apart', () => {
    const { nodes, links } = campus('a', 8, 12);
    const { at, boxes } = layoutOf(nodes, links);
    const groups = boxes.filter(({ kind }) => kind === 'group');
    for (const { id } of nodes.filter((one) => one.class === 'server')) {
      const box = groups.find(({ key }) => key === `group ${id.slice(0, id.lastIndexOf('-'))}`)!;
      const { x, y } = at.get(id)!;
      expect(Math.abs(x - box.x) < box.w / 2 && Math.abs(y - box.y) < box.h / 2, id).toBe(true);
    }
    for (const [i, one] of groups.entries())
      for (const other of groups.slice(i + 1))
        expect(apart(one, other), `${one.key} ${other.key}`).toBe(true);
  });

  it('gives every site a place of its own', () => {
    const sites = ['a', 'b', 'c', 'd'].map((name, i) => campus(name, 3 + i * 4, 9));
    const { boxes } = layoutOf(
      sites.flatMap((site) => site.nodes),
      sites.flatMap((site) => site.links),
    );
    const drawn = boxes.filter(({ kind }) => kind === 'site');
    expect(drawn).toHaveLength(4);
    for (const [i, one] of drawn.entries())
      for (const other of drawn.slice(i + 1)) expect(apart(one, other)).toBe(true);
  });

  it('does not move when the order of the answer changes', () => {
    const { nodes, links } = campus('a', 6, 7);
    const before = layoutOf(nodes, links);
    const after = layoutOf(nodes.toReversed(), links.toReversed());
    for (const [id, point] of before.at) expect(after.at.get(id)).toEqual(point);
  });

  it('takes whatever networks report: rings, links to themselves, to nobody, twice', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 44 }), fc.integer({ min: 0, max: 44 })), {
          maxLength: 120,
        }),
        fc.array(fc.constantFrom('switch', 'server', 'router', 'phone'), { minLength: 40, maxLength: 40 }),
        (count, pairs, classes) => {
          const nodes = Array.from({ length: count }, (_, i) =>
            node(`n${i}`, i % 3 === 0 ? 'x' : 'y', classes[i]),
          );
          const links = pairs.map(([a, b]) => link(`n${a}`, `n${b}`));
          const layout = layoutOf(nodes, links);
          expect(layout.at.size).toBe(count);
          for (const { x, y } of layout.at.values())
            expect(Number.isFinite(x) && Number.isFinite(y)).toBe(true);
          if (count > 1) expect(distances(layout)).toBeGreaterThan(8);
        },
      ),
    );
  });

  it('takes a chain of 20,000 devices', () => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => node(`n${i}`));
    const links = nodes.slice(1).map((one, i) => link(`n${i}`, one.id));
    expect(layoutOf(nodes, links).at.size).toBe(20_000);
  });

  it('draws nothing of nothing', () => {
    expect(layoutOf([], [])).toEqual({ at: new Map(), boxes: [] });
  });
});
