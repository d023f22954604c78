/** The findings of `doctor snmp` for people. */
import type { ComparedGroup, Difference } from './compare.ts';
import type { Reading, ReadValue } from './reading.ts';

/** Lines of differences that are printed; `--json` has all. */
const MOST_LINES = 40;
const MOST_CHARACTERS = 40;

const KINDS: Record<Difference['kind'], string> = {
  value: 'other value',
  type: 'other type',
  missing: 'read by one only',
};

/** `unread`: why neither implementation read anything. */
export function describeGroups(groups: readonly ComparedGroup[], unread: string | null): string {
  const differences = groups.flatMap((group) => group.differences);
  return [
    columns([
      ['GROUP', 'ROLLCALL', 'NET-SNMP', ''],
      ...groups.map(({ name, own, netSnmp, differences: { length }, same }) => [
        name,
        describeReading(own),
        describeReading(netSnmp),
        same ? 'same' : length > 0 ? `${length} differ` : 'one ended early',
      ]),
    ]),
    ...(differences.length === 0 ? [] : [describeDifferences(differences)]),
    unread === null ? verdictOn(groups) : `Neither read the agent. ${unread}`,
  ].join('\n\n');
}

const describeReading = ({ values, stopped }: Reading): string =>
  `${values.size} values${stopped === null ? '' : `, then ${stopped}`}`;

function describeDifferences(differences: readonly Difference[]): string {
  const shown = differences
    .slice(0, MOST_LINES)
    .map(({ oid, kind, own, netSnmp }) => [oid, describeValue(own), describeValue(netSnmp), KINDS[kind]]);
  const table = columns([['OBJECT', 'ROLLCALL', 'NET-SNMP', ''], ...shown]);
  const hidden = differences.length - shown.length;
  return hidden === 0 ? table : `${table}\nand ${hidden} more: --json has all`;
}

function describeValue(value: ReadValue | null): string {
  if (value === null) return '-';
  const octets = value.type === 'octets' || value.type === 'opaque';
  const text = octets ? describeOctets(Buffer.from(value.text, 'hex')) : value.text;
  return `${value.type} ${text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text}`;
}

/** Octets of a device reach the terminal only where all of them are printable ASCII. */
const describeOctets = (octets: Buffer): string =>
  octets.every((octet) => octet >= 0x20 && octet < 0x7f)
    ? JSON.stringify(octets.toString('latin1'))
    : `0x${octets.toString('hex')}`;

function verdictOn(groups: readonly ComparedGroup[]): string {
  const differing = groups.filter(({ same }) => !same);
  if (differing.length === 0) {
    const values = groups.reduce((sum, { own }) => sum + own.values.size, 0);
    return `Both read the same: ${values} values.`;
  }
  return `They differ in ${differing.map(({ name }) => name).join(', ')}. Ask again: a busy agent may lose answers. If it stays so, report it with the output of --json.`;
}

/** Rows with their cells below each other. */
function columns(rows: readonly string[][]): string {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
