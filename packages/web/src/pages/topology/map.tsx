import type { Topology } from '@rollcall/shared/api/interfaces';
import cytoscape, { type Core, type ElementDefinition } from 'cytoscape';
import { useEffect, useMemo, useRef } from 'react';
import { useShownScheme } from '../../scheme.ts';
import { layoutOf } from './layout.ts';
import { styleOf } from './map-style.ts';
import classes from './topology.module.css';

type Node = Topology['nodes'][number];

/** Devices that others hang on are drawn larger, and keep their names when the map is small. */
const BIG: ReadonlySet<string> = new Set(['router', 'switch', 'firewall', 'load-balancer']);

const nodeData = (node: Node) => ({
  id: node.id,
  label: node.name,
  status: node.status,
  worst: node.worstSeverity ?? 0,
  big: BIG.has(node.class) ? 1 : 0,
});

/** Where a map of the same devices and links was left. */
interface View {
  zoom: number;
  pan: { x: number; y: number };
}

export interface MapHandle {
  fit: () => void;
  zoom: (factor: number) => void;
}

interface NetworkMapProps {
  topology: Topology;
  siteNames: (id: string) => string;
  picked: string | undefined;
  /** Ids that a search found; undefined: nothing is searched for. */
  found: ReadonlySet<string> | undefined;
  onPick: (id: string | undefined) => void;
  onOpen: (id: string) => void;
  handle: { current: MapHandle | undefined };
}

/** The network as a picture: pan, zoom, click. The list beside it says the same in words. */
export function NetworkMap({ topology, siteNames, picked, found, onPick, onOpen, handle }: NetworkMapProps) {
  const box = useRef<HTMLDivElement>(null);
  const cy = useRef<Core>(undefined);
  const view = useRef<{ structure: string; at: View }>(undefined);
  const calls = useRef({ onPick, onOpen });
  calls.current = { onPick, onOpen };
  const colorScheme = useShownScheme();
  const structure = useMemo(
    () =>
      [
        ...topology.nodes.map((node) => node.id),
        ...topology.links.map((link) => `${link.a.deviceId}-${link.b.deviceId}`),
      ].join(),
    [topology],
  );
  const latest = useRef({ topology, siteNames });
  latest.current = { topology, siteNames };

  // A new map only for new devices or links: what merely changed its state keeps its place, and the reader theirs.
  useEffect(() => {
    if (!box.current) return;
    const map = open(box.current, latest.current.topology, latest.current.siteNames);
    cy.current = map;
    map.on('tap', 'node[status]', (event) => calls.current.onPick(event.target.id()));
    map.on('mouseover', 'node[status]', (event) => event.target.addClass('hover'));
    map.on('mouseout', 'node[status]', (event) => event.target.removeClass('hover'));
    map.on('tap', (event) => event.target === map && calls.current.onPick(undefined));
    map.on('dbltap', 'node[status]', (event) => calls.current.onOpen(event.target.id()));
    handle.current = {
      fit: () => map.animate({ fit: { eles: map.elements(), padding: 30 }, duration: 200 }),
      zoom: (factor) =>
        map.animate({
          zoom: { level: map.zoom() * factor, position: map.pan() && middleOf(map) },
          duration: 120,
        }),
    };
    const before = view.current;
    if (before?.structure === structure) map.viewport(before.at);
    return () => {
      view.current = { structure, at: { zoom: map.zoom(), pan: { ...map.pan() } } };
      cy.current = undefined;
      handle.current = undefined;
      map.destroy();
    };
  }, [structure, handle]);

  useEffect(() => {
    cy.current?.batch(() => {
      for (const node of topology.nodes) cy.current?.getElementById(node.id).data(nodeData(node));
      for (const link of topology.links) cy.current?.getElementById(linkId(link)).data('status', link.status);
    });
  }, [topology]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read from the page's scheme; a new map needs them, too
  useEffect(() => {
    cy.current?.style(styleOf(getComputedStyle(document.documentElement)));
  }, [colorScheme, structure]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new map has nothing marked yet
  useEffect(() => {
    const map = cy.current;
    if (!map) return;
    map.batch(() => {
      map.elements().removeClass('dim picked near');
      if (found)
        map
          .nodes('[status]')
          .filter((node) => !found.has(node.id()))
          .addClass('dim');
      if (!picked) return;
      const node = map.getElementById(picked);
      node.addClass('picked');
      node.connectedEdges().addClass('near');
      node.neighborhood('node').removeClass('dim');
    });
    if (picked && map.getElementById(picked).nonempty()) reveal(map, picked);
  }, [picked, found, structure]);

  return (
    <div
      ref={box}
      className={classes.map}
      role="img"
      aria-label={`Map of ${topology.nodes.length} devices and ${topology.links.length} links; the list shows them as text`}
    />
  );
}

const linkId = (link: Topology['links'][number]): string =>
  `${link.a.deviceId} ${link.a.port} ${link.b.deviceId} ${link.b.port}`;

const middleOf = (map: Core) => {
  const { x1, x2, y1, y2 } = map.extent();
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
};

/** Brings a device into view when it is outside, or too small to be read. */
function reveal(map: Core, id: string): void {
  const node = map.getElementById(id);
  const { x1, x2, y1, y2 } = map.extent();
  const { x, y } = node.position();
  if (x > x1 && x < x2 && y > y1 && y < y2 && map.zoom() > 0.35) return;
  map.animate({ center: { eles: node }, zoom: Math.max(map.zoom(), 1), duration: 250 });
}

/** Cytoscape writes its one rule into a style element unless this id is there; the security policy refuses that, and the rule stands in our own sheet. */
const SHEET = '__________cytoscape_stylesheet';

function open(container: HTMLElement, topology: Topology, siteNames: (id: string) => string): Core {
  if (!document.getElementById(SHEET)) {
    const mark = document.createElement('meta');
    mark.id = SHEET;
    document.head.append(mark);
  }
  const { at, sites } = layoutOf(topology.nodes, topology.links);
  const known = new Set(topology.nodes.map((node) => node.id));
  const elements: ElementDefinition[] = [
    ...sites.map((site) => ({
      data: {
        id: `site ${site.siteId}`,
        label: siteNames(site.siteId),
        site: 1,
        size: site.r * 2 + 40,
        // Readable from as far away as the whole site is.
        letters: Math.min(60, Math.max(11, site.r * 0.075)),
      },
      position: { x: site.x, y: site.y },
      selectable: false,
      grabbable: false,
    })),
    ...topology.nodes.map((node) => ({
      data: nodeData(node),
      position: at.get(node.id) ?? { x: 0, y: 0 },
      grabbable: false,
    })),
    ...topology.links
      .filter((link) => known.has(link.a.deviceId) && known.has(link.b.deviceId))
      .map((link) => ({
        data: { id: linkId(link), source: link.a.deviceId, target: link.b.deviceId, status: link.status },
        selectable: false,
      })),
  ];
  const map = cytoscape({
    container,
    elements: [...new Map(elements.map((element) => [element.data.id, element])).values()],
    style: styleOf(getComputedStyle(document.documentElement)),
    layout: { name: 'preset', padding: 30 },
    minZoom: 0.02,
    maxZoom: 3,
    boxSelectionEnabled: false,
    textureOnViewport: topology.nodes.length > 1_500,
    hideEdgesOnViewport: topology.nodes.length > 3_000,
    pixelRatio: topology.nodes.length > 3_000 ? 1 : 'auto',
  });
  return map;
}
