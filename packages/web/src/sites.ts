import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from './api.ts';
import type { Choice } from './components/filter/index.ts';

/** The sites the person sees, as choices of a filter. */
export function useSiteChoices(): Choice[] {
  const sites = useQuery(apiQuery('sites.list', { query: { pageSize: 1000, sort: 'name' } }));
  const data = sites.data?.data;
  return useMemo(() => (data ?? []).map((site) => ({ value: site.id, label: site.name })), [data]);
}

/** Name of a site by its id. */
export function useSiteName(): (id: string) => string {
  const names = new Map(useSiteChoices().map(({ value, label }) => [value, label]));
  return (id) => names.get(id) ?? '';
}
