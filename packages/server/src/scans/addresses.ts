/** How each address of a scan ended, page by page. A scan's addresses are never a list in memory: only its page is. */

import { AddressSpace } from '@rollcall/shared/address-space';
import type { ScanAddress } from '@rollcall/shared/api/scans';
import { type Address, difference, formatAddress, parseAddress, parseCidr, Range } from '@rollcall/shared/ip';
import { OUTCOMES, type Outcome, type OutcomeCode } from '@rollcall/shared/model';
import type { Span } from '@rollcall/shared/protocol';
import { parseTargets } from '@rollcall/shared/targets';
import type { Sql } from '../platform/db/sql.ts';
import { invalid } from '../platform/problem.ts';

export interface JobOutcomes {
  id: string;
  spans: Span[];
  /** One code per address. */
  outcomes: string;
}
export interface Hit {
  job: JobOutcomes;
  index: number;
}
export interface AddressFilter {
  outcomes?: readonly Outcome[] | undefined;
  within?: Range | undefined;
}

const CODES = Object.entries(OUTCOMES) as [OutcomeCode, Outcome][];

/** Indexes of a job's addresses inside a range, as half-open intervals. */
function* intervals(job: JobOutcomes, within: Range | undefined): Generator<[from: number, to: number]> {
  if (!within) return yield [0, job.outcomes.length];
  let base = 0;
  for (const { ranges } of [AddressSpace.ofSpans(job.spans)])
    for (const range of ranges) {
      const part = range.intersect(within);
      if (part) {
        const from = base + Number(part.first - range.first);
        yield [from, from + Number(part.size)];
      }
      base += Number(range.size);
    }
}

/** Counts the addresses that fit and picks those of one page, in the order of the jobs and their addresses. */
export function selectAddresses(
  jobs: Iterable<JobOutcomes>,
  filter: AddressFilter,
  page: { offset: number; limit: number },
): { total: number; hits: Hit[] } {
  const wanted =
    filter.outcomes &&
    new Set(CODES.flatMap(([code, name]) => (filter.outcomes?.includes(name) ? code : [])));
  const end = page.offset + page.limit;
  const hits: Hit[] = [];
  let total = 0;
  for (const job of jobs) {
    for (const [from, to] of intervals(job, filter.within)) {
      if (!wanted) {
        for (let i = Math.max(from, from + page.offset - total); i < to && total + i - from < end; i++)
          hits.push({ job, index: i });
        total += to - from;
        continue;
      }
      for (let i = from; i < to; i++) {
        if (!wanted.has(job.outcomes[i] as OutcomeCode)) continue;
        if (total >= page.offset && total < end) hits.push({ job, index: i });
        total += 1;
      }
    }
  }
  return { total, hits };
}

/** Addresses that were asked for and no job visits, and what excluded them. */
export interface Excluded {
  range: Range;
  note: string;
}

/** What was excluded from a scan: by `!` in its targets, by its profile's list, else by its site. */
export function excludedFrom(
  { targets, exclude }: { targets: string; exclude: readonly string[] },
  visited: readonly Range[],
): Excluded[] {
  const wide = { allowLoopback: true, allowSpecial: true, max: Number.MAX_SAFE_INTEGER };
  const left = (text: string, more: readonly string[] = []): readonly Range[] => {
    const read = parseTargets(text, { ...wide, exclude: more });
    return read.ok ? read.targets.ranges : [];
  };
  const asked = left(targets.replace(/![^\s,]*/g, ''));
  const steps = [
    [left(targets), 'by ! in the targets'],
    [left(targets, exclude), 'by the profile'],
    [visited, 'by the site'],
  ] as const;
  let before = asked;
  return steps.flatMap(([after, note]) => {
    const gone = difference(before, after).map((range) => ({ range, note }));
    before = after;
    return gone;
  });
}

/** Those of a page that begins `skip` excluded addresses in. */
function pageOf(excluded: readonly Excluded[], skip: number, limit: number): ScanAddress[] {
  const found: ScanAddress[] = [];
  let begin = 0;
  for (const { range, note } of excluded) {
    const size = Number(range.size);
    for (let i = Math.max(0, skip - begin); i < size && found.length < limit; i++)
      found.push({
        address: formatAddress(range.at(i)),
        outcome: 'excluded',
        code: 'x',
        note,
        jobId: null,
      });
    begin += size;
  }
  return found;
}

/** Reads the `address` parameter: one address or a CIDR. */
export function readWithin(text: string): Range {
  const parsed = text.includes('/') ? parseCidr(text) : parseAddress(text);
  if (!parsed.ok) throw invalid('address', parsed.reason);
  return 'range' in parsed.value ? parsed.value.range : Range.single(parsed.value as Address);
}

/** One page of a scan's addresses; the caller has checked that the scan may be read. */
export async function listAddresses(
  sql: Sql,
  scanId: string,
  query: {
    outcome?: readonly Outcome[] | undefined;
    address?: string | undefined;
    page: number;
    pageSize: number;
  },
): Promise<{ data: ScanAddress[]; totalCount: number }> {
  const within = query.address === undefined ? undefined : readWithin(query.address.trim());
  const jobs = await sql.query<{ id: string; spans: Span[]; outcomes: string }>(
    `SELECT id, spans, CASE WHEN outcomes = '' THEN repeat('.', size) ELSE outcomes END AS outcomes
     FROM jobs WHERE scan_id = $1::uuid ORDER BY position`,
    [scanId],
  );
  const { total, hits } = selectAddresses(
    jobs,
    { outcomes: query.outcome, within },
    { offset: (query.page - 1) * query.pageSize, limit: query.pageSize },
  );
  const excluded = await readExcluded(sql, scanId, jobs, query.outcome, within);
  const notes = await readNotes(sql, [...new Set(hits.map(({ job }) => job.id))]);
  const spaces = new Map<string, AddressSpace>();
  const data = hits.map(({ job, index }): ScanAddress => {
    const space = spaces.get(job.id) ?? AddressSpace.ofSpans(job.spans);
    spaces.set(job.id, space);
    const code = job.outcomes[index] as OutcomeCode;
    const note = notes.get(job.id)?.[index] ?? null;
    return { address: space.at(index), outcome: OUTCOMES[code], code, note, jobId: job.id };
  });
  const skip = Math.max(0, (query.page - 1) * query.pageSize - total);
  data.push(...pageOf(excluded, skip, query.pageSize - data.length));
  return { data, totalCount: total + excluded.reduce((sum, { range }) => sum + Number(range.size), 0) };
}

/** The excluded addresses that fit; behind those that jobs visit. */
async function readExcluded(
  sql: Sql,
  scanId: string,
  jobs: readonly { spans: Span[] }[],
  outcomes: readonly Outcome[] | undefined,
  within: Range | undefined,
): Promise<Excluded[]> {
  if (outcomes && !outcomes.includes('excluded')) return [];
  const [scan] = await sql.query<{ targets: string; exclude: string[] | null }>(
    `SELECT targets, settings->'exclude' AS exclude FROM scans WHERE id = $1::uuid`,
    [scanId],
  );
  if (!scan) return [];
  const visited = jobs.flatMap(({ spans }) => AddressSpace.ofSpans(spans).ranges);
  const all = excludedFrom({ targets: scan.targets, exclude: scan.exclude ?? [] }, visited);
  if (!within) return all;
  return all.flatMap(({ range, note }) => {
    const part = range.intersect(within);
    return part ? [{ range: part, note }] : [];
  });
}

async function readNotes(sql: Sql, jobs: string[]): Promise<Map<string, Record<number, string>>> {
  const rows = await sql.query<{ id: string; notes: Record<number, string> }>(
    'SELECT id, notes FROM jobs WHERE id = ANY($1::uuid[])',
    [jobs],
  );
  return new Map(rows.map(({ id, notes }) => [id, notes]));
}
