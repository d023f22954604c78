/** Sets of time as sorted spans that neither overlap nor touch. Pure; in any unit. */

/** From `from` up to, not including, `until`. */
export interface Span {
  from: number;
  until: number;
}

/** The times that lie in any of some spans, which may come in any order. */
export function union(spans: readonly Span[]): Span[] {
  const sorted = spans.filter(({ from, until }) => from < until).sort((a, b) => a.from - b.from);
  const joined: Span[] = [];
  for (const { from, until } of sorted) {
    const last = joined.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return joined;
}

/** The times that lie in both sets. */
export function common(a: readonly Span[], b: readonly Span[]): Span[] {
  const both: Span[] = [];
  for (let i = 0, j = 0; ; ) {
    const [one, other] = [a[i], b[j]];
    if (!one || !other) return both;
    const [from, until] = [Math.max(one.from, other.from), Math.min(one.until, other.until)];
    if (from < until) both.push({ from, until });
    if (one.until < other.until) i += 1;
    else j += 1;
  }
}

/** The times of a set that lie outside another. */
export function without(set: readonly Span[], other: readonly Span[]): Span[] {
  const first = set[0]?.from ?? 0;
  const last = set.at(-1)?.until ?? 0;
  const outside: Span[] = [];
  let from = first;
  for (const span of other) {
    if (from < span.from) outside.push({ from, until: Math.min(span.from, last) });
    from = Math.max(from, span.until);
  }
  if (from < last) outside.push({ from, until: last });
  return common(set, outside);
}
