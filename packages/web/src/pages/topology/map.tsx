import type { Topology } from '@rollcall/shared/api/interfaces';
import type { DeviceClass } from '@rollcall/shared/model';
import cytoscape, { type Core } from 'cytoscape';
import { useEffect, useMemo, useRef } from 'react';
import { CLASS_ICONS } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import { useShownScheme } from '../../theme/scheme.ts';
import { elementsOf, type Icons, linkData, linkId, nodeData } from './elements.ts';
import type { LoadOf } from './link-load.ts';
import { styleOf } from './map-style.ts';
import classes from './topology.module.css';

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
  loadOf: LoadOf;
  siteNames: (id: string) => string;
  picked: string | undefined;
  /** Ids that a search found; undefined: nothing is searched for. */
  found: ReadonlySet<string> | undefined;
  onPick: (id: string | undefined) => void;
  onOpen: (id: string) => void;
  handle: { current: MapHandle | undefined };
  /** Letters of titles, px, and the smallest of names; for screens that are read from afar. */
  letters?: number;
}

/** Down devices at most that are named at every size: more names than these are none. */
const NAMED_MOST = 30;
const PADDING = 24;

/** The network as a picture: pan, zoom, click. The list beside it says the same in words. */
export function NetworkMap(props: NetworkMapProps) {
  const { topology, loadOf, siteNames, picked, found, onPick, onOpen, handle, letters } = props;
  const box = useRef<HTMLDivElement>(null);
  const iconBox = useRef<HTMLDivElement>(null);
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
  const latest = useRef({ topology, loadOf, siteName: siteNames });
  latest.current = { topology, loadOf, siteName: siteNames };
  const icons = useRef<Icons>({});

  // A new map only for new devices or links: what merely changed its state keeps its place, and the reader theirs.
  useEffect(() => {
    if (!box.current) return;
    icons.current = drawnIcons(iconBox.current);
    const map = open(box.current, latest.current, icons.current);
    cy.current = map;
    map.on('tap', 'node[status]', (event) => calls.current.onPick(event.target.id()));
    map.on('mouseover', 'node[status]', (event) => event.target.addClass('hover'));
    map.on('mouseout', 'node[status]', (event) => event.target.removeClass('hover'));
    map.on('tap', (event) => event.target === map && calls.current.onPick(undefined));
    map.on('dbltap', 'node[status]', (event) => calls.current.onOpen(event.target.id()));
    map.on('zoom', () => nameDown(map, letters));
    handle.current = {
      fit: () => map.animate({ fit: { eles: map.elements(), padding: PADDING }, duration: 200 }),
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
  }, [structure, handle, letters]);

  useEffect(() => {
    const map = cy.current;
    map?.batch(() => {
      for (const node of topology.nodes) map.getElementById(node.id).data(nodeData(node, icons.current));
      for (const link of topology.links) map.getElementById(linkId(link)).data(linkData(link, loadOf));
    });
    if (map) nameDown(map, letters);
  }, [topology, loadOf, letters]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read from the page's scheme; a new map needs them, too
  useEffect(() => {
    cy.current?.style(styleOf(getComputedStyle(document.documentElement), letters));
  }, [colorScheme, structure]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new map has nothing marked yet
  useEffect(() => {
    if (cy.current) mark(cy.current, picked, found);
  }, [picked, found, structure]);

  // What a search finds is brought into view; without one, all.
  const searched = useRef<typeof found>(undefined);
  useEffect(() => {
    const map = cy.current;
    if (!map || searched.current === found) return;
    searched.current = found;
    if (found?.size === 0) return;
    const eles = found ? map.nodes('[status]').filter((node) => found.has(node.id())) : map.elements();
    map.animate({ fit: { eles, padding: found ? 90 : PADDING }, duration: 250 });
  }, [found]);

  return (
    <>
      <div ref={iconBox} hidden>
        {Object.entries(CLASS_ICONS).map(([name, Icon]) => (
          <span key={name} data-class={name}>
            <Icon size={24} stroke={2} color="#ffffff" />
          </span>
        ))}
      </div>
      <div
        ref={box}
        className={classes.map}
        role="img"
        aria-label={`Map of ${plural(topology.nodes.length, 'device')} and ${plural(topology.links.length, 'link')}; the list shows them as text`}
      />
    </>
  );
}

/** The icons of the classes as pictures that a canvas draws. */
function drawnIcons(from: HTMLElement | null): Icons {
  const drawn = [...(from?.querySelectorAll<HTMLElement>('[data-class]') ?? [])].map((one) => {
    const picture = `data:image/svg+xml,${encodeURIComponent(one.innerHTML)}`;
    return [one.dataset.class as DeviceClass, picture];
  });
  return Object.fromEntries(drawn) as Icons;
}

/** Letters on the screen, px, unless others are wanted: layers, sites and what is down are named at every size of the map. */
const TITLE = 10;
const NAME = 12;

/**
 * Devices that are down are named at every size of the map, and titles can be read. Of a device and what hangs on it the
 * device alone is named: names of all would lie one on another.
 */
function nameDown(map: Core, letters?: number): void {
  const down = map.nodes('[status = "down"]');
  const roots = down.filter(
    (node) => node.data('big') === 1 || node.neighborhood('[status = "down"][big = 1]').empty(),
  );
  const named = roots.length <= NAMED_MOST ? roots : map.collection();
  map.batch(() => {
    map.nodes('.named').not(named).removeClass('named').removeStyle('font-size');
    named.addClass('named').style('font-size', Math.max(9, (letters ?? NAME) / map.zoom()));
    for (const title of map.nodes('[title]'))
      title.style('font-size', Math.max(title.data('letters'), (letters ?? TITLE) / map.zoom()));
  });
}

function mark(map: Core, picked: string | undefined, found: ReadonlySet<string> | undefined): void {
  map.batch(() => {
    map.elements().removeClass('dim picked near');
    if (found) {
      const others = map.nodes('[status]').filter((node) => !found.has(node.id()));
      others.addClass('dim');
      others.connectedEdges().addClass('dim');
    }
    if (!picked) return;
    const node = map.getElementById(picked);
    node.addClass('picked');
    node.connectedEdges().removeClass('dim').addClass('near');
    node.neighborhood('node').removeClass('dim');
  });
  if (picked && map.getElementById(picked).nonempty()) reveal(map, picked);
}

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

type Drawn = Omit<Parameters<typeof elementsOf>[1], 'icons'> & { topology: Topology };

function open(container: HTMLElement, { topology, ...names }: Drawn, icons: Icons): Core {
  if (!document.getElementById(SHEET)) {
    const mark = document.createElement('meta');
    mark.id = SHEET;
    document.head.append(mark);
  }
  return cytoscape({
    container,
    elements: elementsOf(topology, { ...names, icons }),
    style: styleOf(getComputedStyle(document.documentElement)),
    layout: { name: 'preset', padding: PADDING },
    minZoom: 0.02,
    maxZoom: 3,
    boxSelectionEnabled: false,
    textureOnViewport: topology.nodes.length > 1_500,
    hideEdgesOnViewport: topology.nodes.length > 3_000,
    pixelRatio: topology.nodes.length > 3_000 ? 1 : 'auto',
  });
}
