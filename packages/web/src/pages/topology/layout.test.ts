import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layoutOf, type MapLink, type MapNode } from './layout.ts';

const node = (id: string, siteId = 's', kind = 'switch'): MapNode => ({ id, siteId, name: id, class: kind });
const link = (a: string, b: string): MapLink => ({ a: { deviceId: a }, b: { deviceId: b } });

/** A site as most are: a core, distribution behind it, access behind that, hosts at the ends. */
function campus(site: string, access: number, hosts: number) {
  const nodes = [node(`${site}-core`, site)];
  const links: MapLink[] = [];
  for (let a = 0; a < access; a += 1) {
    const sw = `${site}-acc-${a}`;
    nodes.push(node(sw, site));
    links.push(link(`${site}-core`, sw));
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

describe('the map', () => {
  it('places every node once, none upon another', () => {
    const { nodes, links } = campus('a', 12, 20);
    const layout = layoutOf(nodes, links);
    expect(layout.at.size).toBe(nodes.length);
    expect(distances(layout)).toBeGreaterThan(20);
  });

  it('keeps hosts nearer to their switch than to any other', () => {
    const { nodes, links } = campus('a', 8, 12);
    const { at } = layoutOf(nodes, links);
    for (let a = 0; a < 8; a += 1)
      for (let h = 0; h < 12; h += 1) {
        const host = at.get(`a-acc-${a}-${h}`)!;
        const far = (sw: number) => {
          const point = at.get(`a-acc-${sw}`)!;
          return Math.hypot(point.x - host.x, point.y - host.y);
        };
        const nearest = Array.from({ length: 8 }, (_, i) => i).sort((x, y) => far(x) - far(y))[0];
        expect(nearest).toBe(a);
      }
  });

  it('gives every site a place of its own', () => {
    const sites = ['a', 'b', 'c', 'd'].map((name, i) => campus(name, 3 + i * 4, 9));
    const layout = layoutOf(
      sites.flatMap((site) => site.nodes),
      sites.flatMap((site) => site.links),
    );
    for (const one of layout.sites)
      for (const other of layout.sites) {
        if (one === other) continue;
        const distance = Math.hypot(one.x - other.x, one.y - other.y);
        expect(distance, `${one.siteId} and ${other.siteId}`).toBeGreaterThan(one.r + other.r);
      }
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
        (count, pairs) => {
          const nodes = Array.from({ length: count }, (_, i) => node(`n${i}`, i % 3 === 0 ? 'x' : 'y'));
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
    expect(layoutOf([], [])).toEqual({ at: new Map(), sites: [] });
  });
});
