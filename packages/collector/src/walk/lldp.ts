/** LLDP (IEEE 802.1AB): both editions of its MIB, and the tables of vendors that keep it elsewhere. */
import { CAPABILITIES, type Capability } from '@rollcall/shared/far-end';
import type { NeighbourRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import type { LocalPort, Ports, PortWords } from './ports.ts';
import { columnsOf, defined, type Row, rowsOf } from './row.ts';
import { addressOf, macOf, octetsOf, textOf, textOrHex } from './text.ts';

/** LLDP-MIB (IEEE 802.1AB-2005). */
const lldpRemEntry = '1.0.8802.1.1.2.1.4.1.1';
const lldpRem = {
  chassisIdSubtype: 4,
  chassisId: 5,
  portIdSubtype: 6,
  portId: 7,
  portDesc: 8,
  sysName: 9,
  sysDesc: 10,
  capabilities: 12,
};
const lldpLocPortEntry = '1.0.8802.1.1.2.1.3.7.1';
const lldpLocPort = { portIdSubtype: 2, portId: 3, portDesc: 4 };
/** Accessible columns start at 3; lldpRemManAddrIfSubtype is the one that every agent has. */
const lldpRemManAddr = '1.0.8802.1.1.2.1.4.2.1.3';
/** LLDP-V2-MIB (IEEE 802.1AB-2009): the index names the local ifIndex itself. */
const lldpV2RemEntry = '1.3.111.2.802.1.1.13.1.4.1.1';
const lldpV2Rem = {
  chassisIdSubtype: 5,
  chassisId: 6,
  portIdSubtype: 7,
  portId: 8,
  portDesc: 9,
  sysName: 10,
  sysDesc: 11,
  capabilities: 13,
};
/** TIMETRA-LLDP-MIB, Nokia SR OS: a table per destination address; the index names the local ifIndex. */
const NOKIA = '1.3.6.1.4.1.6527';
const tmnxLldpRemEntry = `${NOKIA}.3.1.2.59.4.1.1`;
/** TPLINK-LLDPINFO-MIB: the same as text. The index names the local ifIndex. */
const TPLINK = '1.3.6.1.4.1.11863';
const tplinkLldpEntry = `${TPLINK}.6.35.1.2.2.1`;
const tplinkLldp = { chassisId: 4, portId: 6, portDesc: 8, sysName: 9, sysDesc: 10, address: 13 };
/** mtxrNeighborInterfaceID: RouterOS numbers all its LLDP neighbours on port 0, and gives the interface here. */
const MIKROTIK = '1.3.6.1.4.1.14988';
const mtxrNeighborInterface = { entry: `${MIKROTIK}.1.1.11.1.1`, column: 8 };

export const lldpColumns = (sysObjectId: string | undefined): string[] => {
  const of = (enterprise: string, entry: string, columns: object) =>
    sysObjectId?.startsWith(`${enterprise}.`) ? columnsOf(entry, Object.values(columns)) : [];
  return [
    ...columnsOf(lldpRemEntry, Object.values(lldpRem)),
    ...columnsOf(lldpLocPortEntry, Object.values(lldpLocPort)),
    lldpRemManAddr,
    ...columnsOf(lldpV2RemEntry, Object.values(lldpV2Rem)),
    ...of(NOKIA, tmnxLldpRemEntry, lldpRem),
    ...of(TPLINK, tplinkLldpEntry, tplinkLldp),
  ];
};

/** Scalars: chassis id subtype and chassis id of the agent itself, both editions. */
export const LLDP_LOCAL = {
  v1: { subtype: '1.0.8802.1.1.2.1.3.1.0', id: '1.0.8802.1.1.2.1.3.2.0' },
  v2: { subtype: '1.3.111.2.802.1.1.13.1.3.1.0', id: '1.3.111.2.802.1.1.13.1.3.2.0' },
};

/** Of the sources that repeat each other the first that says anything is taken. */
export function lldpNeighbours(walked: WalkedTable, ports: Ports): NeighbourRow[] {
  const byIfIndex = (row: Row) => ports.byIfIndex(row.index[1]);
  const sources = [
    () => rowsOf(walked, lldpV2RemEntry).map((row) => lldpRow(row, lldpV2Rem, byIfIndex(row))),
    () => firstEdition(walked, ports),
    () => rowsOf(walked, tmnxLldpRemEntry).map((row) => lldpRow(row, lldpRem, byIfIndex(row))),
    () => rowsOf(walked, tplinkLldpEntry).map((row) => tplinkRow(row, ports.byIfIndex(row.index[0]))),
  ];
  for (const source of sources) {
    const rows = source();
    if (rows.length > 0) return rows;
  }
  return [];
}

function firstEdition(walked: WalkedTable, ports: Ports): NeighbourRow[] {
  const local = new Map(rowsOf(walked, lldpLocPortEntry).map((row) => [row.index[0] ?? -1, row]));
  const mikrotik = new Map(
    rowsOf(walked, mtxrNeighborInterface.entry).map((row) => [
      row.index[0],
      row.int(mtxrNeighborInterface.column),
    ]),
  );
  const addresses = managementAddresses(walked);
  return rowsOf(walked, lldpRemEntry).map((row) => {
    const [, number = -1, remote] = row.index;
    const inside = number === 0 ? mikrotik.get(remote) : undefined;
    const port = inside ? ports.byIfIndex(inside) : ports.byLldp(number, wordsOf(local.get(number)));
    const neighbour = lldpRow(row, lldpRem, port);
    const known = addresses.get(row.index.slice(0, 3).join('.'));
    return known ? { ...neighbour, addresses: known } : neighbour;
  });
}

const wordsOf = (row: Row | undefined): PortWords => ({
  id: portIdText(row?.int(lldpLocPort.portIdSubtype), row?.octets(lldpLocPort.portId)),
  description: row?.text(lldpLocPort.portDesc),
});

function lldpRow(row: Row, column: typeof lldpRem, local: LocalPort): NeighbourRow {
  return defined({
    protocol: 'lldp' as const,
    ...local,
    chassisId: chassisIdOf(row.int(column.chassisIdSubtype), row.octets(column.chassisId)),
    portId: portIdText(row.int(column.portIdSubtype), row.octets(column.portId)),
    portDescription: row.text(column.portDesc),
    sysName: row.text(column.sysName),
    sysDescr: row.text(column.sysDesc),
    capabilities: capabilitiesOf(row.octets(column.capabilities)),
  }) as NeighbourRow;
}

/** A BITS: the first bit, other, is the highest of the first octet. */
function capabilitiesOf(octets: Buffer | undefined): Capability[] | undefined {
  const [first] = octets ?? [];
  return first === undefined ? undefined : CAPABILITIES.filter((_, i) => (first & (0x40 >> i)) !== 0);
}

function tplinkRow(row: Row, local: LocalPort): NeighbourRow {
  const mac = row.mac(tplinkLldp.chassisId);
  const chassis = row.text(tplinkLldp.chassisId);
  return defined({
    protocol: 'lldp' as const,
    ...local,
    chassisId: mac ? `macAddress:${mac}` : chassis && `local:${chassis}`.slice(0, 300),
    portId: row.text(tplinkLldp.portId),
    portDescription: row.text(tplinkLldp.portDesc),
    sysName: row.text(tplinkLldp.sysName),
    sysDescr: row.text(tplinkLldp.sysDesc),
  }) as NeighbourRow;
}

/** Index: time mark, local port, remote index, address subtype, length, octets. */
function managementAddresses(walked: WalkedTable): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [index, cells] of walked.rows) {
    if (!cells.has(lldpRemManAddr)) continue;
    const arcs = index.split('.').map(Number);
    const octets = octetsOf(arcs.slice(5));
    const address = octets && addressOf(octets);
    if (!address) continue;
    const key = arcs.slice(0, 3).join('.');
    const list = found.get(key);
    if (!list) found.set(key, [address]);
    else if (list.length < 16) list.push(address);
  }
  return found;
}

const CHASSIS_SUBTYPES = [
  '',
  'chassisComponent',
  'interfaceAlias',
  'portComponent',
  'macAddress',
  'networkAddress',
  'interfaceName',
  'local',
];
const PORT_SUBTYPES = [
  '',
  'interfaceAlias',
  'portComponent',
  'macAddress',
  'networkAddress',
  'interfaceName',
  'agentCircuitId',
  'local',
];

/** `macAddress:00:1b:…`: subtype name of LLDP-MIB, then the id in the form its subtype means. */
export function chassisIdOf(subtype: number | undefined, octets: Buffer | undefined): string | undefined {
  if (!octets || octets.length === 0) return undefined;
  const name = CHASSIS_SUBTYPES[subtype ?? 0] || 'unknown';
  return `${name}:${idText(name, octets)}`.slice(0, 300);
}

function idText(subtype: string, octets: Buffer): string {
  if (subtype === 'macAddress') return macOf(octets) ?? octets.toString('hex');
  // networkAddress: one octet of IANA address family, then the address.
  if (subtype === 'networkAddress') return addressOf(octets.subarray(1)) ?? octets.toString('hex');
  return textOrHex(octets);
}

const portIdText = (subtype: number | undefined, octets: Buffer | undefined): string | undefined =>
  octets && octets.length > 0 ? idText(PORT_SUBTYPES[subtype ?? 0] ?? '', octets) : undefined;

/** Value of `lldpLocChassisId` as a neighbour would report it. */
export const localChassisId = (
  subtype: number | undefined,
  octets: Buffer | undefined,
): string | undefined => (octets && textOf(octets) !== '' ? chassisIdOf(subtype, octets) : undefined);
