export type ElementType = 'uuid' | 'text' | 'int' | 'bigint' | 'float8' | 'bool' | 'jsonb' | 'timestamptz';

/**
 * A column of `rows` as a parameter `$n::type[]` of a bulk statement; what is missing is NULL. Times are in Unix
 * milliseconds. A value that its type does not hold is refused by PostgreSQL.
 */
export const arrayOf = <Row extends object>(
  type: ElementType,
  rows: readonly Row[],
  column: keyof Row,
): unknown[] => rows.map((row) => elementOf(type, row[column]));

function elementOf(type: ElementType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'jsonb') return JSON.stringify(value);
  if (type === 'timestamptz') {
    const time = new Date(Number(value));
    return Number.isNaN(time.getTime()) ? String(value) : time.toISOString();
  }
  // Lists travel as one text, with commas.
  return type === 'text' ? String(value) : value;
}
