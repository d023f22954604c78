import { getRouteApi } from '@tanstack/react-router';
import type { SetUrlState } from '../../url-state.ts';

export const route = getRouteApi('/notifications');
type Search = ReturnType<typeof route.useSearch>;

/** What the page hands to each of its tabs: the URL's search, and how to change it. */
export interface TabProps {
  search: Search;
  change: SetUrlState<Search>;
}
