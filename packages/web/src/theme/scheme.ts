import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { savePreferences } from '../preferences.ts';

/**
 * The page's colour scheme. Transitions are kept while it changes: switching them off for that moment takes a style
 * element, which the content security policy refuses.
 */
export function useScheme() {
  const scheme = useMantineColorScheme({ keepTransitions: true });
  /** For this person, here and wherever they sign in. */
  const choose = (theme: MantineColorScheme) => {
    scheme.setColorScheme(theme);
    savePreferences({ theme });
  };
  return { ...scheme, choose };
}

const SHOWN = 'data-mantine-color-scheme';
const watchShown = (changed: () => void): (() => void) => {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: [SHOWN] });
  return () => observer.disconnect();
};

/** The scheme that is on the page now, for what reads its colours by hand: `auto` turns when the system does. */
export const useShownScheme = (): string | null =>
  useSyncExternalStore(watchShown, () => document.documentElement.getAttribute(SHOWN));
