/** Any list as CSV, by the schema of its items: the same columns whatever is in it. Pure. */
import type { Operation } from '@rollcall/shared/api/operation';
import { type CsvValue, csvLine } from '@rollcall/shared/csv';
import { z } from 'zod';

/** Of items that are no objects. */
const VALUE = 'value';

/** What one line is of. */
export const rowOf = ({ csv, data }: Operation): z.ZodType => csv?.row ?? data;

/** Names of the columns: members in their order, those of a member that is an object as `member.part`. */
export const columnsOf = (schema: z.ZodType): string[] => membersOf(schema) ?? [VALUE];

function membersOf(schema: z.ZodType): string[] | null {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape).flatMap(
      ([name, member]) => membersOf(member as z.ZodType)?.map((part) => `${name}.${part}`) ?? [name],
    );
  if (!(inner instanceof z.ZodUnion)) return null;
  const forms = (inner.options as z.ZodType[]).map(membersOf);
  return forms.every((form) => form !== null) ? [...new Set(forms.flat())] : null;
}

/** The schema of what is answered, without what allows it to be absent. */
function unwrapped(schema: z.ZodType): z.ZodType {
  let inner: unknown = schema;
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodReadonly ||
    inner instanceof z.ZodPipe
  )
    inner = inner instanceof z.ZodPipe ? inner.out : inner.unwrap();
  return inner as z.ZodType;
}

/** RFC 4180 with a line of names first. Lists of plain values are joined by `; `, what has more structure is JSON. */
export function csvOf(schema: z.ZodType, items: readonly unknown[]): string {
  const members = membersOf(schema);
  const paths = members?.map((name) => name.split('.')) ?? [[]];
  const lines = items.map((item) => csvLine(paths.map((path) => cellOf(valueAt(item, path)))));
  return [csvLine(columnsOf(schema)), ...lines].join('');
}

const valueAt = (item: unknown, path: readonly string[]): unknown =>
  path.reduce((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], item);

function cellOf(value: unknown): CsvValue {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'number')
    return value;
  const isPlain = Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null);
  return isPlain ? value.join('; ') : JSON.stringify(value);
}
