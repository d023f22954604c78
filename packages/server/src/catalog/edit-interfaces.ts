/** What people say of interfaces: of one, or of all of a device that a filter matches. */
import { type Annotations, TAGS_MOST } from '@rollcall/shared/api/annotations';
import { requireFields, requireFilterFields } from '../platform/db/custom-fields.ts';
import type { Database } from '../platform/db/db.ts';
import { conditionsOf, inScope, Parameters, type Scope } from '../platform/db/list.ts';
import { announce } from '../platform/db/notify.ts';
import type { Sql } from '../platform/db/sql.ts';
import { notFound, Problem } from '../platform/problem.ts';
import {
  type AnnotationPatch,
  annotationAssignments,
  assign,
  type By,
  differs,
  setBy,
} from './annotations/sql.ts';
import type { Note } from './edit.ts';
import { INTERFACE_FILTERS, type InterfaceFilters } from './interfaces.ts';

export type AnnotatedInterface = Annotations & { id: string; deviceId: string };

/** Writes what a person says of an interface. @returns null where it does not exist or is not in scope */
export async function annotateInterface(
  db: Database,
  { id, patch, scope, by }: { id: string; patch: AnnotationPatch; scope: Scope; by: By },
  note: Note,
): Promise<AnnotatedInterface | null> {
  return db.transaction(async (sql) => {
    await requireFields(sql, 'interface', patch.fields);
    const p = new Parameters();
    const said = annotationAssignments(p, 'i', patch);
    const next = [...said, ...setBy(p, 'i', said, patch, by)];
    const [row] = await sql.query<AnnotatedInterface & { siteId: string; name: string }>(
      `UPDATE interfaces i SET ${assign(next)} FROM devices d
       WHERE i.id = ${p.add(id)}::uuid AND ${inScope(p, 'i.site_id', scope)} AND d.site_id = i.site_id AND d.id = i.device_id
       RETURNING i.id, i.site_id AS "siteId", i.device_id AS "deviceId", d.name || ' ' || i.name AS name, i.tags, i.note, i.fields`,
      p.values,
    );
    if (!row) return null;
    const { siteId, name, ...annotated } = row;
    await announce(sql, siteId, 'device', [row.deviceId]);
    await note(sql, { id, siteId, name });
    return annotated;
  });
}

interface InterfaceBulk {
  filter: InterfaceFilters;
  set: Omit<AnnotationPatch, 'tags'>;
  scope: Scope;
  by: By;
}

/**
 * Changes every interface of a device that a filter matches, all of them or none: a device has no more than one transaction
 * takes. `note` is told how many were changed, with the device, where there are any.
 * @throws Problem `not_found` where the device is not in scope; `conflict` when `expect` is given and another number matches,
 *   or one would have too many tags
 */
export async function bulkChangeInterfaces(
  db: Database,
  { expect, ...bulk }: InterfaceBulk & { expect?: number | undefined },
  note: (changed: number) => Note,
): Promise<{ matched: number; changed: number }> {
  const { filter, set, scope, by } = bulk;
  return db.transaction(async (sql) => {
    await requireFields(sql, 'interface', set.fields);
    const device = await deviceOf(sql, filter.deviceId, scope);
    const { matched, full } = await lookAt(sql, device.siteId, bulk);
    if (matched === 0) await requireFilterFields(sql, 'interface', filter);
    if (expect !== undefined && expect !== matched)
      throw new Problem('conflict', `${matched} interfaces match, not ${expect}; nothing was changed`);
    if (full !== null)
      throw new Problem('conflict', `${full} would have more than ${TAGS_MOST} tags; nothing was changed`);
    const p = new Parameters();
    const where = matching(p, device.siteId, bulk);
    const next = annotationAssignments(p, 'i', set);
    const changed = await sql.query(
      `UPDATE interfaces i SET ${assign([...next, ...setBy(p, 'i', next, set, by)])}
       WHERE ${where} AND ${differs('i', next)} RETURNING i.id`,
      p.values,
    );
    if (changed.length > 0) {
      await announce(sql, device.siteId, 'device', [device.id]);
      await note(changed.length)(sql, device);
    }
    return { matched, changed: changed.length };
  });
}

const matching = (p: Parameters, siteId: string, { filter, by }: InterfaceBulk): string =>
  [
    `i.site_id = ${p.add(siteId)}::uuid AND i.device_id = ${p.add(filter.deviceId)}::uuid AND i.gone_at IS NULL`,
    ...conditionsOf(p, INTERFACE_FILTERS, filter, { now: by.at }),
  ].join(' AND ');

/** How many interfaces match, and the name of one that would have too many tags. */
async function lookAt(
  sql: Sql,
  siteId: string,
  bulk: InterfaceBulk,
): Promise<{ matched: number; full: string | null }> {
  const p = new Parameters();
  const where = matching(p, siteId, bulk);
  const { addTags, removeTags } = bulk.set;
  const [tags] = addTags ? annotationAssignments(p, 'i', { addTags, removeTags }) : [];
  const full = tags ? `min(i.name) FILTER (WHERE cardinality(${tags[1]}) > ${TAGS_MOST})` : 'NULL';
  const [row] = await sql.query<{ matched: number; full: string | null }>(
    `SELECT count(*) AS matched, ${full} AS "full" FROM interfaces i WHERE ${where}`,
    p.values,
  );
  return row ?? { matched: 0, full: null };
}

async function deviceOf(
  sql: Sql,
  id: string,
  scope: Scope,
): Promise<{ id: string; siteId: string; name: string }> {
  const p = new Parameters();
  const [device] = await sql.query<{ id: string; siteId: string; name: string }>(
    `SELECT d.id, d.site_id AS "siteId", d.name FROM devices d
     WHERE d.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)}`,
    p.values,
  );
  if (!device) throw notFound('device');
  return device;
}
