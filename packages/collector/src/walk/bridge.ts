/** What a bridge has learned: BRIDGE-MIB (RFC 4188), Q-BRIDGE-MIB (RFC 4363), and the ARP/ND tables of routers. */
import type { ArpRow, FdbRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { columnsOf, defined, type Row, rowsOf } from './row.ts';
import { addressOf, isUnicastMac, octetsOf } from './text.ts';

const dot1dBasePortEntry = '1.3.6.1.2.1.17.1.4.1';
const dot1dBasePortIfIndex = 2;
const dot1dTpFdbEntry = '1.3.6.1.2.1.17.4.3.1';
const dot1dTpFdb = { port: 2, status: 3 };
const dot1qTpFdbEntry = '1.3.6.1.2.1.17.7.1.2.2.1';
const dot1qTpFdb = { port: 2, status: 3 };
const dot1qVlanCurrentEntry = '1.3.6.1.2.1.17.7.1.4.2.1';
const dot1qVlanCurrentFdbId = 3;

export const BASE_PORTS = columnsOf(dot1dBasePortEntry, [dot1dBasePortIfIndex]);
export const FDB_COLUMNS = [
  ...BASE_PORTS,
  ...columnsOf(dot1qTpFdbEntry, Object.values(dot1qTpFdb)),
  ...columnsOf(dot1dTpFdbEntry, Object.values(dot1dTpFdb)),
  ...columnsOf(dot1qVlanCurrentEntry, [dot1qVlanCurrentFdbId]),
];
/** Of one VLAN's own context, where the agent keeps a table per VLAN. */
export const CONTEXT_FDB_COLUMNS = [...BASE_PORTS, ...columnsOf(dot1dTpFdbEntry, Object.values(dot1dTpFdb))];

/** dot1dTpFdbStatus learned(3); self(4) and mgmt(5) are the bridge's own. */
const LEARNED = 3;

/** Bridge port → ifIndex. */
export const portsOf = (walked: WalkedTable): Map<number, number> =>
  new Map(
    rowsOf(walked, dot1dBasePortEntry).flatMap((row) => {
      const ifIndex = row.int(dot1dBasePortIfIndex);
      return ifIndex === undefined ? [] : [[row.index[0] ?? 0, ifIndex] as const];
    }),
  );

/**
 * Learned entries. Q-BRIDGE's are taken where there are any: they name the VLAN and hold all that BRIDGE-MIB has.
 * `vlan` is that of the context that was walked; `outside` is what was walked without one, whose bridge ports help where
 * the context does not list its own.
 */
export function fdbOf(walked: WalkedTable, vlan?: number, outside?: WalkedTable): FdbRow[] {
  const ports = new Map([...(outside ? portsOf(outside) : []), ...portsOf(walked)]);
  const vlanOfFdb = new Map(
    rowsOf(walked, dot1qVlanCurrentEntry).flatMap((row) => {
      const fdb = row.int(dot1qVlanCurrentFdbId);
      return fdb === undefined ? [] : [[fdb, row.index[1] ?? 0] as const];
    }),
  );
  const perVlan = rowsOf(walked, dot1qTpFdbEntry).flatMap((row) => {
    const fdb = row.index[0] ?? 0;
    return entry(row, row.index.slice(1), dot1qTpFdb, ports, vlanOfFdb.get(fdb) ?? fdb);
  });
  if (perVlan.length > 0) return perVlan;
  return rowsOf(walked, dot1dTpFdbEntry).flatMap((row) => entry(row, row.index, dot1dTpFdb, ports, vlan));
}

function entry(
  row: Row,
  index: readonly number[],
  column: typeof dot1dTpFdb,
  ports: ReadonlyMap<number, number>,
  vlan: number | undefined,
): FdbRow[] {
  const octets = octetsOf(index.slice(-6));
  const bridgePort = row.int(column.port);
  if (octets?.length !== 6 || !bridgePort) return [];
  const status = row.int(column.status);
  if (status !== undefined && status !== LEARNED) return [];
  const mac = Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join(':');
  if (!isUnicastMac(mac)) return [];
  return [defined({ mac, bridgePort, ifIndex: ports.get(bridgePort), vlan }) as FdbRow];
}

/** ipNetToPhysicalTable (RFC 4293) and ipNetToMediaTable (RFC 1213). */
const ipNetToPhysicalPhysAddress = { table: '1.3.6.1.2.1.4.35.1', column: 4 };
const ipNetToMediaPhysAddress = { table: '1.3.6.1.2.1.4.22.1', column: 2 };
export const ARP_COLUMNS = [ipNetToPhysicalPhysAddress, ipNetToMediaPhysAddress].map(
  (c) => `${c.table}.${c.column}`,
);

export function arpOf(walked: WalkedTable): ArpRow[] {
  const found = new Map<string, ArpRow>();
  const add = (row: Row, column: number, octets: Uint8Array | undefined) => {
    const mac = row.mac(column);
    const address = octets && addressOf(octets);
    const ifIndex = row.index[0];
    if (!mac || !isUnicastMac(mac) || !address || ifIndex === undefined) return;
    found.set(`${ifIndex} ${address}`, { ifIndex, address, mac });
  };
  // Index: ifIndex, InetAddressType, length, octets.
  for (const row of rowsOf(walked, ipNetToPhysicalPhysAddress.table)) {
    add(row, ipNetToPhysicalPhysAddress.column, octetsOf(row.index.slice(3)));
  }
  for (const row of rowsOf(walked, ipNetToMediaPhysAddress.table)) {
    add(row, ipNetToMediaPhysAddress.column, octetsOf(row.index.slice(1)));
  }
  return [...found.values()];
}
