import { packEnclose, packSiblings } from 'd3-hierarchy';

/**
 * Places of the map: every site a cloud of its own, in it every network a tree drawn as circles within circles, packed.
 * The same network is always drawn the same way, so that a map that changes live does not jump.
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
/** A circle that holds everything of one site. */
interface SiteCircle extends Point {
  siteId: string;
  r: number;
}
export interface Layout {
  at: Map<string, Point>;
  sites: SiteCircle[];
}

/** Half the room of one device, and of one that others hang on, with their names. */
const LEAF = 13;
const INNER = 24;
/** Free room around a group. */
const GAP = 3;
const SITE_GAP = 60;

/** What usually stands in the middle of a network. */
const MIDDLE: Record<string, number> = { router: 3, firewall: 3, switch: 4, 'load-balancer': 2, wireless: 1 };

/** A circle inside a cloud, seen from the cloud's middle. */
interface Spot extends Point {
  r: number;
}

/** One device, or clouds placed around a middle of their own. */
interface Cloud {
  key: string;
  r: number;
  /** What it covers: its devices one by one; more than SPOTS_MOST as one circle. */
  spots: readonly Spot[];
  /** The device, where it is one. */
  id?: string;
  parts: readonly (Point & { cloud: Cloud })[];
}

/** Circles of one cloud that are looked at one by one when clouds move together. */
const SPOTS_MOST = 120;
/** Halvings of the way to the middle. */
const STEPS = 8;

interface Placed extends Point {
  cloud: Cloud;
}
const spotsOf = ({ x, y, cloud }: Placed): Spot[] =>
  cloud.spots.map((spot) => ({ x: x + spot.x, y: y + spot.y, r: spot.r }));

/** Whether a cloud whose middle is at (x, y) covers something that is taken. */
function touches({ spots }: Cloud, x: number, y: number, taken: readonly Spot[]): boolean {
  for (const spot of spots)
    for (const other of taken) {
      const [dx, dy, near] = [x + spot.x - other.x, y + spot.y - other.y, spot.r + other.r];
      if (dx * dx + dy * dy < near * near) return true;
    }
  return false;
}

/**
 * Moves clouds towards the first of them, the nearest first, as far as what they really cover lets them: circles around
 * clouds leave much room between them. Answers what all of them cover.
 */
function tighten(circles: readonly Placed[]): Spot[] {
  const [middle, ...around] = circles;
  if (!middle) return [];
  const far = (circle: Point) => Math.hypot(circle.x - middle.x, circle.y - middle.y);
  const taken = spotsOf(middle);
  for (const circle of around.sort((a, b) => far(a) - far(b))) {
    const way = { x: circle.x - middle.x, y: circle.y - middle.y };
    const blocks = (share: number) =>
      touches(circle.cloud, middle.x + way.x * share, middle.y + way.y * share, taken);
    let free = 1;
    while (blocks(free)) free += 0.1;
    let blocked = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const share = (free + blocked) / 2;
      if (blocks(share)) blocked = share;
      else free = share;
    }
    circle.x = middle.x + way.x * free;
    circle.y = middle.y + way.y * free;
    taken.push(...spotsOf(circle));
  }
  return taken;
}

/** Clouds beside each other around the first of them, as close as they can be. */
function pack(key: string, clouds: readonly Cloud[], gap: number): Cloud {
  const circles = packSiblings(clouds.map((cloud) => ({ r: cloud.r, x: 0, y: 0, cloud })));
  const covered = tighten(circles);
  const whole = packEnclose(covered);
  const parts = circles.map(({ x, y, cloud }) => ({ x: x - whole.x, y: y - whole.y, cloud }));
  const r = whole.r + gap;
  const spots =
    covered.length > SPOTS_MOST
      ? [{ x: 0, y: 0, r }]
      : covered.map((spot) => ({ x: spot.x - whole.x, y: spot.y - whole.y, r: spot.r }));
  return { key, r, spots, parts };
}

const single = (id: string, r: number): Cloud => ({
  key: id,
  r,
  id,
  spots: [{ x: 0, y: 0, r: r + GAP }],
  parts: [],
});

/** Notes where the devices of a cloud are, when its middle is there. */
function settle(cloud: Cloud, middle: Point, at: Map<string, Point>): void {
  const open = [{ cloud, x: middle.x, y: middle.y }];
  for (let one = open.pop(); one; one = open.pop()) {
    const { x, y } = one;
    if (one.cloud.id !== undefined) at.set(one.cloud.id, { x, y });
    for (const part of one.cloud.parts) open.push({ cloud: part.cloud, x: x + part.x, y: y + part.y });
  }
}

/** Keeps others out of the ring of what hangs on a device itself: no host stands nearer to another switch than to its own. */
function guarded(cloud: Cloud): Cloud {
  const [middle, ...around] = cloud.parts;
  const [spot, ...others] = cloud.spots;
  if (!middle || !spot || others.length === 0) return cloud;
  const ring = around.filter((part) => part.cloud.id !== undefined);
  const r = Math.max(spot.r, ...ring.map((part) => Math.hypot(part.x - middle.x, part.y - middle.y)));
  return { ...cloud, spots: [{ ...spot, r }, ...others] };
}

interface Tree {
  root: string;
  childrenOf: Map<string, string[]>;
}

/** A device, what hangs on it packed around it. Without recursion: chains of devices can be long. */
function cloudOf({ root, childrenOf }: Tree): Cloud {
  const order = [root];
  for (let i = 0; i < order.length; i += 1) order.push(...(childrenOf.get(order[i] ?? '') ?? []));
  const made = new Map<string, Cloud>();
  for (const id of order.reverse()) {
    const children = childrenOf.get(id) ?? [];
    if (children.length === 0) {
      made.set(id, single(id, id === root ? INNER : LEAF));
      continue;
    }
    // Small ones first: they stay near their device, the large ones lie around them.
    const around = children.map((child) => made.get(child) as Cloud).sort((a, b) => a.r - b.r);
    made.set(id, guarded(pack(id, [single(id, INNER), ...around], GAP)));
  }
  return made.get(root) as Cloud;
}

/** Groups of devices that links join, each as a tree from the middle outwards. */
function treesOf(nodes: readonly MapNode[], links: readonly MapLink[]): Tree[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const near = new Map<string, Set<string>>(nodes.map((node) => [node.id, new Set()]));
  for (const { a, b } of links) {
    if (a.deviceId === b.deviceId || !byId.has(a.deviceId) || !byId.has(b.deviceId)) continue;
    near.get(a.deviceId)?.add(b.deviceId);
    near.get(b.deviceId)?.add(a.deviceId);
  }
  const collator = new Intl.Collator('en', { numeric: true });
  const nameOf = (id: string) => byId.get(id)?.name ?? '';
  const byName = (a: string, b: string) => collator.compare(nameOf(a), nameOf(b)) || (a < b ? -1 : 1);
  const degree = (id: string) => near.get(id)?.size ?? 0;
  const weights = new Map(
    nodes.map(({ id, class: kind }) => {
      const inner = [...(near.get(id) ?? [])].filter((other) => degree(other) > 1).length;
      return [id, inner * 10 + (MIDDLE[kind] ?? 0) * 5 + Math.min(9, degree(id))];
    }),
  );
  const weight = (id: string) => weights.get(id) ?? 0;
  const order = [...byId.keys()].sort((a, b) => weight(b) - weight(a) || byName(a, b));
  const seen = new Set<string>();
  const trees: Tree[] = [];
  for (const root of order) {
    if (seen.has(root)) continue;
    seen.add(root);
    const childrenOf = new Map<string, string[]>();
    const queue = [root];
    for (let i = 0; i < queue.length; i += 1) {
      const id = queue[i] ?? '';
      const children = [...(near.get(id) ?? [])].filter((other) => !seen.has(other)).sort(byName);
      if (children.length === 0) continue;
      for (const child of children) seen.add(child);
      childrenOf.set(id, children);
      queue.push(...children);
    }
    trees.push({ root, childrenOf });
  }
  return trees;
}

/** The networks of a site, largest in the middle, and those that are linked to nothing as a heap beside them. */
function siteCloud(siteId: string, nodes: readonly MapNode[], links: readonly MapLink[]): Cloud {
  const trees = treesOf(nodes, links);
  const linked = trees.filter((tree) => tree.childrenOf.size > 0).map(cloudOf);
  const alone = trees.filter((tree) => tree.childrenOf.size === 0).map(({ root }) => single(root, LEAF));
  const heaps = alone.length > 0 ? [pack(`${siteId} alone`, alone, GAP)] : [];
  return pack(
    siteId,
    [...linked, ...heaps].sort((a, b) => b.r - a.r),
    SITE_GAP,
  );
}

const grouped = <K, T>(items: readonly T[], keyOf: (item: T) => K | undefined): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};

export function layoutOf(nodes: readonly MapNode[], links: readonly MapLink[]): Layout {
  if (nodes.length === 0) return { at: new Map(), sites: [] };
  const siteOf = new Map(nodes.map((node) => [node.id, node.siteId]));
  const within = grouped(links, ({ a, b }) => {
    const site = siteOf.get(a.deviceId);
    return site === siteOf.get(b.deviceId) ? site : undefined;
  });
  const clouds = [...grouped(nodes, (node) => node.siteId)]
    .map(([siteId, there]) => siteCloud(siteId, there, within.get(siteId) ?? []))
    .sort((a, b) => b.r - a.r || (a.key < b.key ? -1 : 1));
  const circles = packSiblings(clouds.map(({ r }) => ({ r, x: 0, y: 0 })));
  const at = new Map<string, Point>();
  const sites = clouds.map((cloud, i): SiteCircle => {
    const { x = 0, y = 0 } = circles[i] ?? {};
    settle(cloud, { x, y }, at);
    return { siteId: cloud.key, x, y, r: cloud.r - SITE_GAP };
  });
  return { at, sites };
}
