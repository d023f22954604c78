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
        'font-size': 8,
        'min-zoomed-font-size': 8,
        'text-valign': 'bottom',
        'text-margin-y': 3,
        'text-max-width': '90px',
        'text-wrap': 'ellipsis',
        'background-color': colour('--fill-ok'),
        'border-width': 0,
        'overlay-opacity': 0,
      },
    },
    {
      selector: 'node[big = 1]',
      style: { width: 20, height: 20, shape: 'round-rectangle', 'font-size': 10 },
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
        'z-index': 2,
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
    {
      selector: 'node[worst >= 1][worst <= 4][status != "down"][big = 1]',
      style: { width: 26, height: 26 },
    },
    { selector: 'node[worst >= 1][worst <= 2]', style: { 'border-color': colour('--sev-2') } },
    {
      selector: 'node[site]',
      style: {
        width: 1,
        height: 1,
        'background-opacity': 0,
        color: colour('--ink-2'),
        'font-size': 30,
        'font-weight': 600,
        'min-zoomed-font-size': 5,
        'text-valign': 'center',
        'text-max-width': '600px',
        events: 'no',
      },
    },
    {
      selector: 'edge',
      style: {
        width: 1.2,
        'line-color': colour('--edge'),
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
    { selector: '.near', style: { 'line-color': colour('--accent'), width: 2.2 } },
    {
      selector: '.picked',
      style: {
        'border-width': 4,
        'border-style': 'solid',
        'border-color': colour('--accent'),
        'font-weight': 600,
        'min-zoomed-font-size': 0,
        'z-index': 3,
      },
    },
  ];
}
