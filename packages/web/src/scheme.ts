import { useMantineColorScheme } from '@mantine/core';
import { useSyncExternalStore } from 'react';

/**
 * The page's colour scheme. Transitions are kept while it changes: switching them off for that moment takes a style
 * element, which the content security policy refuses.
 */
export const useScheme = () => useMantineColorScheme({ keepTransitions: true });

const SHOWN = 'data-mantine-color-scheme';
const watchShown = (changed: () => void): (() => void) => {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: [SHOWN] });
  return () => observer.disconnect();
};

/** The scheme that is on the page now, for what reads its colours by hand: `auto` turns when the system does. */
export const useShownScheme = (): string | null =>
  useSyncExternalStore(watchShown, () => document.documentElement.getAttribute(SHOWN));
