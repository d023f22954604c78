/**
 * VLANs and the ports in them: Q-BRIDGE-MIB (RFC 4363), and of Cisco switches, which have no such table, CISCO-VTP-MIB and
 * CISCO-VLAN-MEMBERSHIP-MIB.
 */
import type { VlanRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { BASE_PORTS, portsOf } from './bridge.ts';
import { columnsOf, defined, type Row, rowsOf } from './row.ts';

const dot1qVlanCurrentEntry = '1.3.6.1.2.1.17.7.1.4.2.1';
const dot1qVlanCurrent = { egress: 4, untagged: 5 };
const dot1qVlanStaticEntry = '1.3.6.1.2.1.17.7.1.4.3.1';
const dot1qVlanStatic = { name: 1, egress: 2, untagged: 4 };

const CISCO = '1.3.6.1.4.1.9';
/** Index: the management domain, then the VLAN. */
const vtpVlanEntry = `${CISCO}.9.46.1.3.1.1`;
const vtpVlan = { state: 2, name: 4 };
/** Index: ifIndex. */
const vlanTrunkPortEntry = `${CISCO}.9.46.1.6.1.1`;
const vlanTrunkPort = { native: 5, state: 13, status: 14 };
/** VlansEnabled, Enabled2k, Enabled3k and Enabled4k: each a bit for 1,024 VLANs, the first of them VLAN 0. */
const ENABLED = [4, 17, 18, 19];
const ENABLED_BITS = 1024;
/** Of the status. */
const TRUNKING = 1;
/** States on(1) and onNoNegotiate(5): it is a trunk by its configuration, also while its link is down, when it is not trunking. */
const ALWAYS = [1, 5];
/** Of access ports. Index: ifIndex. */
const vmMembershipEntry = `${CISCO}.9.68.1.2.2.1`;
const vmVlan = 2;
/** For telephones at access ports, tagged; 0 (priority alone), 4095 (untagged) and 4096 (none) are no VLANs. Index: ifIndex. */
const vmVoiceVlanEntry = `${CISCO}.9.68.1.5.1.1`;
const vmVoiceVlanId = 1;

/** VLANs 1002–1005 exist on every Cisco switch for Token Ring and FDDI and hold nothing. */
export const isReservedVlan = (vlan: number): boolean => vlan >= 1002 && vlan <= 1005;

/** Most members of one VLAN (`vlanRow`). */
const MEMBERS_MOST = 4096;

const STANDARD = [
  ...BASE_PORTS,
  ...columnsOf(dot1qVlanCurrentEntry, Object.values(dot1qVlanCurrent)),
  ...columnsOf(dot1qVlanStaticEntry, Object.values(dot1qVlanStatic)),
  ...columnsOf(vtpVlanEntry, Object.values(vtpVlan)),
];
const OF_CISCO = [
  ...columnsOf(vlanTrunkPortEntry, [...Object.values(vlanTrunkPort), ...ENABLED]),
  ...columnsOf(vmMembershipEntry, [vmVlan]),
  ...columnsOf(vmVoiceVlanEntry, [vmVoiceVlanId]),
];

export const vlanColumns = (sysObjectId: string | undefined): string[] =>
  sysObjectId?.startsWith(`${CISCO}.`) ? [...STANDARD, ...OF_CISCO] : STANDARD;

export function vlansOf(walked: WalkedTable): VlanRow[] {
  const ports = portsOf(walked);
  const vlans = new Map<number, VlanRow>();
  const add = (vlan: number | undefined, more: Omit<VlanRow, 'vlan'>) => {
    if (vlan === undefined || vlan < 1 || vlan > 4094) return;
    vlans.set(vlan, { ...more, ...vlans.get(vlan), vlan });
  };
  for (const row of rowsOf(walked, dot1qVlanStaticEntry)) {
    add(row.index[0], members(row, dot1qVlanStatic, ports, row.text(dot1qVlanStatic.name)));
  }
  for (const row of rowsOf(walked, dot1qVlanCurrentEntry))
    add(row.index[1], members(row, dot1qVlanCurrent, ports));
  for (const row of rowsOf(walked, vtpVlanEntry))
    add(row.index[1], defined({ name: row.text(vtpVlan.name) }));
  for (const [vlan, found] of ciscoMembers(walked, new Set(vlans.keys()))) add(vlan, found);
  return [...vlans.values()].sort((a, b) => a.vlan - b.vlan);
}

/** Members by VLAN. A trunk allows VLANs that do not exist; it is a member of those that do. */
function ciscoMembers(
  walked: WalkedTable,
  existing: ReadonlySet<number>,
): Map<number, { egress: number[]; untagged: number[] }> {
  const found = new Map<number, { egress: number[]; untagged: number[] }>();
  const join = (vlan: number, ifIndex: number, plain: boolean) => {
    const own = found.get(vlan) ?? { egress: [], untagged: [] };
    found.set(vlan, own);
    if (own.egress.length >= MEMBERS_MOST) return;
    own.egress.push(ifIndex);
    if (plain) own.untagged.push(ifIndex);
  };
  const trunks = new Set<number>();
  for (const row of rowsOf(walked, vlanTrunkPortEntry)) {
    const [ifIndex] = row.index;
    const isTrunk =
      row.int(vlanTrunkPort.status) === TRUNKING || ALWAYS.includes(row.int(vlanTrunkPort.state) ?? 0);
    if (ifIndex === undefined || !isTrunk) continue;
    trunks.add(ifIndex);
    const enabled = ENABLED.map((column) => row.octets(column));
    const native = row.int(vlanTrunkPort.native);
    for (const vlan of existing)
      if (isEnabled(enabled, vlan) && !isReservedVlan(vlan)) join(vlan, ifIndex, vlan === native);
  }
  const voice = new Map(
    rowsOf(walked, vmVoiceVlanEntry).map((row) => [row.index[0], row.int(vmVoiceVlanId)]),
  );
  for (const row of rowsOf(walked, vmMembershipEntry)) {
    const [ifIndex] = row.index;
    const vlan = row.int(vmVlan);
    // A trunk that was an access port before may still show the VLAN of that time.
    if (ifIndex === undefined || !vlan || trunks.has(ifIndex)) continue;
    join(vlan, ifIndex, true);
    const phones = voice.get(ifIndex);
    if (phones && phones !== vlan) join(phones, ifIndex, false);
  }
  return found;
}

function isEnabled(enabled: readonly (Buffer | undefined)[], vlan: number): boolean {
  const bit = vlan % ENABLED_BITS;
  const octet = enabled[Math.floor(vlan / ENABLED_BITS)]?.[bit >> 3] ?? 0;
  return (octet & (0x80 >> (bit & 7))) !== 0;
}

function members(
  row: Row,
  column: { egress: number; untagged: number },
  ports: ReadonlyMap<number, number>,
  name?: string,
): Omit<VlanRow, 'vlan'> {
  return defined({
    name,
    egress: portList(row.octets(column.egress), ports),
    untagged: portList(row.octets(column.untagged), ports),
  });
}

/** PortList (Q-BRIDGE-MIB): port 1 is the highest bit of the first octet. Ports as ifIndex. */
export function portList(
  octets: Buffer | undefined,
  ports: ReadonlyMap<number, number>,
): number[] | undefined {
  if (!octets) return undefined;
  const members: number[] = [];
  for (let i = 0; i < octets.length; i++) {
    for (let bit = 0; bit < 8; bit++) {
      if (((octets[i] ?? 0) & (0x80 >> bit)) === 0) continue;
      const ifIndex = ports.get(i * 8 + bit + 1);
      if (ifIndex !== undefined && members.length < MEMBERS_MOST) members.push(ifIndex);
    }
  }
  return members;
}
