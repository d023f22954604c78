import type { StylesheetJson } from 'cytoscape';

/** Looks of the map in the colours of the page, without names that are smaller than `letters` px. A state has a shape as well as a colour. */
export function styleOf(page: CSSStyleDeclaration, letters = 0): StylesheetJson {
  const colour = (name: string): string => page.getPropertyValue(name).trim() || '#888888';
  const afar: StylesheetJson = [
    { selector: 'node[label], edge', style: { 'min-zoomed-font-size': letters } },
    { selector: 'node.named', style: { 'min-zoomed-font-size': 0 } },
  ];
  return [
    ...devices(colour),
    ...boxes(colour),
    ...links(colour),
    ...marks(colour),
    ...(letters > 0 ? afar : []),
  ];
}

type Colour = (name: string) => string;
const FONT = 'IBM Plex Sans Variable, sans-serif';

const devices = (colour: Colour): StylesheetJson => [
  {
    selector: 'node[status]',
    style: {
      width: 16,
      height: 16,
      shape: 'ellipse',
      label: 'data(label)',
      color: colour('--ink'),
      'font-family': FONT,
      // Within the room of one device: shown once that is large enough to be read.
      'font-size': 5,
      'min-zoomed-font-size': 8,
      'text-valign': 'bottom',
      'text-margin-y': 1.5,
      'text-wrap': 'none',
      'background-color': colour('--fill-ok'),
      'background-image': 'data(icon)',
      'background-fit': 'none',
      'background-width': '66%',
      'background-height': '66%',
      'border-width': 0,
      'overlay-opacity': 0,
      'z-index': 2,
    },
  },
  {
    selector: 'node[big = 1]',
    style: {
      width: 24,
      height: 24,
      shape: 'round-rectangle',
      'font-size': 10,
      'min-zoomed-font-size': 6,
      'text-background-color': colour('--surface'),
      'text-background-opacity': 0.75,
    },
  },
  { selector: 'node[status = "unknown"]', style: { 'background-color': colour('--fill-idle') } },
  {
    selector: 'node[status = "down"]',
    style: {
      shape: 'diamond',
      width: 24,
      height: 24,
      'background-color': colour('--fill-bad'),
      'background-width': '50%',
      'background-height': '50%',
      'font-weight': 600,
      'z-index': 4,
    },
  },
  { selector: 'node[status = "down"][big = 1]', style: { width: 34, height: 34 } },
  {
    selector: 'node[worst >= 1][worst <= 4][status != "down"]',
    style: { 'border-width': 2.5, 'border-style': 'double', 'border-color': colour('--sev-3') },
  },
  { selector: 'node[worst >= 1][worst <= 2]', style: { 'border-color': colour('--sev-2') } },
];

const boxes = (colour: Colour): StylesheetJson => [
  {
    selector: 'node[box]',
    style: {
      width: 'data(w)',
      height: 'data(h)',
      shape: 'round-rectangle',
      'corner-radius': '6px',
      'background-color': colour('--surface-2'),
      'border-width': 1,
      'border-color': colour('--line'),
      'z-index-compare': 'manual',
      'z-index': 0,
      events: 'no',
    },
  },
  {
    selector: 'node[box = "layer"]',
    style: { 'background-color': colour('--surface'), 'border-color': colour('--line-2') },
  },
  {
    selector: 'node[box = "group"]',
    style: { 'background-color': colour('--surface-2'), 'background-opacity': 0.6, 'border-width': 0 },
  },
  {
    selector: 'node[title]',
    style: {
      width: 1,
      height: 1,
      opacity: 0.999,
      'background-opacity': 0,
      label: 'data(title)',
      color: colour('--ink-2'),
      'font-family': FONT,
      'font-size': 'data(letters)' as unknown as number,
      'font-weight': 600,
      'min-zoomed-font-size': 5,
      'text-halign': 'right',
      'text-valign': 'center',
      events: 'no',
    },
  },
];

const links = (colour: Colour): StylesheetJson => [
  {
    selector: 'edge',
    style: {
      width: 1.4,
      'line-color': colour('--link'),
      'z-index-compare': 'manual',
      'z-index': 1,
      'curve-style': 'haystack',
      'haystack-radius': 0,
      'overlay-opacity': 0,
      'font-family': FONT,
      'font-size': 6.5,
      color: colour('--ink'),
      events: 'no',
    },
  },
  // The box says what a device hangs on.
  { selector: 'edge[leaf = 1]', style: { opacity: 0 } },
  { selector: 'edge[load >= 50]', style: { width: 2.4, 'line-color': colour('--sev-3'), opacity: 1 } },
  { selector: 'edge[load >= 80]', style: { width: 3.2, 'line-color': colour('--sev-2') } },
  {
    selector: 'edge[status = "down"]',
    style: { 'line-color': colour('--fill-bad'), 'line-style': 'dashed', width: 2, opacity: 1 },
  },
];

const marks = (colour: Colour): StylesheetJson => [
  { selector: 'node.dim', style: { opacity: 0.15 } },
  { selector: 'edge.dim', style: { opacity: 0.06 } },
  {
    selector: 'node.hover, node.picked, node.named',
    style: {
      label: 'data(full)',
      'font-size': 10,
      'min-zoomed-font-size': 0,
      'text-background-color': colour('--surface'),
      'text-background-opacity': 0.9,
      'text-background-padding': '2px',
      'z-index': 6,
    },
  },
  {
    selector: 'edge.near',
    style: {
      'line-color': colour('--accent'),
      width: 2.2,
      opacity: 1,
      label: 'data(words)',
      'min-zoomed-font-size': 7,
      'text-background-color': colour('--surface'),
      'text-background-opacity': 0.9,
      'text-background-padding': '1px',
    },
  },
  { selector: 'edge.near[status = "down"]', style: { 'line-color': colour('--fill-bad') } },
  {
    selector: 'node.picked',
    style: {
      'border-width': 3.5,
      'border-style': 'solid',
      'border-color': colour('--accent'),
      'font-weight': 600,
    },
  },
];
