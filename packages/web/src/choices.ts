import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery, type Request } from './api.ts';
import type { Choice } from './components/filter/index.ts';

type Named = 'sites.list' | 'collectors.list' | 'subscriptions.list';

/** All of a list that the person sees, by name, as choices of a filter. */
export function useChoices(id: Named): Choice[] {
  const query = { query: { pageSize: 1000, sort: 'name' } } as Request<Named>;
  const { data } = useQuery(apiQuery(id, query));
  const items = data?.data as readonly { id: string; name: string }[] | undefined;
  return useMemo(() => (items ?? []).map(({ id, name }) => ({ value: id, label: name })), [items]);
}
export const useSiteChoices = (): Choice[] => useChoices('sites.list');

/** Name of a site by its id. */
export function useSiteName(): (id: string) => string {
  const names = new Map(useSiteChoices().map(({ value, label }) => [value, label]));
  return (id) => names.get(id) ?? '';
}
