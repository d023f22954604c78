/** CSV of devices → rows. Never throws: what cannot be read is an error of its row, or of the whole file. Pure. */

import { identifiesADevice } from '@rollcall/shared/address-worth';
import { IMPORT_COLUMNS, IMPORT_ROWS, type ImportColumn } from '@rollcall/shared/api/add-devices';
import { annotationPatch, type FieldValue, NOTE_MOST, TAGS_MOST } from '@rollcall/shared/api/annotations';
import { line } from '@rollcall/shared/api/operation';
import { csvText } from '@rollcall/shared/csv';
import { canonicalAddress } from '@rollcall/shared/ip';
import { DEVICE_CLASSES, type DeviceClass, deviceClass } from '@rollcall/shared/model';
import { CsvError, parse } from 'csv-parse/sync';
import { type Fields, noField, saysYes, valueOfText } from '../../platform/db/custom-fields.ts';
import { closest } from '../../platform/ops/hint.ts';

/** What a row says; an empty cell says nothing. */
export interface Draft {
  site?: string;
  address?: string;
  name?: string;
  class?: DeviceClass;
  monitor?: 0 | 1;
  tags?: string[];
  note?: string;
  fields?: Record<string, FieldValue>;
}
export interface RowError {
  column: string | null;
  message: string;
}
export interface ReadRow {
  line: number;
  draft: Draft;
  errors: RowError[];
}
export type ReadCsv = { ok: true; rows: ReadRow[]; ignored: string[] } | { ok: false; reason: string };

/** Longest row in characters. */
const ROW_MOST = 20_000;

/** Of the columns that a file may have, those it has by their place. */
type Columns = (ImportColumn | null)[];

export function readCsv(text: string, fields: Fields): ReadCsv {
  const { records, broken } = recordsOf(text);
  const [header, ...body] = records;
  if (!header) return { ok: false, reason: broken?.message ?? 'there is no line' };
  const columns = header.cells.map((cell) => columnOf(cell));
  const problem = headerProblem(columns, fields);
  if (problem) return { ok: false, reason: problem };
  if (body.length > IMPORT_ROWS)
    return { ok: false, reason: `there are more than ${IMPORT_ROWS} rows; send them in pieces` };
  const rows = body.map(({ line: at, cells }) => readRow(at, cells, columns, fields));
  if (broken)
    rows.push({ line: broken.line, draft: {}, errors: [{ column: null, message: broken.message }] });
  return {
    ok: true,
    rows,
    ignored: header.cells.filter((cell, i) => cell.trim() !== '' && columns[i] === null),
  };
}

interface CsvRecord {
  line: number;
  cells: string[];
}
/** The records before the first that cannot be read, and that one. One more than may be is read. */
function recordsOf(text: string): { records: CsvRecord[]; broken?: { line: number; message: string } } {
  const records: CsvRecord[] = [];
  let next = 1;
  try {
    parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: ROW_MOST,
      to: IMPORT_ROWS + 2,
      on_record: (cells: string[], { lines }) => {
        records.push({ line: next, cells });
        next = lines + 1;
        return null;
      },
    });
    return { records };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { records, broken: { line: next, message: whyBroken(error.code) } };
  }
}

const whyBroken = (code: string): string =>
  code === 'CSV_MAX_RECORD_SIZE'
    ? `longer than ${ROW_MOST} characters; is a quote not closed?`
    : 'a quote is not closed, or has text behind it; this row and those after it are not read';

/** As the first line is separated. */
function delimiterOf(text: string): string {
  const header = /^[^\r\n]*/.exec(text)?.[0] ?? '';
  return [',', ';', '\t'].find((each) => header.includes(each)) ?? ',';
}

const FIELD = /^field:(.*)$/i;
/** A custom field says so: by its name alone it could be another column of the export, such as Location. */
function columnOf(cell: string): ImportColumn | null {
  const text = cell.trim();
  const field = FIELD.exec(text)?.[1];
  if (field !== undefined) return `field:${field.trim()}`;
  const name = text.toLowerCase() === 'monitored' ? 'monitor' : text.toLowerCase();
  return IMPORT_COLUMNS.find((column) => column === name) ?? null;
}

function headerProblem(columns: Columns, fields: Fields): string | undefined {
  const known = columns.filter((column) => column !== null);
  if (!known.includes('address'))
    return `the first line must name the column address; known columns: ${IMPORT_COLUMNS.join(', ')} and field:NAME`;
  const twice = known.find((column, i) => known.indexOf(column) < i);
  if (twice !== undefined) return `the column ${twice} stands twice`;
  const unknown = known.find((column) => column.startsWith('field:') && !fields.has(column.slice(6)));
  return unknown === undefined ? undefined : `${unknown}: ${noField(unknown.slice(6), fields)}`;
}

function readRow(at: number, cells: readonly string[], columns: Columns, fields: Fields): ReadRow {
  const row: ReadRow = { line: at, draft: {}, errors: [] };
  columns.forEach((column, i) => {
    const text = csvText(cells[i] ?? '').trim();
    if (column === null || text === '') return;
    const message = readCell(row.draft, column, text, fields);
    if (message !== undefined) row.errors.push({ column, message });
  });
  if (cells.length > columns.length)
    row.errors.push({ column: null, message: `has ${cells.length} cells, the first line ${columns.length}` });
  if (row.draft.address === undefined && !row.errors.some(({ column }) => column === 'address'))
    row.errors.push({ column: 'address', message: 'is missing' });
  return row;
}

const NAME = line(200);
const { tags: TAGS } = annotationPatch;

/** Takes a cell into a draft. @returns why it cannot be taken */
function readCell(draft: Draft, column: ImportColumn, text: string, fields: Fields): string | undefined {
  switch (column) {
    case 'site':
      draft.site = text;
      return undefined;
    case 'address':
      return readAddress(draft, text);
    case 'class':
      return readClass(draft, text);
    case 'name': {
      const name = NAME.safeParse(text);
      if (!name.success) return 'must be one line of at most 200 characters';
      draft.name = name.data;
      return undefined;
    }
    case 'monitor': {
      const yes = saysYes(text);
      if (yes === undefined) return 'must be 1, yes or true, or 0, no or false';
      draft.monitor = yes ? 1 : 0;
      return undefined;
    }
    case 'tags': {
      const tags = TAGS.safeParse(text.split(';').flatMap((each) => each.trim() || []));
      if (!tags.success) return `must be at most ${TAGS_MOST} tags of at most 60 characters, separated by ;`;
      draft.tags = tags.data ?? [];
      return undefined;
    }
    case 'note':
      if (text.length > NOTE_MOST) return `must have at most ${NOTE_MOST} characters`;
      draft.note = text.normalize('NFC');
      return undefined;
    default:
      return readField(draft, column.slice(6), text, fields);
  }
}

function readAddress(draft: Draft, text: string): string | undefined {
  const address = canonicalAddress(text);
  if (address === null) return 'must be an IPv4 or IPv6 address';
  if (!identifiesADevice(address, address)) return `${address} is the address of no one device`;
  draft.address = address;
  return undefined;
}

function readClass(draft: Draft, text: string): string | undefined {
  const found = deviceClass.safeParse(text.toLowerCase());
  if (found.success) {
    draft.class = found.data;
    return undefined;
  }
  const meant = closest(text, DEVICE_CLASSES);
  return `must be one of ${DEVICE_CLASSES.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function readField(draft: Draft, name: string, text: string, fields: Fields): string | undefined {
  const field = fields.get(name);
  const checked = field && valueOfText(field, text);
  if (!checked?.ok) return checked?.reason ?? noField(name, fields);
  draft.fields = { ...draft.fields, [name]: checked.value };
  return undefined;
}
