/** Neighbours at the other ends of cables: LLDP, and what vendors speak beside or instead of it. */
import type { Capability } from '@rollcall/shared/far-end';
import type { InterfaceRow, NeighbourRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { lldpColumns, lldpNeighbours } from './lldp.ts';
import { type LocalPort, Ports } from './ports.ts';
import { columnsOf, defined, type Row, rowsOf } from './row.ts';
import { addressOf, macOf, octetsOf } from './text.ts';

/** One table of neighbours. */
interface Discovery {
  protocol: NeighbourRow['protocol'];
  /** Asked of agents under these OIDs; of everybody where absent. */
  under?: readonly string[];
  entry: string;
  columns: Readonly<Record<string, number>>;
  read: (row: Row, ports: Ports) => { local: LocalPort } & Omit<NeighbourRow, 'protocol'>;
}

/** Tables in the manner of CISCO-CDP-MIB: ifIndex comes first in the index. */
const likeCdp = (
  protocol: NeighbourRow['protocol'],
  entry: string,
  columns: Record<'address' | 'version' | 'deviceId' | 'devicePort' | 'platform', number> & {
    capabilities?: number;
  },
  under?: string,
): Discovery => ({
  protocol,
  entry,
  columns,
  ...(under ? { under: [under] } : {}),
  read: (row, ports) => ({
    local: ports.byIfIndex(row.index[0]),
    sysName: row.text(columns.deviceId),
    portId: row.text(columns.devicePort),
    platform: row.text(columns.platform),
    version: row.text(columns.version),
    ...(columns.capabilities && { capabilities: cdpCapabilities(row.octets(columns.capabilities)) }),
    addresses: addressesOf(row, columns.address),
  }),
});

/** Capabilities of CDP by their bits, the lowest first. */
const CDP_CAPABILITIES: readonly [bits: number, Capability][] = [
  [0x01, 'router'],
  [0x0e, 'bridge'],
  [0x10, 'station'],
  [0x40, 'repeater'],
  [0x80, 'phone'],
];
function cdpCapabilities(octets: Buffer | undefined): Capability[] | undefined {
  const last = octets?.at(-1);
  if (last === undefined) return undefined;
  return CDP_CAPABILITIES.flatMap(([bits, name]) => ((last & bits) === 0 ? [] : [name]));
}

const ISDP = { address: 3, version: 5, deviceId: 6, devicePort: 7, platform: 8 };
const FDP = { address: 5, version: 6, deviceId: 3, devicePort: 7, platform: 8 };
const CDP = { address: 4, version: 5, deviceId: 6, devicePort: 7, platform: 8, capabilities: 9 };
const EDP = { name: 3, slot: 5, port: 6 };
const SONMP = { segment: 4, mac: 5 };
const MNDP = { address: 2, mac: 3, version: 4, platform: 5, identity: 6, interface: 8 };
const isdp = (tree: string) =>
  likeCdp('cdp', `${tree}.39.1.2.1.1`, ISDP, tree.split('.').slice(0, 7).join('.'));

const DISCOVERIES: readonly Discovery[] = [
  // CISCO-CDP-MIB, also answered by others.
  likeCdp('cdp', '1.3.6.1.4.1.9.9.23.1.2.1.1', CDP),
  // FASTPATH-ISDP-MIB: CDP on switches made of Broadcom's software, in the OID tree of the vendor.
  isdp('1.3.6.1.4.1.4413.1.1'),
  isdp('1.3.6.1.4.1.4526.10'),
  isdp('1.3.6.1.4.1.674.10895.5000.2.6132.1.1'),
  // FOUNDRY-SN-SWITCH-GROUP-MIB snFdpCacheTable: FDP, and CDP heard by a Foundry.
  likeCdp('fdp', '1.3.6.1.4.1.1991.1.1.3.20.1.2.1.1', FDP, '1.3.6.1.4.1.1991'),
  {
    // EXTREME-EDP-MIB extremeEdpTable. Index: ifIndex, the neighbour's id: two octets and its MAC.
    protocol: 'edp',
    under: ['1.3.6.1.4.1.1916'],
    entry: '1.3.6.1.4.1.1916.1.13.2.1',
    columns: EDP,
    read: (row, ports) => {
      const octets = octetsOf(row.index.slice(3, 9));
      const mac = octets && macOf(Buffer.from(octets));
      const port = row.int(EDP.port);
      return {
        local: ports.byIfIndex(row.index[0]),
        chassisId: mac && `macAddress:${mac}`,
        sysName: row.text(EDP.name),
        portId: port === undefined ? undefined : `${row.int(EDP.slot) ?? 1}:${port}`,
      };
    },
  },
  {
    // S5-ETH-MULTISEG-TOPOLOGY-MIB s5EnMsTopNmmTable (SONMP). Index: slot, port, address, segment; slot 0 is the agent.
    protocol: 'ndp',
    under: ['1.3.6.1.4.1.45', '1.3.6.1.4.1.2272'],
    entry: '1.3.6.1.4.1.45.1.6.13.2.1.1',
    columns: SONMP,
    read: (row, ports) => {
      const [slot = 0, port = 0, ...rest] = row.index;
      const octets = octetsOf(rest.slice(0, 4));
      const address = octets && addressOf(octets);
      const mac = row.mac(SONMP.mac);
      const segment = row.int(SONMP.segment) ?? 0;
      return {
        local: slot === 0 ? {} : ports.byName(`${slot}/${port}`),
        chassisId: mac && `macAddress:${mac}`,
        // The segment's id is the far port: slot × 256 + port.
        portId: segment > 0 ? `${segment >> 8}/${segment & 0xff}` : undefined,
        addresses: address ? [address] : undefined,
      };
    },
  },
];

/** MIKROTIK-MIB mtxrNeighborTable (MNDP). Numbered as RouterOS' rows of LLDP-MIB, which it repeats. */
const MIKROTIK = '1.3.6.1.4.1.14988';
const mtxrNeighborEntry = `${MIKROTIK}.1.1.11.1.1`;

export const neighbourColumns = (sysObjectId: string | undefined): string[] => [
  ...lldpColumns(sysObjectId),
  ...DISCOVERIES.filter(({ under }) => !under || isUnder(sysObjectId, under)).flatMap(({ entry, columns }) =>
    columnsOf(entry, Object.values(columns)),
  ),
  ...(isUnder(sysObjectId, [MIKROTIK]) ? columnsOf(mtxrNeighborEntry, Object.values(MNDP)) : []),
];

const isUnder = (oid: string | undefined, roots: readonly string[]): boolean =>
  roots.some((root) => oid?.startsWith(`${root}.`));

export function neighboursOf(walked: WalkedTable, interfaces: readonly InterfaceRow[]): NeighbourRow[] {
  const ports = new Ports(interfaces);
  const lldp = lldpNeighbours(walked, ports);
  const others = DISCOVERIES.flatMap(({ protocol, entry, read }) =>
    rowsOf(walked, entry)
      .filter((row) => protocol !== 'ndp' || row.index[0] !== 0)
      .map((row) => {
        const { local, ...far } = read(row, ports);
        return defined({ protocol, ...local, ...far }) as NeighbourRow;
      }),
  );
  return [...lldp, ...others, ...mndpNeighbours(walked, ports, lldp)];
}

/** Neighbours of RouterOS that LLDP does not report already. */
function mndpNeighbours(walked: WalkedTable, ports: Ports, lldp: readonly NeighbourRow[]): NeighbourRow[] {
  const known = new Set(lldp.map(({ ifIndex, sysName }) => `${ifIndex} ${sysName}`));
  return rowsOf(walked, mtxrNeighborEntry).flatMap((row) => {
    const local = ports.byIfIndex(row.int(MNDP.interface));
    const sysName = row.text(MNDP.identity);
    const mac = row.mac(MNDP.mac);
    if ((sysName === undefined && mac === undefined) || known.has(`${local.ifIndex} ${sysName}`)) return [];
    return [
      defined({
        protocol: 'mndp' as const,
        ...local,
        chassisId: mac && `macAddress:${mac}`,
        sysName,
        platform: row.text(MNDP.platform),
        version: row.text(MNDP.version),
        addresses: addressesOf(row, MNDP.address),
      }) as NeighbourRow,
    ];
  });
}

/** One address, as IpAddress or as octets of an InetAddress. */
function addressesOf(row: Row, column: number): string[] | undefined {
  const octets = row.octets(column);
  const address = row.address(column) ?? (octets && addressOf(octets));
  return address && address !== '0.0.0.0' ? [address] : undefined;
}
