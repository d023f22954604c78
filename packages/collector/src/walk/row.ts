import type { Varbind } from '@rollcall/snmp/message/pdu';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { macOf, physAddressOf, textOf } from './text.ts';

/** One row of a walked table, read by column: values of another type than the MIB's are as good as absent. */
export class Row {
  readonly #table: string;
  /** Column number → its OID, as far as asked for; shared by the rows of a table. */
  readonly #columns: string[];
  readonly #cells: ReadonlyMap<string, Varbind>;
  readonly #index: string;
  #arcs: readonly number[] | undefined;

  constructor(table: string, columns: string[], index: string, cells: ReadonlyMap<string, Varbind>) {
    this.#table = table;
    this.#columns = columns;
    this.#cells = cells;
    this.#index = index;
  }

  /** Sub-identifiers of the index. */
  get index(): readonly number[] {
    this.#arcs ??= this.#index.split('.').map(Number);
    return this.#arcs;
  }

  #cell(column: number): Varbind | undefined {
    let oid = this.#columns[column];
    if (oid === undefined) {
      oid = `${this.#table}.${column}`;
      this.#columns[column] = oid;
    }
    return this.#cells.get(oid);
  }

  /**
   * Integer of any kind; unsigned ones that an agent encoded as negative are put right where `unsigned`. Agents exist
   * that send numbers as text.
   */
  int(column: number, unsigned = false): number | undefined {
    const cell = this.#cell(column);
    if (cell?.type === 'counter64') return Number(cell.value);
    if (cell?.type === 'octets') return decimal(cell.value);
    if (typeof cell?.value !== 'number') return undefined;
    return unsigned && cell.value < 0 ? cell.value + 2 ** 32 : cell.value;
  }

  octets(column: number): Buffer | undefined {
    const cell = this.#cell(column);
    return cell?.type === 'octets' || cell?.type === 'opaque' ? cell.value : undefined;
  }

  /** Text that is not blank. */
  text(column: number): string | undefined {
    const octets = this.octets(column);
    const text = octets && textOf(octets);
    return text === undefined || text.trim() === '' ? undefined : text;
  }

  /** Text, empty where the agent says empty: for values whose absence and emptiness differ. */
  rawText(column: number): string | undefined {
    const octets = this.octets(column);
    return octets && textOf(octets);
  }

  mac(column: number): string | undefined {
    const octets = this.octets(column);
    return octets && macOf(octets);
  }

  physAddress(column: number): string | undefined {
    const octets = this.octets(column);
    return octets && physAddressOf(octets);
  }

  oid(column: number): string | undefined {
    const cell = this.#cell(column);
    return cell?.type === 'oid' && cell.value !== '0.0' ? cell.value : undefined;
  }

  address(column: number): string | undefined {
    const cell = this.#cell(column);
    return cell?.type === 'ipaddress' ? cell.value : undefined;
  }

  has(column: number): boolean {
    return this.#cell(column) !== undefined;
  }
}

/** Digits only: two octets that happen to be digits may be anything else, so only what a MIB calls a number is asked. */
function decimal(octets: Buffer): number | undefined {
  const text = octets.length <= 15 ? octets.toString('latin1') : '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Columns `table.n` of a table entry. */
export const columnsOf = (table: string, columns: readonly number[]): string[] =>
  columns.map((c) => `${table}.${c}`);

/** Rows of one table out of a walk that may hold several. */
export function rowsOf(walked: WalkedTable, table: string): Row[] {
  const columns: string[] = [];
  const inTable = `${table}.`;
  const rows: Row[] = [];
  for (const [index, cells] of walked.rows) {
    for (const column of cells.keys()) {
      if (!column.startsWith(inTable)) continue;
      rows.push(new Row(table, columns, index, cells));
      break;
    }
  }
  return rows;
}

/** Object without the members that are undefined: absent means "not reported". */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const members: Partial<T> = {};
  for (const name in value) if (value[name] !== undefined) members[name] = value[name];
  return members as { [K in keyof T]: Exclude<T[K], undefined> };
}
