/** What the filters of the device list mean, as SQL over `devices d`. The list and the bulk change share it. */
import type { DeviceFilter } from '@rollcall/shared/api/inventory';
import { canonicalAddress, formatAddress, parseCidr } from '@rollcall/shared/ip';
import { isUuid } from '@rollcall/shared/uuid';
import { anywhere, inScope, type Parameters, type Scope } from '../kernel/list.ts';
import { invalid } from '../kernel/problem.ts';

/** Functions, because each call adds its parameters to the statement it is used in. */
export interface DeviceConditions {
  /** The condition over `devices d`. */
  where: () => string;
  /** The exact number as a query over the tally; null where a filter looks at more than the tally knows. */
  counted: (() => string) | null;
}

export function deviceConditions(p: Parameters, filter: DeviceFilter, scope: Scope): DeviceConditions {
  // The tally has the columns of these filters under the same names, so one text serves both tables.
  const plain = (table: 'd' | 't'): string =>
    [
      inScope(p, `${table}.site_id`, scope),
      filter.monitor !== undefined && `${table}.monitor = ${p.add(filter.monitor === 1)}::boolean`,
      filter.class && `${table}.class = ANY(${p.add(filter.class)}::text[])`,
      filter.collector !== undefined && `${table}.collector_id ${collectors(p, filter.collector, scope)}`,
    ]
      .filter(Boolean)
      .join(' AND ');
  const search = searched(filter.search);
  const more = () =>
    [
      search !== null && `d.search_text LIKE ${p.add(anywhere(search))}`,
      filter.Address !== undefined && addressed(p, filter.Address, scope),
    ].filter(Boolean);
  return {
    where: () => [plain('d'), ...more()].join(' AND '),
    counted:
      search === null && filter.Address === undefined
        ? () => `SELECT coalesce(sum(t.n), 0)::int8 FROM device_tally t WHERE ${plain('t')}`
        : null,
  };
}

/** A search as `search_text` is written: lower case, white space as single spaces. Null: nothing is searched for. */
function searched(text: string | undefined): string | null {
  const plain = (text ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
  return plain === '' ? null : plain;
}

/** A collector by id or by exact name; a name may exist once per site. */
function collectors(p: Parameters, collector: string, scope: Scope): string {
  if (isUuid(collector)) return `= ${p.add(collector)}::uuid`;
  return `IN (SELECT c.id FROM collectors c WHERE c.name = ${p.add(collector)} AND ${inScope(p, 'c.site_id', scope)})`;
}

/** One address, exactly, or every address of a CIDR; any of a device's addresses counts. */
function addressed(p: Parameters, text: string, scope: Scope): string {
  const condition = text.includes('/')
    ? `<<= ${p.add(cidrOf(text))}::inet`
    : `= ${p.add(addressOf(text))}::inet`;
  return `(d.site_id, d.id) IN (SELECT a.site_id, a.device_id FROM device_addresses a
    WHERE a.address ${condition} AND ${inScope(p, 'a.site_id', scope)})`;
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
