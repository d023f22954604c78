import { hashKey, useQueries } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { apiQuery, type Item, type QueryKey, type Request } from '../../api.ts';

/** A list of any length of which the visible part is known. */
export interface PagedList<T> {
  /** Another key is another list: it starts from the top. */
  key: string;
  /** Undefined until the first answer. */
  total: number | undefined;
  /** Rows of the last list are shown while those of this one are on their way. */
  stale: boolean;
  error: unknown;
  retry: () => void;
  at: (index: number) => T | undefined;
  /** Tells which items are looked at. */
  show: (first: number, last: number) => void;
}

/** Operations that answer lists in pages. */
export type ListId = {
  [Id in Parameters<typeof apiQuery>[0]]: Request<Id> extends { query?: { page?: unknown } } ? Id : never;
}[Parameters<typeof apiQuery>[0]];

/** Filters and order of a list; a name that its operation does not know does not compile. */
export type ListQuery<Id extends ListId> = { [Name in QueryKey<Id>]?: string | undefined };

const PAGE = 100;

/**
 * A list of the server: its pages are fetched as they come into view, and cancelled when they left it. `params` where
 * the list is of one thing.
 */
export function usePagedList<Id extends ListId>(
  id: Id,
  query: ListQuery<Id>,
  params?: Record<string, string>,
): PagedList<Item<Id>> {
  const optionsOf = (page: number) =>
    apiQuery(id, {
      ...(params && { params }),
      query: { ...query, page, pageSize: PAGE },
    } as unknown as Request<Id>);
  const key = hashKey(optionsOf(1).queryKey);
  const [range, setRange] = useState({ key, from: 1, to: 1 });
  const { from, to } = range.key === key ? range : { from: 1, to: 1 };
  const pages = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const answers = useQueries({ queries: pages.map(optionsOf) });

  let newest = 0;
  let total: number | undefined;
  const known = new Map<number, Item<Id>>();
  answers.forEach((answer, i) => {
    if (!answer.data) return;
    const { data, totalCount } = answer.data as { data: Item<Id>[]; totalCount: number };
    const start = ((pages[i] ?? 1) - 1) * PAGE;
    data.forEach((item, n) => {
      known.set(start + n, item);
    });
    if (answer.dataUpdatedAt < newest && total !== undefined) return;
    newest = answer.dataUpdatedAt;
    total = totalCount;
  });

  const last = useRef({ known, total });
  const stale = total === undefined && last.current.total !== undefined;
  if (!stale) last.current = { known, total };
  const shown = last.current;
  const failed = answers.find((answer) => answer.error && !answer.data);
  return {
    key,
    total: shown.total,
    stale,
    error: failed?.error,
    retry: () => void failed?.refetch(),
    at: (index) => shown.known.get(index),
    show: (first, end) => {
      const next = { key, from: Math.floor(first / PAGE) + 1, to: Math.floor(end / PAGE) + 1 };
      if (next.from !== from || next.to !== to) setRange(next);
    },
  };
}

/** A list that is here already. */
export const itemsSource = <T>(key: string, items: readonly T[]): PagedList<T> => ({
  key,
  total: items.length,
  stale: false,
  error: undefined,
  retry: () => undefined,
  at: (index) => items[index],
  show: () => undefined,
});
