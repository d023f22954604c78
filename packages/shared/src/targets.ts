/**
 * What a scan is asked to visit: the `targets` text, read into disjoint ranges, cut into jobs, indexed. Nothing here
 * ever expands a block into a list of addresses. Runs in the browser.
 */
import {
  difference,
  formatAddress,
  MAPPED,
  type Parsed,
  parseAddress,
  parseCidr,
  Range,
  unionOf,
} from './ip.ts';
import { JOB_ADDRESSES, SCAN_ADDRESSES } from './model.ts';
import type { Span } from './protocol.ts';

/** Bounds of the text itself. */
const MAX_TOKENS = 10_000;
const MAX_TOKEN_LENGTH = 100;
/** Problems told at once; further ones are only counted. */
const MAX_PROBLEMS = 20;

export interface TargetPolicy {
  /** Most addresses after exclusions; default SCAN_ADDRESSES. */
  max?: number;
  /** Further exclusions in the same notation (without `!`), such as those of a profile. */
  exclude?: readonly string[];
  /** Allow 127.0.0.0/8 and ::1: a collector asked to look at its own host, the laboratory. */
  allowLoopback?: boolean;
  /** Allow multicast, link-local, broadcast and 0.0.0.0/8. */
  allowSpecial?: boolean;
}

export interface Targets {
  /** Sorted, disjoint, IPv4 first. */
  ranges: Range[];
  /** Addresses in `ranges`. */
  count: number;
  /** Addresses that were asked for and taken out by an exclusion. */
  excluded: number;
}

/** Why targets were refused: the offending token as written, and the reason in words. */
export interface TargetProblem {
  code: 'empty' | 'malformed' | 'forbidden' | 'too-many';
  token: string;
  reason: string;
}

export type TargetsResult = { ok: true; targets: Targets } | { ok: false; problems: TargetProblem[] };

interface Block {
  name: string;
  range: Range;
  loopback?: true;
}

const block = (text: string, name: string, loopback?: true): Block => {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return loopback ? { name, range: parsed.value.range, loopback } : { name, range: parsed.value.range };
};

/** Never swept by accident: answers there say nothing about a site, or the request reaches many hosts at once. */
const FORBIDDEN: readonly Block[] = [
  block('0.0.0.0/8', '"this network" (0.0.0.0/8)'),
  block('127.0.0.0/8', 'loopback (127.0.0.0/8)', true),
  block('169.254.0.0/16', 'link-local (169.254.0.0/16, cloud metadata among it)'),
  block('224.0.0.0/4', 'multicast (224.0.0.0/4)'),
  block('255.255.255.255/32', 'the broadcast address'),
  block('::/128', 'the unspecified address'),
  block('::1/128', 'loopback (::1)', true),
  block('fe80::/10', 'link-local (fe80::/10)'),
  block('ff00::/8', 'multicast (ff00::/8)'),
];
/** ::ffff:0:0/96; spelled as numbers because `parseCidr` refuses it. */
const MAPPED_BLOCK = new Range(6, 0xffffn << 32n, (0xffffn << 32n) + 0xffff_ffffn);

/** Reads one token without its `!`. A block that is swept loses its network and broadcast address (IPv4, above /31). */
const parseToken = (token: string, edges: boolean): Parsed<Range> => {
  if (token.length > MAX_TOKEN_LENGTH)
    return { ok: false, reason: `longer than ${MAX_TOKEN_LENGTH} characters` };
  if (token.startsWith('-'))
    return { ok: false, reason: 'starts with a dash; ranges are written first-last, no spaces' };
  if (token.includes('/')) {
    const cidr = parseCidr(token);
    if (!cidr.ok) return cidr;
    const { range, prefixLength } = cidr.value;
    const cut = !edges && range.family === 4 && prefixLength < 31;
    return { ok: true, value: cut ? new Range(4, range.first + 1n, range.last - 1n) : range };
  }
  const dash = token.indexOf('-');
  if (dash < 0) {
    const address = parseAddress(token);
    if (!address.ok) return address;
    const range = Range.single(address.value);
    return range.intersect(MAPPED_BLOCK) ? { ok: false, reason: MAPPED } : { ok: true, value: range };
  }
  return parseSpan(token.slice(0, dash), token.slice(dash + 1));
};

const parseSpan = (from: string, to: string): Parsed<Range> => {
  const first = parseAddress(from);
  if (!first.ok) return first;
  if (/^\d{1,3}$/.test(to)) return { ok: false, reason: 'the last address of a range is written in full' };
  const last = parseAddress(to);
  if (!last.ok) return { ok: false, reason: `behind the dash: ${last.reason}` };
  if (first.value.family !== last.value.family) return { ok: false, reason: 'mixes IPv4 and IPv6' };
  if (last.value.value < first.value.value) return { ok: false, reason: 'ends before it starts' };
  return { ok: true, value: new Range(first.value.family, first.value.value, last.value.value) };
};

const sizeOf = (ranges: readonly Range[]): bigint => ranges.reduce((sum, range) => sum + range.size, 0n);

/** Shows a token in a message: bounded, control characters made visible. */
const show = (token: string): string => {
  const short = token.length > 60 ? `${token.slice(0, 60)}…` : token;
  return short.replace(/[^\x21-\x7e…]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
};

interface Reading {
  asked: { token: string; range: Range }[];
  holes: Range[];
  problems: TargetProblem[];
}

const readTokens = (tokens: readonly string[], exclude: readonly string[]): Reading => {
  const reading: Reading = { asked: [], holes: [], problems: [] };
  const take = (written: string, hole: boolean, text: string) => {
    const parsed =
      text === '' ? { ok: false as const, reason: '! without a target behind it' } : parseToken(text, hole);
    if (!parsed.ok) reading.problems.push({ code: 'malformed', token: show(written), reason: parsed.reason });
    else if (hole) reading.holes.push(parsed.value);
    else reading.asked.push({ token: show(written), range: parsed.value });
  };
  for (const token of tokens) take(token, token.startsWith('!'), token.replace(/^!/, ''));
  for (const token of exclude) take(token, true, token.replace(/^!/, '').trim());
  return reading;
};

const forbiddenIn = (reading: Reading, ranges: readonly Range[], policy: TargetPolicy): TargetProblem[] => {
  const closed = FORBIDDEN.filter(({ loopback }) =>
    loopback ? !policy.allowLoopback : !policy.allowSpecial,
  );
  const blocks: Block[] = [...closed, { name: MAPPED, range: MAPPED_BLOCK }];
  const problems: TargetProblem[] = [];
  for (const { name, range } of blocks) {
    const hit = ranges.map((asked) => asked.intersect(range)).find((part) => part !== null);
    if (!hit) continue;
    const token = reading.asked.find((asked) => asked.range.intersect(hit))?.token ?? String(hit);
    problems.push({
      code: 'forbidden',
      token,
      reason: `contains ${hit}: ${name} is not swept unless allowed`,
    });
  }
  return problems;
};

/**
 * Reads `targets`: addresses, CIDR blocks and `first-last` ranges, separated by commas or white space, `!` in front
 * excludes. Overlaps count once; network and broadcast addresses of IPv4 blocks above /31 are skipped; set host bits
 * are normalised away. On refusal every problem is named by its token (20 at most).
 */
export const parseTargets = (text: string, policy: TargetPolicy = {}): TargetsResult => {
  const tokens = text.split(/[\s,]+/).filter((token) => token !== '');
  const fail = (problems: TargetProblem[]): TargetsResult => ({ ok: false, problems: cap(problems) });
  if (tokens.length > MAX_TOKENS) {
    const reason = `${tokens.length} targets in one text; at most ${MAX_TOKENS}, write blocks or ranges`;
    return fail([{ code: 'too-many', token: '', reason }]);
  }
  const reading = readTokens(tokens, policy.exclude ?? []);
  if (reading.problems.length > 0) return fail(reading.problems);
  if (reading.asked.length === 0)
    return fail([{ code: 'empty', token: '', reason: 'names no address to sweep' }]);

  const union = unionOf(reading.asked.map(({ range }) => range));
  const ranges = difference(union, reading.holes);
  const count = sizeOf(ranges);
  if (count === 0n) return fail([{ code: 'empty', token: '', reason: 'the exclusions leave no address' }]);
  const problems = forbiddenIn(reading, ranges, policy);
  const max = policy.max ?? SCAN_ADDRESSES;
  if (count > BigInt(max)) {
    const [largest] = reading.asked.toSorted((a, b) => Number(b.range.size - a.range.size));
    problems.unshift({
      code: 'too-many',
      token: largest?.token ?? '',
      reason: `${count} addresses; one scan takes at most ${max}`,
    });
  }
  if (problems.length > 0) return fail(problems);
  return { ok: true, targets: { ranges, count: Number(count), excluded: Number(sizeOf(union) - count) } };
};

const cap = (problems: TargetProblem[]): TargetProblem[] => {
  const more = problems.length - MAX_PROBLEMS;
  if (more <= 0) return problems;
  return [
    ...problems.slice(0, MAX_PROBLEMS),
    { code: 'malformed', token: '', reason: `and ${more} more problems` },
  ];
};

/** One sentence per problem, for people. */
export const describeProblem = ({ token, reason }: TargetProblem): string =>
  token ? `${token}: ${reason}` : reason;

/** A slice of a scan: what one lease hands to one collector. */
export interface PlannedJob {
  ranges: Span[];
  count: number;
  /** A CIDR where the job is one (but for skipped edges), else `first-last`. */
  label: string;
}

/**
 * Cuts sorted, disjoint ranges into jobs of `maxPerJob` addresses at most. Cuts fall on natural CIDR boundaries (of the
 * largest power of two that fits, /20 for 4,096); what is smaller shares a job with its neighbours. Families never mix.
 */
export const planJobs = (ranges: readonly Range[], maxPerJob: number = JOB_ADDRESSES): PlannedJob[] => {
  if (!(Number.isSafeInteger(maxPerJob) && maxPerJob >= 1)) throw new RangeError(`maxPerJob ${maxPerJob}`);
  const bits = Math.floor(Math.log2(maxPerJob));
  const jobs: PlannedJob[] = [];
  let open: Range[] = [];
  let count = 0;
  const close = () => {
    if (open.length > 0) jobs.push(planned(open, count));
    open = [];
    count = 0;
  };
  for (const range of ranges) {
    for (const piece of range.splitAligned(bits)) {
      const size = Number(piece.size);
      if (count + size > maxPerJob || (open[0] && open[0].family !== piece.family)) close();
      open.push(piece);
      count += size;
    }
  }
  close();
  return jobs;
};

const planned = (pieces: readonly Range[], count: number): PlannedJob => {
  const spans = pieces.map((piece) => ({
    first: formatAddress({ family: piece.family, value: piece.first }),
    count: Number(piece.size),
  }));
  return { ranges: spans, count, label: labelOf(pieces) };
};

const labelOf = (pieces: readonly Range[]): string => {
  const first = pieces[0];
  const last = pieces.at(-1);
  if (!first || !last) return '';
  const whole = new Range(first.family, first.first, last.last);
  if (pieces.length > 1 || first.family === 6) return String(whole);
  // One IPv4 piece: name the block it came from, though its network or broadcast address is skipped.
  const bits = whole.size.toString(2).length;
  for (const size of [1n << BigInt(bits - 1), 1n << BigInt(bits)]) {
    const start = whole.first - (whole.first % size);
    const end = start + size - 1n;
    if (size > 2n && whole.last <= end && whole.first - start <= 1n && end - whole.last <= 1n) {
      return String(new Range(4, start, end));
    }
  }
  return String(whole);
};
