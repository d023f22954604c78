/** What the map draws, as Cytoscape takes it. */
import type { Topology } from '@rollcall/shared/api/interfaces';
import type { DeviceClass } from '@rollcall/shared/model';
import type { ElementDefinition } from 'cytoscape';
import { bitrate } from '../../format.ts';
import { carries } from './graph.ts';
import { type Box, layoutOf } from './layout.ts';
import { type LoadOf, loadText } from './link-load.ts';

type Node = Topology['nodes'][number];
type Link = Topology['links'][number];
export type Icons = Readonly<Partial<Record<DeviceClass, string>>>;

/** Characters of a name that there is room for; its end tells devices of a site apart. */
const NAME_MOST = 13;
const shortened = (name: string): string =>
  name.length > NAME_MOST ? `…${name.slice(1 - NAME_MOST)}` : name;

export const nodeData = (node: Node, icons: Icons) => ({
  id: node.id,
  label: shortened(node.name),
  full: node.name,
  status: node.status,
  worst: node.worstSeverity ?? 0,
  big: carries(node.class) ? 1 : 0,
  icon: icons[node.class] ?? '',
});

export const linkId = (link: Link): string =>
  `${link.a.deviceId} ${link.a.port} ${link.b.deviceId} ${link.b.port}`;

export function linkData(link: Link, loadOf: LoadOf) {
  const load = loadOf(link);
  const speed = link.speedBps === null ? '' : bitrate(link.speedBps);
  const words = [link.status === 'down' ? 'down' : '', speed, load === undefined ? '' : loadText(load)];
  return { status: link.status, load: load ?? -1, words: words.filter(Boolean).join(', ') };
}

/** Size of the title of each kind of box. */
const LETTERS = { site: 13, layer: 9 } as const;

function boxElements({ key, kind, label, x, y, w, h }: Box, nameOf: (site: string) => string) {
  const fixed = { selectable: false, grabbable: false };
  const box: ElementDefinition = {
    data: { id: `box ${key}`, box: kind, w, h },
    position: { x, y },
    ...fixed,
  };
  if (kind === 'group') return [box];
  const letters = LETTERS[kind];
  const title: ElementDefinition = {
    data: { id: `title ${key}`, title: kind === 'site' ? nameOf(label) : label, letters },
    position: { x: x - w / 2 + 6, y: y - h / 2 + letters },
    ...fixed,
  };
  return [box, title];
}

export function elementsOf(
  topology: Topology,
  { icons, loadOf, siteName }: { icons: Icons; loadOf: LoadOf; siteName: (id: string) => string },
): ElementDefinition[] {
  const { at, boxes } = layoutOf(topology.nodes, topology.links);
  const nodes = new Map(topology.nodes.map((node) => [node.id, node]));
  // Hosts stand in the box of what they hang on.
  const isHost = (id: string) => !carries(nodes.get(id)?.class ?? '');
  const elements: ElementDefinition[] = [
    ...boxes.flatMap((box) => boxElements(box, siteName)),
    ...topology.nodes.map((node) => ({
      data: nodeData(node, icons),
      position: at.get(node.id) ?? { x: 0, y: 0 },
      grabbable: false,
    })),
    ...topology.links
      .filter(({ a, b }) => nodes.has(a.deviceId) && nodes.has(b.deviceId))
      .map((link) => ({
        data: {
          id: linkId(link),
          source: link.a.deviceId,
          target: link.b.deviceId,
          leaf: isHost(link.a.deviceId) || isHost(link.b.deviceId) ? 1 : 0,
          ...linkData(link, loadOf),
        },
        selectable: false,
      })),
  ];
  return [...new Map(elements.map((element) => [element.data.id, element])).values()];
}
