/**
 * Exact numbers that take long to count, remembered per site for as long as they hold. Each was counted at a revision of
 * its site (`device_revision`: how many statements have changed what searches and addresses look at and lists are ordered
 * by), and the statement that uses it reads the revision in the same snapshot: a site that moved on is counted anew, alone.
 */
import { inScope, type Parameters, type Scope } from '../kernel/list.ts';

/** Questions that are remembered; the one that was not asked for longest goes first. */
const QUESTIONS_MOST = 200;

interface Known {
  revision: number;
  n: number;
}
/** [site, revision, number] */
export type Counted = [siteId: string, revision: number, n: number][];

export class Remembered {
  readonly #questions = new Map<string, Map<string, Known>>();

  /** What is known of a question; nothing where it was not asked before, or is not long to count. */
  get(question: string): Counted {
    const sites = this.#questions.get(question) ?? new Map<string, Known>();
    return [...sites].map(([site, { revision, n }]) => [site, revision, n]);
  }

  /** Remembers a question that is long to count, with what was counted of it. */
  put(question: string, counted: Counted): void {
    const sites = this.#questions.get(question) ?? new Map<string, Known>();
    // Statements may end in another order than they began: the newer count stays.
    for (const [site, revision, n] of counted)
      if (revision >= (sites.get(site)?.revision ?? 0)) sites.set(site, { revision, n });
    this.#questions.delete(question);
    this.#questions.set(question, sites);
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > QUESTIONS_MOST && oldest !== undefined) this.#questions.delete(oldest);
  }
}

/** How something is counted: queries of `site_id` and `n`. */
export interface Count {
  /** Of all sites at once. */
  whole: string;
  /** Of the sites of `stale`. */
  parts: string;
  /** Whether the former is shorter: a condition on `stale` and `revision`. */
  wholeWhen: string;
}

/**
 * Counted by one query under a further condition on the column of sites. Where few sites are known all are counted: one walk
 * over everything is shorter than many over parts.
 */
export const inOneWalk = (column: string, count: (and: string) => string): Count => ({
  whole: count('true'),
  parts: count(`${column} = ANY(ARRAY(SELECT site_id FROM stale))`),
  wholeWhen: '(SELECT count(*) FROM stale) * 4 > (SELECT count(*) FROM revision)',
});

interface Counting {
  known: Counted;
  scope: Scope;
  count: Count;
}

/**
 * Common table expressions: `before`, in which `known` is what still holds; then those that end in `remembered` (one row:
 * `n`, the exact number, and `counted`, what is new of it, to be remembered; null: nothing). Where `gate` is false nothing
 * is counted, and the number is not to be used.
 */
export function rememberedCount(p: Parameters, { known, scope, count }: Counting) {
  const [sites, revisions, numbers] = [0, 1, 2].map((i) => p.add(known.map((each) => each[i])));
  const before = `revision AS MATERIALIZED (
      SELECT r.site_id, sum(r.n)::int8 AS n FROM device_revision r WHERE ${inScope(p, 'r.site_id', scope)} GROUP BY r.site_id),
    known AS MATERIALIZED (
      SELECT k.site_id, k.n FROM unnest(${sites}::uuid[], ${revisions}::int8[], ${numbers}::int8[]) AS k(site_id, revision, n)
      JOIN revision r ON r.site_id = k.site_id AND r.n = k.revision)`;
  const after = (
    gate: string,
  ) => `stale AS MATERIALIZED (SELECT site_id FROM revision EXCEPT SELECT site_id FROM known),
    afresh AS MATERIALIZED (SELECT ${count.wholeWhen} AS yes),
    -- Conditions outside of what they are for: inside, a parallel plan starts its workers to find out that there is nothing.
    fresh AS MATERIALIZED (
      SELECT * FROM (${count.whole}) AS whole WHERE ${gate} AND (SELECT yes FROM afresh)
      UNION ALL
      SELECT * FROM (${count.parts}) AS parts
        WHERE ${gate} AND NOT (SELECT yes FROM afresh) AND EXISTS (SELECT FROM stale)),
    remembered AS MATERIALIZED (SELECT
      ((SELECT coalesce(sum(n), 0) FROM fresh)
        + CASE WHEN (SELECT yes FROM afresh) THEN 0 ELSE (SELECT coalesce(sum(n), 0) FROM known) END)::int8 AS n,
      CASE WHEN ${gate} THEN (
        SELECT jsonb_agg(jsonb_build_array(r.site_id, r.n, coalesce(f.n, 0)))
        FROM stale JOIN revision r USING (site_id) LEFT JOIN fresh f USING (site_id)) END AS counted)`;
  return { before, after };
}
