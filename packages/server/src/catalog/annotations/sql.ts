/** Assignments of tags, note and fields as SQL, together with who made them. */
import type { FieldValue } from '@rollcall/shared/api/annotations';
import type { Parameters } from '../../platform/db/list.ts';

export interface AnnotationPatch {
  tags?: readonly string[] | undefined;
  addTags?: readonly string[] | undefined;
  removeTags?: readonly string[] | undefined;
  note?: string | undefined;
  fields?: Readonly<Record<string, FieldValue | null>> | undefined;
}
/** Who says it when, Unix milliseconds. */
export interface By {
  name: string;
  at: number;
}
export type Assignment = readonly [column: string, next: string];

/** The assignments of a patch over a row of `alias`; a second time they change nothing. */
export function annotationAssignments(p: Parameters, alias: string, patch: AnnotationPatch): Assignment[] {
  const { tags, addTags, removeTags, note, fields } = patch;
  const next: Assignment[] = [];
  if (tags ?? addTags ?? removeTags) {
    const some = tags ? `${p.add(tags)}::text[]` : `${alias}.tags || ${p.add(addTags ?? [])}::text[]`;
    next.push([
      'tags',
      `ARRAY(SELECT DISTINCT ON (lower(t)) t FROM unnest(${some}) WITH ORDINALITY AS one(t, n)
         WHERE lower(t) <> ALL (lower_all(${p.add(removeTags ?? [])}::text[])) ORDER BY lower(t), n)`,
    ]);
  }
  if (note !== undefined) next.push(['note', `${p.add(note)}::text`]);
  if (fields)
    next.push(['fields', `jsonb_strip_nulls(${alias}.fields || ${p.add(JSON.stringify(fields))}::jsonb)`]);
  return next;
}

/** Columns of one value each: the name of its origin, and when it is empty. */
const VALUES: Record<string, { name: string; isEmpty(value: string): string }> = {
  name_override: { name: 'name', isEmpty: (value) => `${value} IS NULL` },
  class_override: { name: 'class', isEmpty: (value) => `${value} IS NULL` },
  tags: { name: 'tags', isEmpty: (value) => `${value} = '{}'` },
  note: { name: 'note', isEmpty: (value) => `${value} = ''` },
};

/** Keeps who set what, of that which the assignments change; of what is cleared nobody. */
export function setBy(
  p: Parameters,
  alias: string,
  assignments: readonly Assignment[],
  { fields = {} }: AnnotationPatch,
  by: By,
): Assignment[] {
  const columns = assignments.flatMap(([column, next]) => {
    const value = VALUES[column];
    return value ? [{ ...value, column, next }] : [];
  });
  if (columns.length === 0 && Object.keys(fields).length === 0) return [];
  const said = `${p.add(JSON.stringify({ by: by.name, at: Math.floor(by.at / 1000) }))}::jsonb`;
  const stamp = (name: string, stored: string, next: string, empty: string): string =>
    `CASE WHEN ${stored} IS DISTINCT FROM ${next}
       THEN jsonb_build_object(${p.add(name)}::text, CASE WHEN ${empty} THEN NULL ELSE ${said} END) ELSE '{}' END`;
  const stamps = [
    ...columns.map(({ name, isEmpty, column, next }) =>
      stamp(name, `${alias}.${column}`, next, isEmpty(next)),
    ),
    ...Object.entries(fields).map(([name, value]) =>
      stamp(
        `fields.${name}`,
        `${alias}.fields -> ${p.add(name)}::text`,
        `${p.add(value === null ? null : JSON.stringify(value))}::jsonb`,
        String(value === null),
      ),
    ),
  ];
  return [['set_by', `jsonb_strip_nulls(${[`${alias}.set_by`, ...stamps].join(' || ')})`]];
}

export const assign = (assignments: readonly Assignment[]): string =>
  assignments.map(([column, next]) => `${column} = ${next}`).join(', ');
/** Whether assignments would change a row. */
export const differs = (alias: string, assignments: readonly Assignment[]): string =>
  `(${assignments.map(([column]) => `${alias}.${column}`).join(', ')}) IS DISTINCT FROM (${assignments.map(([, next]) => next).join(', ')})`;
