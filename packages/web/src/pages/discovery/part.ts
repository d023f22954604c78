import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Change } from '../../address.ts';
import { ask } from '../../api.ts';
import type { Choice } from '../../components/pick.tsx';
import { useSiteChoices } from '../../sites.ts';

export const route = getRouteApi('/discovery');
type Search = ReturnType<typeof route.useSearch>;

/** What the page hands to each of its tabs: the URL's search, and how to change it. */
export interface PartProps {
  search: Search;
  change: Change<Search>;
}

export function useProfileChoices(): Choice[] {
  const profiles = useQuery(ask('profiles.list', { query: { pageSize: 1000 } }));
  return (profiles.data?.data ?? []).map(({ name }) => ({ value: name, label: name }));
}

/** No site is named: the server takes the one whose networks contain the targets. */
export const BY_TARGETS = 'any';
export const useTargetSites = (): Choice[] => [
  { value: BY_TARGETS, label: 'the one whose networks contain them' },
  ...useSiteChoices(),
];
