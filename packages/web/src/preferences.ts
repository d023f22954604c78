import { useSyncExternalStore } from 'react';

/** What one person likes, kept in this browser and, once signed in, in the account (`session.update`). */
export interface Preferences {
  /** Zone of absolute times. */
  zone: 'utc' | 'local';
  times: 'relative' | 'absolute';
}

const KEY = 'rollcall.preferences';
const DEFAULTS: Preferences = { zone: 'local', times: 'relative' };

function read(): Preferences {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>;
    return {
      zone: stored.zone === 'utc' ? 'utc' : 'local',
      times: stored.times === 'absolute' ? 'absolute' : 'relative',
    };
  } catch {
    return DEFAULTS;
  }
}

let current = read();
const listeners = new Set<() => void>();

export const usePreferences = (): Preferences =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  localStorage.setItem(KEY, JSON.stringify(current));
  for (const listener of listeners) listener();
}
