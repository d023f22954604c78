/** What a request for a scan means: which site, which addresses, which jobs, how long. Pure; answers with reasons. */
import { difference, higher, lower, parseAddress, parseCidr, Range } from '@rollcall/shared/ip';
import { JOB_ADDRESSES } from '@rollcall/shared/model';
import type { ProfileSettings } from '@rollcall/shared/profile';
import {
  type PlannedJob,
  parseTargets,
  planJobs,
  type TargetProblem,
  type Targets,
  type TargetsResult,
} from '@rollcall/shared/targets';

/** What planning needs to know of a site. */
export interface PlanSite {
  id: string;
  name: string;
  /** CIDRs. */
  networks: readonly string[];
  /** Addresses and CIDRs never probed. */
  exclude: readonly string[];
  allowLoopback: boolean;
  allowSpecial: boolean;
  /** Port of its SNMP agents, where it is not the usual one. */
  snmpPort?: number | null;
}

/** Of the table `sites`: a PlanSite. */
export const PLAN_SITE = `id, name, networks, exclude, allow_loopback AS "allowLoopback",
  allow_special AS "allowSpecial", (settings->>'snmpPort')::int AS "snmpPort"`;

export type SiteChoice =
  | { ok: true; site: PlanSite; by: 'name' | 'networks' | 'default' | 'only' }
  | { ok: false; code: 'forbidden' | 'invalid_request'; message: string };

/** Names told in a message; the rest is counted. */
const NAMES_TOLD = 20;
const listed = (sites: readonly PlanSite[]): string => {
  const names = sites.slice(0, NAMES_TOLD).map(({ name }) => name);
  return sites.length > NAMES_TOLD
    ? `${names.join(', ')} and ${sites.length - NAMES_TOLD} more`
    : names.join(', ');
};

const rangesOf = (texts: readonly string[]): Range[] =>
  texts.flatMap((text) => {
    if (text.includes('/')) {
      const block = parseCidr(text);
      return block.ok ? [block.value.range] : [];
    }
    const address = parseAddress(text);
    return address.ok ? [Range.single(address.value)] : [];
  });

/** All that targets name, whatever a site lets them. */
const namedBy = (targets: string): readonly Range[] => {
  const max = Number.MAX_SAFE_INTEGER;
  const parsed = parseTargets(targets, { allowLoopback: true, allowSpecial: true, exclude: [], max });
  return parsed.ok ? parsed.targets.ranges : [];
};

/** What the site lets a scan name. */
const policyOf = ({ allowLoopback, allowSpecial }: PlanSite) => ({ allowLoopback, allowSpecial });

/**
 * Of addresses heard of: those in the site's networks that a scan of it may name, without those that `before`, the targets
 * of the scans that led here, named already.
 */
export function followed(
  site: PlanSite,
  addresses: readonly string[],
  before: readonly string[] = [],
): string[] {
  const networks = rangesOf(site.networks);
  const visited = before.flatMap(namedBy);
  return addresses.filter((text) => {
    const address = parseAddress(text);
    const own = address.ok && networks.some((range) => range.contains(address.value));
    if (address.ok && visited.some((range) => range.contains(address.value))) return false;
    // One that may not be named would have the others refused with it.
    return own && parseTargets(text, policyOf(site)).ok;
  });
}

/** How wide the networks of a site are that contain the targets: less is more specific. Null: they do not. */
function widthAround(ranges: readonly Range[], site: PlanSite): bigint | null {
  const networks = rangesOf(site.networks);
  if (difference(ranges, networks).length > 0) return null;
  const together = networks.reduce((sum, { size }) => sum + size, 0n);
  const widths = ranges.map((range) =>
    networks
      .filter((network) => difference([range], [network]).length === 0)
      .reduce((least, { size }) => lower(size, least), together),
  );
  return widths.reduce(higher, 0n);
}

/**
 * The named site; else the one whose most specific network contains all targets, of equals the caller's default site,
 * else the first; else the only one there is. `sites` are those the caller sees; `all` tells whether these are all
 * there are.
 */
export function chooseSite(request: {
  named: string | undefined;
  /** Id or name of the caller's default site. */
  usual?: string | undefined;
  sites: readonly PlanSite[];
  all: boolean;
  ranges: readonly Range[];
}): SiteChoice {
  const { named, usual, sites, all, ranges } = request;
  const refuse = (message: string): SiteChoice => ({ ok: false, code: 'invalid_request', message });
  if (named !== undefined) {
    const site = sites.find(({ id, name }) => id === named.toLowerCase() || name === named);
    if (site) return { ok: true, site, by: 'name' };
    // Whether a site exists is not told to those who may not see it.
    if (!all) return { ok: false, code: 'forbidden', message: 'no access to this site' };
    return refuse(sites.length ? `no such site; there are ${listed(sites)}` : 'there is no site yet');
  }
  const containing = sites.flatMap((site) => {
    const width = widthAround(ranges, site);
    return width === null ? [] : [{ site, width }];
  });
  const best = containing.filter(({ width }) => containing.every((other) => width <= other.width));
  const [first, second] = best.map(({ site }) => site);
  if (first && !second) return { ok: true, site: first, by: 'networks' };
  if (first) {
    const own = best.find(({ site }) => site.id === usual || site.name === usual);
    return { ok: true, site: own?.site ?? first, by: 'default' };
  }
  const [only, other] = sites;
  if (only && !other) return { ok: true, site: only, by: 'only' };
  if (!only) return refuse(all ? 'there is no site yet; add one first' : 'you have access to no site');
  return refuse(`no site's networks contain all targets; name one: ${listed(sites)}`);
}

/** The addresses that a text names, before any site's policy: enough to find the site. */
export function readTargets(targets: string, settings: ProfileSettings, max: number): TargetsResult {
  const policy = { allowLoopback: true, allowSpecial: true, exclude: settings.exclude };
  // A site's exclusions may bring the count down yet; only what no exclusion can save is refused here.
  const wide = parseTargets(targets, { ...policy, max: Number.MAX_SAFE_INTEGER });
  return wide.ok ? wide : parseTargets(targets, { ...policy, max });
}

export interface Plan {
  targets: Targets;
  jobs: PlannedJob[];
}
export type Planned = { ok: true; plan: Plan } | { ok: false; problems: TargetProblem[] };

/** Targets less the exclusions of site and profile, cut into jobs. */
export function planScan(targets: string, settings: ProfileSettings, site: PlanSite, max: number): Planned {
  const parsed = parseTargets(targets, {
    max,
    ...policyOf(site),
    exclude: [...site.exclude, ...settings.exclude],
  });
  if (!parsed.ok) return parsed;
  return {
    ok: true,
    plan: { targets: parsed.targets, jobs: planJobs(parsed.targets.ranges, JOB_ADDRESSES) },
  };
}

export interface Estimate {
  /** Null: not paced. */
  packetsPerSecond: number | null;
  packets: number;
  seconds: number;
}

/** Assumed where the profile lifts the pacing: below what the engines reached on two cores. */
const UNPACED = 100_000;

/** Networks (/24, IPv6 /64) that sorted ranges touch: each has a rate limit of its own. */
const netsOf = (ranges: readonly Range[]): number => {
  let nets = 0n;
  let before: string | undefined;
  for (const { family, first, last } of ranges) {
    const bits = family === 4 ? 8n : 64n;
    const shared = before === `${family} ${first >> bits}` ? 1n : 0n;
    nets += (last >> bits) - (first >> bits) + 1n - shared;
    before = `${family} ${last >> bits}`;
  }
  return Number(nets);
};

/** Of a sweep in which nothing answers: every try is sent and waited for. */
export function estimate(plan: Plan, settings: ProfileSettings, collectors: number): Estimate {
  const { icmp, snmp, rate, ratePerNet } = settings;
  const { count, ranges } = plan.targets;
  const asked = snmp && (snmp.ask === 'all' || !icmp) ? snmp : null;
  const packets = count * ((icmp?.tries ?? 0) + (asked?.tries ?? 0));
  const hands = Math.max(1, Math.min(collectors, plan.jobs.length));
  const paced = Math.min(
    rate === 'max' ? Number.POSITIVE_INFINITY : rate * hands,
    ratePerNet === 'max' ? Number.POSITIVE_INFINITY : ratePerNet * netsOf(ranges),
  );
  const perSecond = Number.isFinite(paced) ? paced : UNPACED * hands;
  const waitMs = (icmp ? icmp.tries * icmp.timeoutMs : 0) + (asked ? asked.tries * asked.timeoutMs : 0);
  return {
    packetsPerSecond: Number.isFinite(paced) ? Math.round(paced) : null,
    packets,
    seconds: Math.round((packets / perSecond + waitMs / 1000) * 10) / 10,
  };
}

/** Addresses that are in both. */
export const overlap = (a: readonly Range[], b: readonly Range[]): number => {
  const size = (ranges: readonly Range[]) => ranges.reduce((sum, range) => sum + range.size, 0n);
  return Number(size(a) - size(difference(a, b)));
};
