/** Comma-separated values as RFC 4180 has them, safe to open in a spreadsheet. */

export type CsvValue = string | number | null | undefined;

/**
 * A spreadsheet takes these at the start of a cell for a formula (OWASP, CSV injection). With apostrophes of its own in front
 * a text gets one more, so that it is read back as it was.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** One cell: texts that look like a formula get an apostrophe in front. */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly CsvValue[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** A cell as it was before `csvCell`: without the apostrophe in front of what looks like a formula. */
export const csvText = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
