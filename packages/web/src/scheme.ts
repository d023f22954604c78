import { useMantineColorScheme } from '@mantine/core';

/**
 * The page's colour scheme. Transitions are kept while it changes: switching them off for that moment takes a style
 * element, which the content security policy refuses.
 */
export const useScheme = () => useMantineColorScheme({ keepTransitions: true });
