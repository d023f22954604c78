import { localStorageColorSchemeManager, type MantineColorScheme } from '@mantine/core';
import { useSyncExternalStore } from 'react';

/** Filters and columns of a list under a name. */
export interface View {
  name: string;
  search: Record<string, string>;
  columns: string[];
}

/** What one person likes: kept in this browser and, once signed in, with the account. */
export interface Preferences {
  theme: MantineColorScheme;
  /** Zone of absolute times: `local`, or an IANA name. */
  zone: string;
  times: 'relative' | 'absolute';
  /** Id of the site of scans that name none, where several could be meant; empty: the first. The server reads it. */
  defaultSite: string;
  /** Columns shown, by list. */
  columns: Record<string, string[]>;
  /** Saved views, by list. */
  views: Record<string, View[]>;
  /** The wall as its address has it. */
  wall: string;
}

const KEY = 'rollcall.preferences';
const DEFAULTS: Preferences = {
  theme: 'auto',
  zone: 'local',
  times: 'relative',
  defaultSite: '',
  columns: {},
  views: {},
  wall: '',
};
/** Changes made within this time are saved to the account together. */
const SAVE_MS = 600;

export const schemeManager = localStorageColorSchemeManager({ key: 'rollcall.scheme' });

const isZone = (zone: unknown): zone is string => {
  if (zone === 'local') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: String(zone) });
    return typeof zone === 'string';
  } catch {
    return false;
  }
};
const isTexts = (list: unknown): list is string[] =>
  Array.isArray(list) && list.every((item) => typeof item === 'string');
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isView = (value: unknown): value is View =>
  isRecord(value) &&
  typeof value.name === 'string' &&
  isTexts(value.columns) &&
  isRecord(value.search) &&
  isTexts(Object.values(value.search));
const only = <T>(record: unknown, fits: (value: unknown) => value is T): Record<string, T> =>
  Object.fromEntries(
    Object.entries(isRecord(record) ? record : {}).filter((entry): entry is [string, T] => fits(entry[1])),
  );

/** Settings as stored, with everything that does not fit replaced by its default. */
function readPreferences(stored: unknown): Preferences {
  const raw = isRecord(stored) ? stored : {};
  return {
    theme: raw.theme === 'light' || raw.theme === 'dark' ? raw.theme : 'auto',
    zone: isZone(raw.zone) ? raw.zone : 'local',
    times: raw.times === 'absolute' ? 'absolute' : 'relative',
    defaultSite: typeof raw.defaultSite === 'string' ? raw.defaultSite : '',
    columns: only(raw.columns, isTexts),
    views: only(raw.views, (value): value is View[] => Array.isArray(value) && value.every(isView)),
    wall: typeof raw.wall === 'string' ? raw.wall : '',
  };
}

function readLocal(): Preferences {
  try {
    return readPreferences(JSON.parse(localStorage.getItem(KEY) ?? '{}'));
  } catch {
    return DEFAULTS;
  }
}

let current = readLocal();
let save: ((preferences: Preferences) => void) | undefined;
let saving: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function replace(next: Preferences): void {
  current = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing: they last as long as the page.
  }
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const usePreferences = (): Preferences => useSyncExternalStore(subscribe, () => current);

export function savePreferences(change: Partial<Preferences>): void {
  replace({ ...current, ...change });
  clearTimeout(saving);
  saving = setTimeout(() => save?.(current), SAVE_MS);
}

/** Takes over the settings of the account that signed in, and nothing of the person who was here before; saves later changes to it. */
export function loadPreferences(
  settings: Record<string, unknown>,
  store: (preferences: Preferences) => void,
): Preferences {
  clearTimeout(saving);
  save = store;
  replace(readPreferences(settings));
  return current;
}
