/** What a row of an import comes to, given what is known of its device. Pure. */

import type { ImportedRow } from '@rollcall/shared/api/add-devices';
import type { FieldValue } from '@rollcall/shared/api/annotations';
import type { DevicePatch } from '../edit.ts';
import type { Draft } from './read.ts';

/** What of a device an import may change. */
export interface KnownDevice {
  name: string;
  class: string;
  monitor: boolean;
  tags: string[];
  note: string;
  fields: Record<string, FieldValue>;
}

/** A value as CSV has it; null where there is none. */
const cell = (value: FieldValue | readonly string[] | null | undefined): string | null => {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'object' ? value.join(';') || null : String(value);
};
/** Tags have no order and no case. */
const sameTags = (a: readonly string[], b: readonly string[]): boolean => {
  const [one, other] = [a, b].map((tags) => new Set(tags.map((tag) => tag.toLowerCase())));
  return one?.size === other?.size && [...(one ?? [])].every((tag) => other?.has(tag));
};

/** What differs, for people, and the patch that makes it so. `known` null: the device is new. */
export function planRow(
  draft: Draft,
  known: KnownDevice | null,
): { changes: ImportedRow['changes']; patch: DevicePatch } {
  const changes: ImportedRow['changes'] = [];
  const patch: DevicePatch = {};
  const note = (column: string, from: string | null, to: string | null) =>
    changes.push({ column, from, to: to ?? '' });
  for (const key of ['name', 'class', 'note'] as const) {
    const next = draft[key];
    if (next === undefined || next === known?.[key]) continue;
    note(key, cell(known?.[key]), next);
    Object.assign(patch, { [key]: next });
  }
  if (draft.monitor !== undefined && (draft.monitor === 1) !== (known?.monitor ?? false)) {
    note('monitor', known && (known.monitor ? 'yes' : 'no'), draft.monitor === 1 ? 'yes' : 'no');
    patch.monitor = draft.monitor;
  }
  if (draft.tags && !sameTags(draft.tags, known?.tags ?? [])) {
    note('tags', cell(known?.tags), cell(draft.tags));
    patch.tags = draft.tags;
  }
  const fields = Object.entries<FieldValue>(draft.fields ?? {}).filter(
    ([name, value]) => known?.fields[name] !== value,
  );
  for (const [name, value] of fields) note(`field:${name}`, cell(known?.fields[name]), cell(value));
  if (fields.length > 0) patch.fields = Object.fromEntries(fields);
  return { changes, patch };
}
