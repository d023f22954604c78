/** IF-MIB (RFC 2863): ifTable and ifXTable as one list. */
import type { InterfaceRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { columnsOf, defined, type Row, rowsOf } from './row.ts';

export const IF_NUMBER = '1.3.6.1.2.1.2.1.0';
const ifEntry = '1.3.6.1.2.1.2.2.1';
const ifXEntry = '1.3.6.1.2.1.31.1.1.1';

/** ifIndex itself is not read: many agents leave the column out, and it is the index of every OID. */
const ifTable = {
  ifDescr: 2,
  ifType: 3,
  ifMtu: 4,
  ifSpeed: 5,
  ifPhysAddress: 6,
  ifAdminStatus: 7,
  ifOperStatus: 8,
  ifLastChange: 9,
};
const ifXTable = { ifName: 1, ifHighSpeed: 15, ifAlias: 18 };

export const INTERFACE_COLUMNS = [
  ...columnsOf(ifEntry, Object.values(ifTable)),
  ...columnsOf(ifXEntry, Object.values(ifXTable)),
];

/** By what neighbour protocols call ports. */
export const PORT_NAME_COLUMNS = [
  ...columnsOf(ifEntry, [ifTable.ifDescr, ifTable.ifPhysAddress]),
  ...columnsOf(ifXEntry, [ifXTable.ifName, ifXTable.ifAlias]),
];

/** Interfaces by ifIndex. Agents that answer only ifXTable are read from that. */
export function interfacesOf(walked: WalkedTable): InterfaceRow[] {
  const base = new Map(rowsOf(walked, ifEntry).map((row) => [row.index[0] ?? -1, row]));
  const more = new Map(rowsOf(walked, ifXEntry).map((row) => [row.index[0] ?? -1, row]));
  const indexes = base.size > 0 ? base.keys() : more.keys();
  return [...indexes]
    .filter((ifIndex) => ifIndex >= 0)
    .map((ifIndex) => interfaceOf(ifIndex, base.get(ifIndex), more.get(ifIndex)));
}

function interfaceOf(ifIndex: number, base: Row | undefined, more: Row | undefined): InterfaceRow {
  return defined({
    ifIndex,
    ifName: more?.text(ifXTable.ifName),
    ifDescr: base?.text(ifTable.ifDescr),
    ifAlias: more?.rawText(ifXTable.ifAlias),
    ifType: base?.int(ifTable.ifType),
    speedBps: speedOf(base?.int(ifTable.ifSpeed, true), more?.int(ifXTable.ifHighSpeed, true)),
    mtu: base?.int(ifTable.ifMtu),
    physAddress: base?.physAddress(ifTable.ifPhysAddress),
    adminStatus: base?.int(ifTable.ifAdminStatus),
    operStatus: base?.int(ifTable.ifOperStatus),
    lastChange: base?.int(ifTable.ifLastChange, true),
  }) as InterfaceRow;
}

/** bit/s: ifHighSpeed (units of 10⁶) where it says more than ifSpeed, which ends at 2³²−1 and is 0 on some fast ports. */
export function speedOf(ifSpeed: number | undefined, ifHighSpeed: number | undefined): number | undefined {
  if (ifHighSpeed === undefined) return ifSpeed;
  return Math.max(ifSpeed ?? 0, ifHighSpeed * 1_000_000);
}
