/**
 * Places of the map: every site a cloud of its own, in it every network a tree drawn as circles within circles. The
 * same network is always drawn the same way, so that a map that changes live does not jump. Linear but for sorting.
 */

export interface MapNode {
  id: string;
  siteId: string;
  name: string;
  class: string;
}
export interface MapLink {
  a: { deviceId: string };
  b: { deviceId: string };
}
export interface Point {
  x: number;
  y: number;
}
export interface SiteBox extends Point {
  siteId: string;
  width: number;
  height: number;
}
export interface Layout {
  at: Map<string, Point>;
  /** Upper left corners and sizes of the sites' clouds. */
  sites: SiteBox[];
}

const STEP = 26;
const LEAF = 13;
const GAP = 14;
const SITE_GAP = 90;

/** What usually stands in the middle of a network, first. */
const MIDDLE: Record<string, number> = { router: 3, firewall: 3, switch: 4, 'load-balancer': 2, wireless: 1 };

interface Cloud {
  at: Map<string, Point>;
  radius: number;
}

/** Circles of a tree: whoever has children stands in the middle of them. */
function balloon(root: string, childrenOf: Map<string, string[]>): Cloud {
  const children = childrenOf.get(root) ?? [];
  const at = new Map<string, Point>([[root, { x: 0, y: 0 }]]);
  const leaves = children.filter((child) => !childrenOf.has(child));
  const inner = rings(leaves, at);
  const clouds = children.filter((child) => childrenOf.has(child)).map((child) => balloon(child, childrenOf));
  if (clouds.length === 0) return { at, radius: inner };
  const widest = Math.max(...clouds.map((cloud) => cloud.radius));
  const distance = distanceFor(clouds, inner + widest + GAP);
  const angles = clouds.map(({ radius }) => angleOf(radius, distance));
  // What is left of the circle is shared out, so that few children do not crowd at one side.
  const spare = Math.max(0, 2 * Math.PI - angles.reduce((sum, angle) => sum + angle, 0)) / clouds.length;
  let angle = -Math.PI / 2;
  clouds.forEach((cloud, i) => {
    const half = ((angles[i] ?? 0) + spare) / 2;
    angle += half;
    const [x, y] = [Math.cos(angle) * distance, Math.sin(angle) * distance];
    for (const [id, point] of cloud.at) at.set(id, { x: point.x + x, y: point.y + y });
    angle += half;
  });
  return { at, radius: distance + widest };
}

/** Leaves in rings around the middle; answers how far out they reach. */
function rings(leaves: readonly string[], at: Map<string, Point>): number {
  let placed = 0;
  let ring = 0;
  while (placed < leaves.length) {
    ring += 1;
    const radius = ring * STEP;
    const room = Math.floor((2 * Math.PI * radius) / STEP);
    const here = leaves.slice(placed, placed + room);
    here.forEach((leaf, i) => {
      const angle = (2 * Math.PI * i) / here.length - Math.PI / 2;
      at.set(leaf, { x: Math.cos(angle) * radius, y: Math.sin(angle) * radius });
    });
    placed += here.length;
  }
  return ring * STEP + LEAF;
}

/** Angle that a circle takes when its middle lies `distance` away. */
const angleOf = (radius: number, distance: number): number =>
  2 * Math.asin(Math.min(1, (radius + GAP / 2) / distance));

/** How far out circles must lie to fit around, at least `least`. */
function distanceFor(clouds: readonly Cloud[], least: number): number {
  const taken = (distance: number) => clouds.reduce((sum, { radius }) => sum + angleOf(radius, distance), 0);
  let distance = least;
  while (taken(distance) > 2 * Math.PI) distance *= 1.08;
  return distance;
}

/** Groups of nodes that links join, each with its tree from the middle outwards. */
function treesOf(nodes: readonly MapNode[], links: readonly MapLink[]) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const near = new Map<string, Set<string>>(nodes.map((node) => [node.id, new Set()]));
  for (const { a, b } of links) {
    if (a.deviceId === b.deviceId) continue;
    if (!byId.has(a.deviceId) || !byId.has(b.deviceId)) continue;
    near.get(a.deviceId)?.add(b.deviceId);
    near.get(b.deviceId)?.add(a.deviceId);
  }
  const nameOf = (id: string) => byId.get(id)?.name ?? '';
  const byName = (a: string, b: string) => nameOf(a).localeCompare(nameOf(b), 'en', { numeric: true });
  const weight = (id: string) => {
    const inner = [...(near.get(id) ?? [])].filter((other) => (near.get(other)?.size ?? 0) > 1).length;
    return inner * 10 + (MIDDLE[byId.get(id)?.class ?? ''] ?? 0) * 5 + Math.min(9, near.get(id)?.size ?? 0);
  };
  const order = [...byId.keys()].sort((a, b) => weight(b) - weight(a) || byName(a, b));
  const seen = new Set<string>();
  const trees: { root: string; size: number; childrenOf: Map<string, string[]> }[] = [];
  for (const root of order) {
    if (seen.has(root)) continue;
    const childrenOf = new Map<string, string[]>();
    const queue = [root];
    seen.add(root);
    for (let i = 0; i < queue.length; i += 1) {
      const id = queue[i] as string;
      const children = [...(near.get(id) ?? [])].filter((other) => !seen.has(other)).sort(byName);
      for (const child of children) seen.add(child);
      if (children.length > 0) childrenOf.set(id, children);
      queue.push(...children);
    }
    trees.push({ root, size: queue.length, childrenOf });
  }
  return trees;
}

/** Trees beside each other, largest first, and under them those that are linked to nothing, as a block. */
function siteCloud(
  nodes: readonly MapNode[],
  links: readonly MapLink[],
): { at: Map<string, Point>; width: number; height: number } {
  const trees = treesOf(nodes, links);
  const linked = trees.filter((tree) => tree.size > 1).sort((a, b) => b.size - a.size);
  const alone = trees.filter((tree) => tree.size === 1);
  const at = new Map<string, Point>();
  let [x, height] = [0, 0];
  for (const tree of linked) {
    const cloud = balloon(tree.root, tree.childrenOf);
    for (const [id, point] of cloud.at)
      at.set(id, { x: x + cloud.radius + point.x, y: cloud.radius + point.y });
    x += cloud.radius * 2 + GAP * 2;
    height = Math.max(height, cloud.radius * 2);
  }
  const across = Math.max(Math.ceil(Math.sqrt(alone.length * 2)), Math.floor(x / STEP), 1);
  const top = height > 0 ? height + STEP : 0;
  alone.forEach(({ root }, i) => {
    at.set(root, { x: (i % across) * STEP + LEAF, y: top + Math.floor(i / across) * STEP + LEAF });
  });
  const block = Math.ceil(alone.length / across) * STEP;
  return {
    at,
    width: Math.max(x, Math.min(alone.length, across) * STEP),
    height: alone.length > 0 ? top + block : height,
  };
}

export function layoutOf(nodes: readonly MapNode[], links: readonly MapLink[]): Layout {
  const bySite = new Map<string, MapNode[]>();
  for (const node of nodes) {
    const there = bySite.get(node.siteId);
    if (there) there.push(node);
    else bySite.set(node.siteId, [node]);
  }
  const siteOf = new Map(nodes.map((node) => [node.id, node.siteId]));
  const within = new Map<string, MapLink[]>();
  for (const link of links) {
    const site = siteOf.get(link.a.deviceId);
    if (site === undefined || site !== siteOf.get(link.b.deviceId)) continue;
    const there = within.get(site);
    if (there) there.push(link);
    else within.set(site, [link]);
  }
  const clouds = [...bySite]
    .map(([siteId, there]) => ({ siteId, ...siteCloud(there, within.get(siteId) ?? []) }))
    .sort((a, b) => b.width * b.height - a.width * a.height);

  // Rows about as wide as the whole is high on a wide screen.
  const area = clouds.reduce((sum, { width, height }) => sum + (width + SITE_GAP) * (height + SITE_GAP), 0);
  const most = Math.max(Math.sqrt(area * 1.7), ...clouds.map(({ width }) => width));
  const at = new Map<string, Point>();
  const sites: SiteBox[] = [];
  let [x, y, rowHeight] = [0, 0, 0];
  for (const { siteId, width, height, at: points } of clouds) {
    if (x > 0 && x + width > most) {
      x = 0;
      y += rowHeight + SITE_GAP;
      rowHeight = 0;
    }
    for (const [id, point] of points) at.set(id, { x: x + point.x, y: y + point.y });
    sites.push({ siteId, x, y, width, height });
    x += width + SITE_GAP;
    rowHeight = Math.max(rowHeight, height);
  }
  return { at, sites };
}
