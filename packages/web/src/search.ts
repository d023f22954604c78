/** URL search parameters of a page: known keys only, all of them text; what is empty is left out of the URL. */
export type Search<K extends string> = Partial<Record<K, string>>;

export const keys =
  <K extends string>(...names: readonly K[]) =>
  (raw: Record<string, unknown>): Search<K> => {
    const search: Search<K> = {};
    for (const name of names) {
      const value = raw[name];
      if ((typeof value === 'string' && value !== '') || typeof value === 'number')
        search[name] = String(value);
    }
    return search;
  };
