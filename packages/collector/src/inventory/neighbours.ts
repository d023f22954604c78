/** Who sits at the other end of the cables: LLDP (both editions of its MIB), CDP. */
import type { InterfaceRow, NeighbourRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '../snmp/walk.ts';
import { columnsOf, type Row, rowsOf, told } from './row.ts';
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
};
/** CISCO-CDP-MIB, also answered by others. */
const cdpCacheEntry = '1.3.6.1.4.1.9.9.23.1.2.1.1';
const cdpCache = { addressType: 3, address: 4, version: 5, deviceId: 6, devicePort: 7, platform: 8 };

export const NEIGHBOUR_COLUMNS = [
  ...columnsOf(lldpRemEntry, Object.values(lldpRem)),
  ...columnsOf(lldpLocPortEntry, Object.values(lldpLocPort)),
  lldpRemManAddr,
  ...columnsOf(lldpV2RemEntry, Object.values(lldpV2Rem)),
  ...columnsOf(cdpCacheEntry, Object.values(cdpCache)),
];

/** Scalars: chassis id subtype and chassis id of the agent itself, both editions. */
export const LLDP_LOCAL = {
  v1: { subtype: '1.0.8802.1.1.2.1.3.1.0', id: '1.0.8802.1.1.2.1.3.2.0' },
  v2: { subtype: '1.3.111.2.802.1.1.13.1.3.1.0', id: '1.3.111.2.802.1.1.13.1.3.2.0' },
};

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

export function neighboursOf(walked: WalkedTable, interfaces: readonly InterfaceRow[]): NeighbourRow[] {
  const ports = new Ports(interfaces);
  const v2 = rowsOf(walked, lldpV2RemEntry).map((row) =>
    lldpRow(row, lldpV2Rem, ports.byIfIndex(row.index[1])),
  );
  const lldp = v2.length > 0 ? v2 : lldpNeighbours(walked, ports);
  const cdp = rowsOf(walked, cdpCacheEntry).map((row) => cdpRow(row, ports.byIfIndex(row.index[0])));
  return [...lldp, ...cdp];
}

interface LocalPort {
  ifIndex?: number;
  localPort?: string;
}

/** LLDP's own port numbers are not ifIndexes: found by the port's id or description, else by the number itself. */
function lldpNeighbours(walked: WalkedTable, ports: Ports): NeighbourRow[] {
  const local = new Map(rowsOf(walked, lldpLocPortEntry).map((row) => [row.index[0] ?? -1, row]));
  const addresses = managementAddresses(walked);
  return rowsOf(walked, lldpRemEntry).map((row) => {
    const number = row.index[1] ?? -1;
    const neighbour = lldpRow(row, lldpRem, ports.byLldp(number, local.get(number)));
    const known = addresses.get(row.index.slice(0, 3).join('.'));
    return known ? { ...neighbour, addresses: known } : neighbour;
  });
}

function lldpRow(row: Row, column: typeof lldpRem, local: LocalPort): NeighbourRow {
  return told({
    protocol: 'lldp' as const,
    ...local,
    chassisId: chassisIdOf(row.int(column.chassisIdSubtype), row.octets(column.chassisId)),
    portId: portIdText(row.int(column.portIdSubtype), row.octets(column.portId)),
    portDescription: row.text(column.portDesc),
    sysName: row.text(column.sysName),
    sysDescr: row.text(column.sysDesc),
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

function cdpRow(row: Row, local: LocalPort): NeighbourRow {
  const octets = row.octets(cdpCache.address);
  const address = octets && addressOf(octets);
  return told({
    protocol: 'cdp' as const,
    ...local,
    chassisId: undefined,
    sysName: row.text(cdpCache.deviceId),
    portId: row.text(cdpCache.devicePort),
    platform: row.text(cdpCache.platform),
    version: row.text(cdpCache.version),
    addresses: address && address !== '0.0.0.0' ? [address] : undefined,
  }) as NeighbourRow;
}

/** The agent's interfaces by what LLDP may call them. */
class Ports {
  readonly #byIndex = new Map<number, InterfaceRow>();
  readonly #byName = new Map<string, InterfaceRow>();
  readonly #byMac = new Map<string, InterfaceRow | null>();

  constructor(interfaces: readonly InterfaceRow[]) {
    for (const row of interfaces) {
      this.#byIndex.set(row.ifIndex, row);
      for (const name of [row.ifName, row.ifDescr, row.ifAlias])
        if (name) this.#byName.set(name.toLowerCase(), row);
      // A MAC that several ports share names none of them.
      if (row.physAddress) this.#byMac.set(row.physAddress, this.#byMac.has(row.physAddress) ? null : row);
    }
  }

  byIfIndex(ifIndex: number | undefined): LocalPort {
    if (ifIndex === undefined) return {};
    return this.#named(this.#byIndex.get(ifIndex)) ?? { ifIndex };
  }

  byLldp(number: number, local: Row | undefined): LocalPort {
    const octets = local?.octets(lldpLocPort.portId);
    const subtype = local?.int(lldpLocPort.portIdSubtype);
    const id = octets && octets.length > 0 ? portIdText(subtype, octets) : undefined;
    const description = local?.text(lldpLocPort.portDesc);
    const found =
      (id !== undefined && (this.#byName.get(id.toLowerCase()) ?? this.#byMac.get(id))) ||
      (description !== undefined && this.#byName.get(description.toLowerCase())) ||
      (id !== undefined && /^\d+$/.test(id) && this.#byIndex.get(Number(id))) ||
      this.#byIndex.get(number);
    if (found) return this.#named(found) ?? {};
    const name = description ?? id;
    return name === undefined ? {} : { localPort: name };
  }

  #named(row: InterfaceRow | undefined): LocalPort | undefined {
    if (!row) return undefined;
    const localPort = row.ifName ?? row.ifDescr;
    return localPort === undefined ? { ifIndex: row.ifIndex } : { ifIndex: row.ifIndex, localPort };
  }
}

/** Value of `lldpLocChassisId` as a neighbour would report it. */
export const localChassisId = (
  subtype: number | undefined,
  octets: Buffer | undefined,
): string | undefined => (octets && textOf(octets) !== '' ? chassisIdOf(subtype, octets) : undefined);
