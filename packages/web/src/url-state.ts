import { hashKey } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useRef } from 'react';

/** Changes some of the page's search parameters; with `replace` the back button does not know of it. */
export type SetUrlState<Search> = (next: Partial<Search>, replace?: boolean) => void;

/** What a page shows stands in its address: the search parameters, and how to change some of them. */
export function useUrlState<Search extends object>(route: {
  useSearch: () => Search;
}): [search: Search, change: SetUrlState<Search>] {
  const search = route.useSearch();
  const navigate = useNavigate();
  const change = useCallback<SetUrlState<Search>>(
    (next, replace = false) =>
      void navigate({ to: '.', search: ((old: object) => ({ ...old, ...next })) as never, replace }),
    [navigate],
  );
  return [search, change];
}

/** The same object for as long as it says the same: what is made of it need not be drawn again. */
export function useStableValue<T extends object>(value: T): T {
  const kept = useRef(value);
  if (kept.current !== value && hashKey([kept.current]) !== hashKey([value])) kept.current = value;
  return kept.current;
}
