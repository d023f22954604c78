/** Custom fields: what is defined, which values each takes, and filters by them. */
import type { Annotated, Annotations, CustomField, FieldValue } from '@rollcall/shared/api/annotations';
import { closest } from '../ops/hint.ts';
import { invalid } from '../problem.ts';
import { unix } from './list.ts';
import type { Sql, Transaction } from './sql.ts';

/** Over `custom_fields`. */
export const FIELD_COLUMNS = `id, applies_to AS "appliesTo", name, type, choices, ${unix('created_at')} AS "createdAt"`;

/** By name. */
export type Fields = ReadonlyMap<string, CustomField>;

export async function readFields(sql: Sql, of: Annotated): Promise<Fields> {
  const rows = await sql.query<CustomField & Record<string, unknown>>(
    `SELECT ${FIELD_COLUMNS} FROM custom_fields WHERE applies_to = $1::text ORDER BY lower(name), id`,
    [of],
  );
  return new Map(rows.map((field) => [field.name, field]));
}

export type Checked = { ok: true; value: FieldValue } | { ok: false; reason: string };
const refused = (reason: string): Checked => ({ ok: false, reason });
const taken = (value: FieldValue): Checked => ({ ok: true, value });

/** What there is instead of a field that there is not. */
export function noField(name: string, fields: Fields): string {
  const meant = closest(name, [...fields.keys()]);
  return `there is no such custom field${meant === undefined ? '' : `, did you mean ${meant}?`}`;
}

/** Whether a value is one of a field. */
export function checkValue({ type, choices }: CustomField, value: FieldValue): Checked {
  if (type === 'number')
    return typeof value === 'number' && Number.isFinite(value) ? taken(value) : refused('must be a number');
  if (type === 'boolean') return typeof value === 'boolean' ? taken(value) : refused('must be a boolean');
  if (typeof value !== 'string') return refused('must be a text');
  if (/\p{Cc}/u.test(value)) return refused('must not contain control characters');
  if (type === 'choice')
    return choices.includes(value) ? taken(value) : refused(`must be one of ${choices.join(', ')}`);
  if (type === 'date') return isDate(value) ? taken(value) : refused('must be a date, YYYY-MM-DD');
  if (type === 'url')
    return /^https?:$/.test(URL.parse(value)?.protocol ?? '')
      ? taken(value)
      : refused('must be an address that begins with http:// or https://');
  return taken(value);
}

/** A day that the calendar has. */
function isDate(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const YES = new Set(['true', 'yes', '1']);
const NO = new Set(['false', 'no', '0']);
/** A text that says yes or no; undefined where it says neither. */
export const saysYes = (text: string): boolean | undefined =>
  YES.has(text.toLowerCase()) ? true : NO.has(text.toLowerCase()) ? false : undefined;

/** A value that came as text, as in CSV. */
export function valueOfText(field: CustomField, text: string): Checked {
  if (text.length > 500) return refused('must have at most 500 characters');
  if (field.type === 'number') return checkValue(field, text.trim() === '' ? Number.NaN : Number(text));
  if (field.type === 'boolean') return checkValue(field, saysYes(text) ?? text);
  return checkValue(field, text);
}

type Patch = Readonly<Record<string, FieldValue | null>>;
/**
 * In the transaction that writes them: it keeps the definitions, so that a field that is deleted meanwhile leaves no
 * value behind. A value of a field that there is no longer can be cleared.
 * @throws Problem `invalid_request` for a field that there is not, or a value that it does not take
 */
export async function requireFields(
  sql: Transaction,
  of: Annotated,
  patch: Patch | undefined,
): Promise<void> {
  const given = Object.entries(patch ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );
  if (given.length === 0) return;
  await sql.query(
    `SELECT id FROM custom_fields WHERE applies_to = $1::text AND name = ANY($2::text[]) ORDER BY id FOR KEY SHARE`,
    [of, given.map(([name]) => name)],
  );
  const fields = await readFields(sql, of);
  for (const [name, value] of given) {
    const field = fields.get(name);
    if (!field) throw invalid(`fields.${name}`, noField(name, fields));
    const checked = checkValue(field, value);
    if (!checked.ok) throw invalid(`fields.${name}`, checked.reason);
  }
}

// ── Filters ──────────────────────────────────────────────────────────────────────────────────────────────────

/** `NAME:VALUE`, or `NAME` alone: names have no colon. */
export function nameAndValue(filter: string): [name: string, value: string | undefined] {
  const at = filter.indexOf(':');
  return at < 0 ? [filter.trim(), undefined] : [filter.slice(0, at).trim(), filter.slice(at + 1).trim()];
}

/** A filter is a text; which of these values it means depends on the type of its field. Without a value it means any. */
export function meantBy(filter: string): { name: string; values?: FieldValue[] } {
  const [name, value] = nameAndValue(filter);
  if (value === undefined) return { name };
  const values: FieldValue[] = [value];
  const yes = saysYes(value);
  if (yes !== undefined) values.push(yes);
  if (value.trim() !== '' && Number.isFinite(Number(value))) values.push(Number(value));
  return { name, values };
}

/** Whether something has what a filter names; `withFields` says the same in SQL. */
export function hasField(own: Annotations['fields'], filter: string): boolean {
  const { name, values } = meantBy(filter);
  const value = Object.hasOwn(own, name) ? own[name] : undefined;
  return value !== undefined && (values?.includes(value) ?? true);
}

/** For a filter that found nothing: refuses a field that there is not, instead of an empty answer. */
export async function requireFilterFields(
  sql: Sql,
  of: Annotated,
  { field }: { field?: readonly string[] | undefined },
): Promise<void> {
  if (!field) return;
  const fields = await readFields(sql, of);
  for (const [name] of field.map(nameAndValue))
    if (!fields.has(name)) throw invalid('field', noField(name, fields));
}

/**
 * Filters that are stored, each once and with its value as the only field of that name has it. In the transaction that
 * stores them: it keeps the definitions, so that none names a field that is deleted meanwhile. A choice that is none any
 * more stays where it was stored before: devices may have it still.
 * @param of whose fields they may be @param member of the request that names them
 * @throws Problem `invalid_request` for a field that there is not, or a value that it does not take
 */
export async function storedFilters(
  sql: Transaction,
  of: readonly Annotated[],
  filters: readonly string[],
  { member, before = [] }: { member: string; before?: readonly string[] },
): Promise<string[]> {
  if (filters.length === 0) return [];
  const defined = await sql.query<CustomField & Record<string, unknown>>(
    `SELECT ${FIELD_COLUMNS} FROM custom_fields WHERE applies_to = ANY($1::text[]) ORDER BY id FOR KEY SHARE`,
    [of],
  );
  const stored = filters.map((filter) => {
    const [name, value = ''] = nameAndValue(filter);
    const named = defined.filter((field) => field.name === name);
    if (named.length === 0)
      throw invalid(
        member,
        `${name}: ${noField(name, new Map(defined.map((field) => [field.name, field])))}`,
      );
    if (before.includes(filter)) return filter;
    let reason = '';
    for (const field of named) {
      const checked = valueOfText(field, value);
      // Where devices and interfaces have fields of this name, their types may read the text in different ways.
      if (checked.ok) return `${name}:${named.length > 1 ? value : checked.value}`;
      reason = checked.reason;
    }
    throw invalid(member, `${name} ${reason}`);
  });
  return [...new Set(stored)];
}
