import { getRouteApi } from '@tanstack/react-router';

export const route = getRouteApi('/notifications');
export type NotificationSearch = ReturnType<typeof route.useSearch>;

/** What the page hands to each of its tabs: the URL's search, and how to change it. */
export interface PartProps {
  search: NotificationSearch;
  change: (next: NotificationSearch, replace?: boolean) => void;
}
