import type { Topology } from '@rollcall/shared/api/interfaces';
import { TOP_MOST } from '@rollcall/shared/api/measurements';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from '../../api.ts';

/** How often it is asked: measurements come every minute. */
const EVERY_MS = 60_000;

/** The load of a link in percent, by what either end measures in either direction; undefined where it is not among the busiest. */
export type LoadOf = (link: Topology['links'][number]) => number | undefined;

/** The load of the busiest links now. */
export function useLinkLoad(site: string | undefined): LoadOf {
  const [inward, outward] = useQueries({
    queries: (['inUtilisation', 'outUtilisation'] as const).map((metric) => ({
      ...apiQuery('measurements.top', { query: { metric, site, limit: TOP_MOST } }),
      refetchInterval: EVERY_MS,
    })),
  });
  const entries = useMemo(
    () => [...(inward?.data?.data ?? []), ...(outward?.data?.data ?? [])],
    [inward?.data, outward?.data],
  );
  return useMemo(() => {
    const loads = new Map<string, number>();
    for (const { interfaceId, value } of entries)
      if (interfaceId) loads.set(interfaceId, Math.max(value, loads.get(interfaceId) ?? 0));
    return ({ a, b }) => {
      const known = [a, b].flatMap(({ interfaceId }) => loads.get(interfaceId ?? '') ?? []);
      return known.length > 0 ? Math.max(...known) : undefined;
    };
  }, [entries]);
}

/** `42 %`. */
export const loadText = (percent: number): string => `${Math.round(percent)} %`;
