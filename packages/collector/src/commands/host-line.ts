/** What a sweep has learned of one live host, as a line of JSON or of a table. */
import { OUTCOMES, type OutcomeCode } from '@rollcall/shared/model';
import type {
  DeviceObservation,
  HostObservation,
  Observation,
  RowsObservation,
} from '@rollcall/shared/observation';

/** Facts of one address, gathered until its outcome. */
export interface Gathered {
  host?: HostObservation;
  device?: DeviceObservation;
  rows: RowsObservation[];
}

export class Gathering {
  readonly #byAddress = new Map<string, Gathered>();

  add(fact: Observation): void {
    if (fact.kind !== 'host' && fact.kind !== 'device' && fact.kind !== 'rows') return;
    let gathered = this.#byAddress.get(fact.address);
    if (!gathered) {
      gathered = { rows: [] };
      this.#byAddress.set(fact.address, gathered);
    }
    if (fact.kind === 'host') gathered.host = fact;
    else if (fact.kind === 'device') gathered.device = fact;
    else gathered.rows.push(fact);
  }

  /** What is known of an address; forgotten with the answer. */
  take(address: string): Gathered | undefined {
    const gathered = this.#byAddress.get(address);
    this.#byAddress.delete(address);
    return gathered;
  }
}

/** One JSON object: the members of the device observation, its tables by name, how the address ended. */
export function jsonOf(
  address: string,
  { host, device, rows }: Gathered,
  code: OutcomeCode,
  note?: string,
): string {
  // Members that are undefined are left out. Most hosts end here, and there may be a million of them.
  const { mac, hostname } = host ?? {};
  if (!device) {
    return JSON.stringify({
      address,
      outcome: OUTCOMES[code],
      note,
      at: host?.at,
      mac,
      hostname,
      rttMs: host?.rttMs,
    });
  }
  const { kind: _kind, walk: _walk, job: _job, address: _address, at, credentialId, ...facts } = device;
  return JSON.stringify({
    address,
    outcome: OUTCOMES[code],
    note,
    at,
    mac,
    hostname,
    ...facts,
    credential: credentialId,
    tables: tablesOf(rows),
  });
}

interface Table {
  complete: boolean;
  reason?: string;
  rows: object[];
}

function tablesOf(parts: readonly RowsObservation[]): Record<string, Table> {
  const tables: Record<string, Table> = {};
  for (const part of parts) {
    tables[part.table] ??= { complete: false, rows: [] };
    const table = tables[part.table];
    if (!table) continue;
    table.rows.push(...part.rows);
    if (part.last) table.complete = part.complete ?? false;
    if (part.reason !== undefined) table.reason = part.reason;
  }
  return tables;
}

const WIDTHS = { address: 15, rtt: 10, outcome: 17, name: 24 } as const;
export const TABLE_HEAD = [
  'ADDRESS'.padEnd(WIDTHS.address),
  'RTT'.padStart(WIDTHS.rtt),
  'OUTCOME'.padEnd(WIDTHS.outcome),
  'NAME'.padEnd(WIDTHS.name),
  'DESCRIPTION',
].join('  ');

/** One line of the table; text of the device is already free of control characters, and cut to one line here. */
export function tableLineOf(
  address: string,
  { host, device, rows }: Gathered,
  code: OutcomeCode,
  note: string | undefined,
  columns: number,
): string {
  const rtt = device?.rttMs ?? host?.rttMs;
  const name = oneLine(device?.system.sysName ?? host?.hostname ?? '');
  const interfaces = rows
    .filter((part) => part.table === 'interfaces')
    .reduce((sum, part) => sum + part.rows.length, 0);
  const about = [
    note,
    device && interfaces > 0 ? `${interfaces} interfaces` : undefined,
    oneLine(device?.system.sysDescr ?? '') || undefined,
    device ? undefined : host?.mac,
  ].filter((part) => part !== undefined);
  const line = [
    address.padEnd(WIDTHS.address),
    (rtt === null || rtt === undefined ? '-' : `${rtt.toFixed(rtt < 10 ? 2 : 0)} ms`).padStart(WIDTHS.rtt),
    OUTCOMES[code].padEnd(WIDTHS.outcome),
    name.padEnd(WIDTHS.name),
    about.join(' · '),
  ]
    .join('  ')
    .trimEnd();
  return line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
