/** What a wall shows: kept in its address, else as the person last arranged it. Pure. */

export const PANELS = ['state', 'events', 'cases', 'busiest', 'traffic', 'map', 'availability'] as const;
export type PanelName = (typeof PANELS)[number];

export interface WallSettings {
  /** In this order. */
  panels: PanelName[];
  /** Seconds that each panel is shown; 0: all at once. */
  rotate: number;
  sound: boolean;
  /** Ids separated by commas are not taken: one site, or all. */
  site: string | undefined;
}

const ROTATE_MOST = 3_600;
export const USUAL: WallSettings = {
  panels: ['state', 'events', 'cases', 'busiest'],
  rotate: 0,
  sound: false,
  site: undefined,
};

const isPanel = (name: string): name is PanelName => (PANELS as readonly string[]).includes(name);

interface WallSearch {
  panels?: string | undefined;
  rotate?: string | undefined;
  sound?: string | undefined;
  site?: string | undefined;
}

/** Settings out of an address; what it does not name, or not rightly, is as usual. */
export function readWall({ panels, rotate, sound, site }: WallSearch): WallSettings {
  const named = [...new Set((panels ?? '').split(',').filter(isPanel))];
  const seconds = Number(rotate);
  return {
    panels: named.length > 0 ? named : USUAL.panels,
    rotate: Number.isInteger(seconds) ? Math.max(0, Math.min(ROTATE_MOST, seconds)) : 0,
    sound: sound === '1',
    site,
  };
}

/** The same as an address has it. */
export const writeWall = ({ panels, rotate, sound, site }: WallSettings): WallSearch => ({
  panels: panels.join(),
  rotate: rotate > 0 ? String(rotate) : undefined,
  sound: sound ? '1' : undefined,
  site,
});
