import { hashKey } from '@tanstack/react-query';
import {
  type RegisteredRouter,
  type RouteById,
  type RouteIds,
  useNavigate,
  useSearch,
} from '@tanstack/react-router';
import { useCallback, useRef } from 'react';

/** The address of a page, as the router has it. */
type Path = RouteIds<RegisteredRouter['routeTree']>;

/** The search parameters that a page keeps in its address. */
export type SearchOf<At extends Path> = RouteById<
  RegisteredRouter['routeTree'],
  At
>['types']['fullSearchSchema'];

/** Changes some of the page's search parameters; with `replace` the back button does not know of it. */
export type SetUrlState<Search> = (next: Partial<Search>, replace?: boolean) => void;

/** What a page hands to its parts: the search parameters, and how to change some of them. */
export interface UrlState<At extends Path> {
  search: SearchOf<At>;
  change: SetUrlState<SearchOf<At>>;
}

/** What a page shows stands in its address. */
export function useUrlState<At extends Path>(at: At): UrlState<At> {
  const search = useSearch({ from: at } as never) as SearchOf<At>;
  const navigate = useNavigate();
  const change = useCallback<SetUrlState<SearchOf<At>>>(
    (next, replace = false) =>
      void navigate({ to: '.', search: ((old: object) => ({ ...old, ...next })) as never, replace }),
    [navigate],
  );
  return { search, change };
}

/** The same object for as long as it says the same: what is made of it need not be drawn again. */
export function useStableValue<T extends object>(value: T): T {
  const kept = useRef(value);
  if (kept.current !== value && hashKey([kept.current]) !== hashKey([value])) kept.current = value;
  return kept.current;
}
