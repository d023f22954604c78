import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import type { Choice } from '../../components/filter/index.ts';

export function useProfileChoices(): Choice[] {
  const profiles = useQuery(apiQuery('profiles.list', { query: { pageSize: 1000 } }));
  return (profiles.data?.data ?? []).map(({ name }) => ({ value: name, label: name }));
}

/** No site is named: the server takes the one whose networks contain the targets. */
export const BY_TARGETS = 'any';
export const useTargetSites = (): Choice[] => [
  { value: BY_TARGETS, label: 'Auto (by network)' },
  ...useSiteChoices(),
];
