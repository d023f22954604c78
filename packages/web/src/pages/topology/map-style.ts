import type { StylesheetJson } from 'cytoscape';

/** Looks of the map in the colours of the page. A state has a shape as well as a colour. */
export function styleOf(page: CSSStyleDeclaration): StylesheetJson {
  const colour = (name: string): string => page.getPropertyValue(name).trim() || '#888888';
  const font = 'IBM Plex Sans Variable, sans-serif';
  return [
    {
      selector: 'node',
      style: {
        width: 13,
        height: 13,
        shape: 'ellipse',
        label: 'data(label)',
        color: colour('--ink'),
        'font-family': font,
        // Within the room of one device: shown once that is large enough to be read.
        'font-size': 4.5,
        'min-zoomed-font-size': 9,
        'text-valign': 'bottom',
        'text-margin-y': 2,
        'text-max-width': '27px',
        'text-wrap': 'ellipsis',
        'background-color': colour('--fill-ok'),
        'border-width': 0,
        'overlay-opacity': 0,
      },
    },
    {
      selector: 'node[big = 1]',
      style: {
        width: 20,
        height: 20,
        shape: 'round-rectangle',
        'font-size': 9,
        'min-zoomed-font-size': 7,
        'text-max-width': '48px',
      },
    },
    {
      selector: 'node[status = "unknown"]',
      style: {
        'background-color': colour('--surface'),
        'border-width': 2.5,
        'border-color': colour('--fill-idle'),
      },
    },
    {
      selector: 'node[status = "down"]',
      style: {
        shape: 'diamond',
        width: 22,
        height: 22,
        'background-color': colour('--fill-bad'),
        'font-weight': 600,
        'z-index': 3,
      },
    },
    { selector: 'node[status = "down"][big = 1]', style: { width: 32, height: 32 } },
    {
      selector: 'node[worst >= 1][worst <= 4][status != "down"]',
      style: {
        'border-width': 3,
        'border-style': 'double',
        'border-color': colour('--sev-3'),
        width: 19,
        height: 19,
      },
    },
    { selector: 'node[worst >= 1][worst <= 4][status != "down"][big = 1]', style: { width: 26, height: 26 } },
    { selector: 'node[worst >= 1][worst <= 2]', style: { 'border-color': colour('--sev-2') } },
    {
      selector: 'node[site]',
      style: {
        width: 'data(size)',
        height: 'data(size)',
        'background-color': colour('--surface-2'),
        'background-opacity': 0.55,
        'border-width': 1,
        'border-color': colour('--line'),
        color: colour('--ink-2'),
        'font-size': 'data(letters)' as unknown as number,
        'font-weight': 600,
        'min-zoomed-font-size': 4,
        'text-valign': 'top',
        'text-margin-y': -8,
        'text-max-width': '900px',
        'z-index-compare': 'manual',
        'z-index': 0,
        events: 'no',
      },
    },
    {
      selector: 'edge',
      style: {
        width: 1.6,
        'line-color': colour('--link'),
        'z-index-compare': 'manual',
        'z-index': 1,
        'curve-style': 'haystack',
        'overlay-opacity': 0,
        events: 'no',
      },
    },
    {
      selector: 'edge[status = "down"]',
      style: { 'line-color': colour('--fill-bad'), 'line-style': 'dashed', width: 1.8 },
    },
    { selector: '.dim', style: { opacity: 0.18 } },
    {
      selector: '.hover, .picked, node[status = "down"][big = 1]',
      style: {
        'font-size': 12,
        'min-zoomed-font-size': 5,
        'text-max-width': '160px',
        'text-background-color': colour('--surface'),
        'text-background-opacity': 0.85,
        'text-background-padding': '2px',
        'z-index': 5,
      },
    },
    { selector: '.near', style: { 'line-color': colour('--accent'), width: 2.2 } },
    {
      selector: '.picked',
      style: {
        'border-width': 4,
        'border-style': 'solid',
        'border-color': colour('--accent'),
        'font-weight': 600,
        'min-zoomed-font-size': 0,
        'z-index': 4,
      },
    },
  ];
}
