/** Octets of texts that cannot be shown as they are: what `textOf` made visible or took for an old code page. */
import type { RawSystem } from '@rollcall/snmp/discover';
import { SYSTEM_OIDS } from '@rollcall/snmp/discover';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { TEXT_MOST, textOf } from './text.ts';

/** Values kept of one device, and octets of each. */
const MOST = 32;
const OCTETS = 256;

const columns = (entry: string, numbers: readonly number[]) => numbers.map((n) => `${entry}.${n}`);
/** Columns that MIBs call text: IF-MIB, ENTITY-MIB, LLDP-MIB, LLDP-V2-MIB, CISCO-CDP-MIB, Q-BRIDGE-MIB. */
const TEXTS = new Set([
  '1.3.6.1.2.1.2.2.1.2',
  ...columns('1.3.6.1.2.1.31.1.1.1', [1, 18]),
  ...columns('1.3.6.1.2.1.47.1.1.1.1', [2, 7, 8, 9, 10, 11, 12, 13]),
  ...columns('1.0.8802.1.1.2.1.4.1.1', [8, 9, 10]),
  ...columns('1.3.111.2.802.1.1.13.1.4.1.1', [10, 11, 12]),
  ...columns('1.3.6.1.4.1.9.9.23.1.2.1.1', [5, 6, 7, 8]),
  '1.3.6.1.2.1.17.7.1.4.3.1.1',
]);

/** OID → octets in hex, of one device. */
export class RawTexts {
  readonly #kept: Record<string, string> = {};
  #count = 0;

  get kept(): Readonly<Record<string, string>> {
    return this.#kept;
  }

  system(raw: RawSystem): void {
    const members = ['sysDescr', '', '', 'sysContact', 'sysName', 'sysLocation'] as const;
    for (const [i, member] of members.entries()) if (member) this.#add(SYSTEM_OIDS[i] ?? '', raw[member]);
  }

  /** `columns` are those that were walked. */
  table({ rows }: WalkedTable, columns: readonly string[]): void {
    const texts = columns.filter((column) => TEXTS.has(column));
    if (texts.length === 0) return;
    for (const cells of rows.values()) {
      if (this.#count >= MOST) return;
      for (const column of texts) {
        const cell = cells.get(column);
        if (cell?.type === 'octets') this.#add(cell.oid, cell.value);
      }
    }
  }

  #add(oid: string, octets: Buffer | undefined): void {
    if (!octets || this.#count >= MOST || isShown(octets)) return;
    this.#count += 1;
    this.#kept[oid] = octets.subarray(0, OCTETS).toString('hex');
  }
}

/** What nearly all texts are, and NULs that pad them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const PLAIN = /^[\t\n\r\x20-\x7e]*\x00*$/;

/** Whether the text is the octets, but for NULs that pad it. */
function isShown(octets: Buffer): boolean {
  if (octets.length <= TEXT_MOST && PLAIN.test(octets.toString('latin1'))) return true;
  const text = Buffer.from(textOf(octets));
  return (
    text.equals(octets.subarray(0, text.length)) && octets.subarray(text.length).every((byte) => byte === 0)
  );
}
