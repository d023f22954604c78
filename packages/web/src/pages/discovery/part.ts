import { getRouteApi } from '@tanstack/react-router';

export const route = getRouteApi('/discovery');
export type DiscoverySearch = ReturnType<typeof route.useSearch>;

/** What the page hands to each of its tabs: the URL's search, and how to change it. */
export interface PartProps {
  search: DiscoverySearch;
  change: (next: DiscoverySearch, replace?: boolean) => void;
}
