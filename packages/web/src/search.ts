/** URL search parameters of a page: known keys only, all of them text; what is empty is left out of the URL. */
export type Search<K extends string> = { [Name in K]?: string | undefined };

export const keys =
  <K extends string>(...names: readonly K[]) =>
  (raw: Record<string, unknown>): Search<K> => {
    const search: Search<K> = {};
    for (const name of names) {
      const value = raw[name];
      if (typeof value === 'string' && value !== '') search[name] = value;
    }
    return search;
  };

/** `?a=1&b=x` as people and the REST API write it: no quoting, no JSON. */
export const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (typeof value === 'string' && value !== '') parameters.set(name, value);
  // Readable where the letter needs no escape in a query (RFC 3986, section 3.4).
  const text = parameters.toString().replaceAll('%2C', ',').replaceAll('%2F', '/').replaceAll('%3A', ':');
  return text ? `?${text}` : '';
}

/** Codes separated by commas. */
export const splitCodes = (text: string | undefined): string[] => (text ? text.split(',') : []);
export const textOf = (list: readonly string[]): string | undefined => list.join(',') || undefined;

/** Addresses and networks as people type them: apart by spaces, commas or lines. */
export const splitWords = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);
