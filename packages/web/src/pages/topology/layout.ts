/**
 * Places of the map: every site a box, in it a band for each layer, in each band a box for every device that carries others,
 * with these below it. The same network is always drawn the same way, so that a map that changes live does not jump.
 */
import { type Group, LAYERS, type Layer, layersOf, type MapLink, type MapNode } from './graph.ts';

export interface Point {
  x: number;
  y: number;
}
export type BoxKind = 'site' | 'layer' | 'group';
/** A rectangle around its middle. */
export interface Box extends Point {
  key: string;
  kind: BoxKind;
  /** Of a site its id, of a layer its name. */
  label: string;
  w: number;
  h: number;
}
export interface Layout {
  at: Map<string, Point>;
  boxes: Box[];
}

/** Room of one device with its name beneath. */
const CELL = { w: 46, h: 26 };
/** Room of a device that carries others, above them. */
const HEAD = 40;
const LEAST_WIDTH = 82;
const PAD = 8;
const GAP = 14;
const SITE_GAP = 50;
/** Room for the title of a layer, of a site. */
const LAYER_TITLE = 14;
const SITE_TITLE = 22;
/** How much wider than high a site, and the whole, should be: as screens are. */
const ASPECT = 1.5;

/** A rectangle with what is in it, placed from its own left upper corner. */
interface Tile {
  w: number;
  h: number;
  devices: (Point & { id: string })[];
  boxes: Box[];
}

const moved = ({ devices, boxes }: Pick<Tile, 'devices' | 'boxes'>, by: Point) => ({
  devices: devices.map((one) => ({ ...one, x: one.x + by.x, y: one.y + by.y })),
  boxes: boxes.map((one) => ({ ...one, x: one.x + by.x, y: one.y + by.y })),
});

const framed = (tile: Tile, kind: BoxKind, key: string, label: string): Tile => ({
  ...tile,
  boxes: [{ key, kind, label, x: tile.w / 2, y: tile.h / 2, w: tile.w, h: tile.h }, ...tile.boxes],
});

/** Devices in rows of so many. */
function grid(ids: readonly string[], columns: number): Tile {
  const devices = ids.map((id, i) => ({
    id,
    x: ((i % columns) + 0.5) * CELL.w,
    y: (Math.floor(i / columns) + 0.4) * CELL.h,
  }));
  const rows = Math.ceil(ids.length / columns);
  return { w: Math.min(columns, ids.length) * CELL.w, h: rows * CELL.h, devices, boxes: [] };
}

/** Tiles beside each other, in as many rows as the width needs; each row in the middle. */
function flow(tiles: readonly Tile[], width: number, gap: number): Tile {
  const rows: Tile[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const tile of tiles) {
    if (used + gap + tile.w > width) {
      rows.push([]);
      used = -gap;
    }
    rows.at(-1)?.push(tile);
    used += gap + tile.w;
  }
  const whole: Tile = { w: 0, h: -gap, devices: [], boxes: [] };
  const widthOf = (row: readonly Tile[]) => row.reduce((sum, { w }) => sum + w + gap, -gap);
  whole.w = Math.max(0, ...rows.map(widthOf));
  for (const row of rows) {
    const y = whole.h + gap;
    let x = (whole.w - widthOf(row)) / 2;
    for (const tile of row) {
      const { devices, boxes } = moved(tile, { x, y });
      whole.devices.push(...devices);
      whole.boxes.push(...boxes);
      x += tile.w + gap;
    }
    whole.h = y + Math.max(...row.map(({ h }) => h));
  }
  return { ...whole, h: Math.max(0, whole.h) };
}

/** Tiles beneath each other, each in the middle of the width. */
function stack(tiles: readonly Tile[], width: number, gap: number): Tile {
  const whole: Tile = { w: width, h: 0, devices: [], boxes: [] };
  for (const [i, tile] of tiles.entries()) {
    const y = whole.h + (i > 0 ? gap : 0);
    const { devices, boxes } = moved(tile, { x: (width - tile.w) / 2, y });
    whole.devices.push(...devices);
    whole.boxes.push(...boxes);
    whole.h = y + tile.h;
  }
  return whole;
}

const padded = (tile: Tile, by: number, top = by): Tile => ({
  w: tile.w + 2 * by,
  h: tile.h + top + by,
  ...moved(tile, { x: by, y: top }),
});

/** A device, and what hangs on it in a block beneath. */
function groupTile({ id, hosts }: Group): Tile {
  const block = grid(hosts, Math.max(1, Math.ceil(Math.sqrt((hosts.length * CELL.h * 2) / CELL.w))));
  const w = Math.max(LEAST_WIDTH, block.w + 2 * PAD);
  const { devices } = moved(block, { x: (w - block.w) / 2, y: HEAD });
  const h = HEAD + block.h + (hosts.length > 0 ? PAD / 2 : 0);
  return framed(
    { w, h, devices: [{ id, x: w / 2, y: HEAD * 0.4 }, ...devices], boxes: [] },
    'group',
    `group ${id}`,
    '',
  );
}

/** About the width at which tiles that flow are as wide as they should be. */
const widthFor = (tiles: readonly Tile[], gap: number): number =>
  Math.max(
    ...tiles.map(({ w }) => w),
    Math.sqrt(tiles.reduce((sum, { w, h }) => sum + (w + gap) * (h + gap), 0) * ASPECT),
  );

/** Widths that are tried, in sides of a square of the same room. */
const WIDTHS = [1, 1.25, 1.5, 1.8, 2.2, 2.8];

const TITLES = { core: 'Core', distribution: 'Distribution', access: 'Access' } as const;

type Titled = { label: string; tile: Tile };

/** The bands of a site, about as wide as this. */
function bandsOf(
  groups: readonly { layer: Layer; tile: Tile }[],
  unlinked: readonly string[],
  width: number,
): Titled[] {
  const bands: Titled[] = LAYERS.flatMap((layer) => {
    const own = groups.filter((one) => one.layer === layer).map(({ tile }) => tile);
    return own.length === 0 ? [] : [{ label: TITLES[layer], tile: flow(own, width, GAP) }];
  });
  if (unlinked.length > 0) {
    const widest = Math.max(width, ...bands.map(({ tile }) => tile.w));
    const columns = Math.max(1, Math.floor(widest / CELL.w));
    bands.push({ label: 'Not linked', tile: grid(unlinked, columns) });
  }
  return bands;
}

function siteTile(siteId: string, nodes: readonly MapNode[], links: readonly MapLink[]): Tile {
  const { groups, unlinked } = layersOf(nodes, links);
  const tiles = groups.map((group) => ({ layer: group.layer, tile: groupTile(group) }));
  const room = unlinked.length * CELL.w * CELL.h;
  const least = Math.max(
    LEAST_WIDTH,
    Math.sqrt(room + tiles.reduce((sum, { tile }) => sum + tile.w * tile.h, 0)),
  );
  const drawn = WIDTHS.map((times) => {
    const bands = bandsOf(tiles, unlinked, least * times);
    const inner = Math.max(...bands.map(({ tile }) => tile.w)) + 2 * PAD;
    const framedBands = bands.map(({ label, tile }) => {
      const band = padded(stack([tile], inner - 2 * PAD, 0), PAD, LAYER_TITLE + PAD);
      return framed(band, 'layer', `${siteId} ${label}`, label);
    });
    return padded(stack(framedBands, inner, GAP), GAP, SITE_TITLE + PAD);
  });
  const off = ({ w, h }: Tile) => Math.abs(Math.log(w / h / ASPECT));
  const best = drawn.reduce((a, b) => (off(b) < off(a) ? b : a));
  return framed(best, 'site', siteId, siteId);
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
  if (nodes.length === 0) return { at: new Map(), boxes: [] };
  const siteOf = new Map(nodes.map((node) => [node.id, node.siteId]));
  const within = grouped(links, ({ a, b }) => {
    const site = siteOf.get(a.deviceId);
    return site === siteOf.get(b.deviceId) ? site : undefined;
  });
  const sites = [...grouped(nodes, (node) => node.siteId)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([siteId, there]) => siteTile(siteId, there, within.get(siteId) ?? []))
    .sort((a, b) => b.w * b.h - a.w * a.h);
  const { devices, boxes } = flow(sites, widthFor(sites, SITE_GAP), SITE_GAP);
  return { at: new Map(devices.map(({ id, x, y }) => [id, { x, y }])), boxes };
}
