import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import type { Choice } from '../../components/filter/index.ts';
import { useSiteChoices } from '../../sites.ts';
import type { SetUrlState } from '../../url-state.ts';

export const route = getRouteApi('/discovery');
type Search = ReturnType<typeof route.useSearch>;

/** What the page hands to each of its tabs: the URL's search, and how to change it. */
export interface TabProps {
  search: Search;
  change: SetUrlState<Search>;
}

export function useProfileChoices(): Choice[] {
  const profiles = useQuery(apiQuery('profiles.list', { query: { pageSize: 1000 } }));
  return (profiles.data?.data ?? []).map(({ name }) => ({ value: name, label: name }));
}

/** No site is named: the server takes the one whose networks contain the targets. */
export const BY_TARGETS = 'any';
export const useTargetSites = (): Choice[] => [
  { value: BY_TARGETS, label: 'the one whose networks contain them' },
  ...useSiteChoices(),
];
