/** What the filters of the device list mean, as SQL. The list and the bulk change share it. */
import type { DeviceQuery } from '@rollcall/shared/api/inventory';
import { canonicalBlock } from '@rollcall/shared/ip';
import { isUuid } from '@rollcall/shared/uuid';
import { foundIn, tagged, withFields } from '../platform/db/annotated.ts';
import { requireFilterFields } from '../platform/db/custom-fields.ts';
import { rankOf } from '../platform/db/health.ts';
import {
  conditionsOf,
  type FilterOf,
  type Filters,
  inScope,
  oneOf,
  Parameters,
  type Scope,
  searchable,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { closest } from '../platform/ops/hint.ts';
import { invalid } from '../platform/problem.ts';

export type DeviceFilters = FilterOf<DeviceQuery>;

/** Over `devices d`, without the scope. */
export const DEVICE_FILTERS: Filters<DeviceFilters, Scope> = {
  search: (p, text) => {
    const words = searchable(text);
    return words === '' ? null : foundIn(p, 'd', words);
  },
  ids: (p, ids) => oneOf(p, 'd.id', 'uuid', ids),
  Address: (p, text, scope) =>
    `(d.site_id, d.id) IN (SELECT a.site_id, a.device_id FROM device_addresses a
      WHERE a.address ${addressed(p, text)} AND ${inScope(p, 'a.site_id', scope)})`,
  monitor: (p, monitor) => `d.monitor = ${p.add(monitor === 1)}::boolean`,
  class: (p, classes) => oneOf(p, 'd.class', 'text', classes),
  status: (p, states) => oneOf(p, 'd.status', 'text', states),
  health: (p, healths) => oneOf(p, 'd.health', 'int', healths.map(rankOf)),
  collector: (p, collector, scope) => `d.collector_id ${collectors(p, collector, scope)}`,
  tag: (p, tags) => tagged(p, 'd', tags),
  field: (p, fields) => withFields(p, 'd', fields),
};

/** The condition over `devices d`. */
export const conditionOf = (p: Parameters, filter: DeviceFilters, scope: Scope): string =>
  [inScope(p, 'd.site_id', scope), ...conditionsOf(p, DEVICE_FILTERS, filter, scope)].join(' AND ');

/** A collector by id or by exact name; a name may exist once per site. */
function collectors(p: Parameters, collector: string, scope: Scope): string {
  if (isUuid(collector)) return `= ${p.add(collector)}::uuid`;
  return `= ANY(ARRAY(SELECT c.id FROM collectors c
    WHERE c.name = ${p.add(collector)}::text AND ${inScope(p, 'c.site_id', scope)}))`;
}

/** For a filter that found nothing: refuses a collector or a custom field that there is not, instead of an empty answer. */
export async function requireKnown(sql: Sql, filter: DeviceFilters, scope: Scope): Promise<void> {
  await requireCollector(sql, filter, scope);
  await requireFilterFields(sql, 'device', filter);
}

async function requireCollector(sql: Sql, { collector }: DeviceFilters, scope: Scope): Promise<void> {
  if (collector === undefined) return;
  const p = new Parameters();
  const rows = await sql.query<{ id: string; name: string }>(
    `SELECT c.id, c.name FROM collectors c WHERE ${inScope(p, 'c.site_id', scope)} ORDER BY c.name`,
    p.values,
  );
  if (rows.some(({ id, name }) => name === collector || id === collector.toLowerCase())) return;
  const meant = closest(
    collector,
    rows.map(({ name }) => name),
  );
  throw invalid(
    'collector',
    `there is no such collector${meant === undefined ? '' : `, did you mean ${meant}?`}`,
  );
}

/** One address, exactly, or every address of a CIDR. */
function addressed(p: Parameters, text: string): string {
  const block = canonicalBlock(text);
  if (!block.ok) throw invalid('Address', block.reason);
  return `${block.value.includes('/') ? '<<=' : '='} ${p.add(block.value)}::inet`;
}
