import type { CellValue } from './components/table/index.ts';

/** A spreadsheet takes these at the start of a cell for a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** One cell: texts that look like a formula get an apostrophe in front; quoted as in RFC 4180. */
export function csvCell(value: CellValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly CellValue[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** Hands a file to the browser's downloads. */
export function download(name: string, type: string, parts: string[]): void {
  // The mark tells Excel that it is UTF-8.
  const url = URL.createObjectURL(new Blob(['\ufeff', ...parts], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
