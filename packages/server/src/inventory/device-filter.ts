/**
 * What the filters of the device list mean, as SQL. The list and the bulk change share it. Each call adds its
 * parameters to the statement that it is used in.
 */
import type { DeviceFilter } from '@rollcall/shared/api/inventory';
import { canonicalAddress, formatAddress, parseCidr } from '@rollcall/shared/ip';
import { isUuid } from '@rollcall/shared/uuid';
import { anywhere, inScope, oneOf, type Parameters, type Scope } from '../kernel/list.ts';
import { invalid } from '../kernel/problem.ts';
import type { Count } from './remembered.ts';
import { countByWording, isWorded } from './wordings.ts';

/** The condition over `devices d`. */
export function conditionOf(p: Parameters, filter: DeviceFilter, scope: Scope): string {
  const search = searched(filter.search);
  return [
    ...plain(p, 'd', filter, scope),
    ...(search === null ? [] : [`d.search_text LIKE ${p.add(anywhere(search))}::text`]),
    ...(filter.Address === undefined ? [] : [addressed(p, filter.Address, scope)]),
  ].join(' AND ');
}

/** The exact number as a query over the tally, for filters without search and address. */
export const tallied = (p: Parameters, filter: DeviceFilter, scope: Scope): string =>
  `SELECT coalesce(sum(t.n), 0)::int8 FROM device_tally t WHERE ${plain(p, 't', filter, scope).join(' AND ')}`;

/** The exact number of devices with an address, without a look at the devices where no other filter asks for it. */
export function addressCount(p: Parameters, filter: DeviceFilter, scope: Scope): string {
  const { Address = '', monitor, collector } = filter;
  if (monitor === undefined && collector === undefined && !filter.class)
    return `SELECT count(*) FROM (SELECT DISTINCT a.site_id, a.device_id ${claims(p, Address, scope)}) AS claimed`;
  return `SELECT count(*) FROM devices d WHERE ${conditionOf(p, filter, scope)}`;
}

/** Sites above which looking into each takes longer than telling the devices of all of them apart. */
const SITES_MOST = 1000;

/** The same per site, for an address filter alone: site by site, because the devices of one are told apart three times as fast. */
export function addressCountBySite(p: Parameters, { Address = '' }: DeviceFilter, scope: Scope): Count {
  const claimed = claims(p, Address, scope);
  return {
    whole: `SELECT c.site_id, count(*) AS n FROM (SELECT DISTINCT a.site_id, a.device_id ${claimed}) AS c GROUP BY c.site_id`,
    parts: `SELECT s.site_id, (SELECT count(*) FROM (
        SELECT DISTINCT a.device_id ${claimed} AND a.site_id = s.site_id) AS c) AS n FROM stale s`,
    wholeWhen: `(SELECT count(*) FROM stale) > ${SITES_MOST}`,
  };
}

/** Addresses above which a network takes long to count. */
const LARGE_NETWORK = 4096;
export function isLarge(text: string): boolean {
  const cidr = text.includes('/') ? parseCidr(text) : null;
  return cidr?.ok === true && cidr.value.range.size > BigInt(LARGE_NETWORK);
}

/** How many devices a search finds per site, where a further condition on `d.site_id` holds. */
export function searchCountBySite(p: Parameters, filter: DeviceFilter, scope: Scope, and: string): string {
  const search = searched(filter.search);
  const { Address, monitor, class: classes, collector } = filter;
  const alone = [Address, monitor, classes, collector].every((other) => other === undefined);
  if (search !== null && alone && isWorded(search)) return countByWording(p, search, scope, and);
  return `SELECT d.site_id, count(*) AS n FROM devices d WHERE ${conditionOf(p, filter, scope)} AND ${and} GROUP BY d.site_id`;
}

/** How many devices match, as a query. */
export function counted(p: Parameters, filter: DeviceFilter, scope: Scope): string {
  if (isTallied(filter)) return tallied(p, filter, scope);
  return `SELECT count(*) FROM devices d WHERE ${conditionOf(p, filter, scope)}`;
}

/** Whether the tally has the exact number. */
export const isTallied = (filter: DeviceFilter): boolean => !isSearch(filter) && filter.Address === undefined;

export const isSearch = (filter: DeviceFilter): boolean => searched(filter.search) !== null;

export function withoutClass(filter: DeviceFilter): DeviceFilter {
  const { class: _, ...rest } = filter;
  return rest;
}

/** Filters that devices and their tally have as columns of the same names. */
function plain(p: Parameters, table: 'd' | 't', filter: DeviceFilter, scope: Scope): string[] {
  return [
    inScope(p, `${table}.site_id`, scope),
    ...(filter.monitor === undefined ? [] : [`${table}.monitor = ${p.add(filter.monitor === 1)}::boolean`]),
    ...(filter.class ? [oneOf(p, `${table}.class`, 'text', filter.class)] : []),
    ...(filter.collector === undefined
      ? []
      : [`${table}.collector_id ${collectors(p, filter.collector, scope)}`]),
  ];
}

/** A search or a network, alike however it was written. */
export const spelled = ({ search, Address }: DeviceFilter): string =>
  JSON.stringify([searched(search), Address?.includes('/') ? cidrOf(Address) : Address]);

/** A search as `search_text` is written: lower case, white space as single spaces. Null: nothing is searched for. */
function searched(text: string | undefined): string | null {
  const words = (text ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
  return words === '' ? null : words;
}

/** A collector by id or by exact name; a name may exist once per site. */
function collectors(p: Parameters, collector: string, scope: Scope): string {
  if (isUuid(collector)) return `= ${p.add(collector)}::uuid`;
  return `= ANY(ARRAY(SELECT c.id FROM collectors c
    WHERE c.name = ${p.add(collector)}::text AND ${inScope(p, 'c.site_id', scope)}))`;
}

/** One address, exactly, or every address of a CIDR; any of a device's addresses counts. */
const addressed = (p: Parameters, text: string, scope: Scope): string =>
  `(d.site_id, d.id) IN (SELECT a.site_id, a.device_id ${claims(p, text, scope)})`;

function claims(p: Parameters, text: string, scope: Scope): string {
  const condition = text.includes('/')
    ? `<<= ${p.add(cidrOf(text))}::inet`
    : `= ${p.add(addressOf(text))}::inet`;
  return `FROM device_addresses a WHERE a.address ${condition} AND ${inScope(p, 'a.site_id', scope)}`;
}

function cidrOf(text: string): string {
  const cidr = parseCidr(text);
  if (!cidr.ok) throw invalid('Address', cidr.reason);
  return `${formatAddress(cidr.value.range.at(0))}/${cidr.value.prefixLength}`;
}

function addressOf(text: string): string {
  const address = canonicalAddress(text);
  if (address === null) throw invalid('Address', 'must be an IPv4 or IPv6 address, or a CIDR');
  return address;
}
