/** BRIDGE-MIB (RFC 4188) and Q-BRIDGE-MIB (RFC 4363): ports, forwarding table, VLANs. */
import type { Device, FdbEntry, Port } from '../device.ts';
import { addressBytes, bits, gauge32, macBytes, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const DOT1D = '1.3.6.1.2.1.17';
const LEARNED = 3;

/** `vlan` shows one VLAN's instance only, as `community@vlan` does on Cisco boxes. */
export function bridge(sheet: Sheet, device: Device, vlan?: number): void {
  if (!device.features.includes('bridge')) return;
  const bridging = device.ports.filter((p) => p.bridgePort !== undefined);
  const ports = vlan === undefined ? bridging : bridging.filter((p) => p.trunk || p.vlan === vlan);
  sheet.put(`${DOT1D}.1.1.0`, macBytes(device.mac));
  sheet.put(`${DOT1D}.1.2.0`, ports.length);
  sheet.put(`${DOT1D}.1.3.0`, 2);
  for (const port of ports) {
    sheet.row(`${DOT1D}.1.4.1`, port.bridgePort ?? 0, { 1: port.bridgePort, 2: port.ifIndex });
  }
  sheet.put(`${DOT1D}.2.1.0`, 3);
  sheet.put(`${DOT1D}.2.2.0`, 32_768);
  sheet.put(`${DOT1D}.4.2.0`, 300);
  if (device.features.includes('q-bridge')) qBridge(sheet, device);
  else for (const entry of ofVlan(device, vlan)) fdbRow(sheet, device, entry);
}

/** A box with an instance per VLAN shows VLAN 1 when no VLAN is named. */
function ofVlan(device: Device, vlan: number | undefined): FdbEntry[] {
  if (!device.features.includes('vlan-contexts')) return device.fdb;
  return device.fdb.filter((e) => e.vlan === (vlan ?? 1));
}

function fdbRow(sheet: Sheet, device: Device, entry: FdbEntry): void {
  const bytes = macBytes(entry.mac);
  sheet.row(`${DOT1D}.4.3.1`, bytes.join('.'), {
    1: bytes,
    2: bridgePortOf(device, entry.ifIndex),
    3: LEARNED,
  });
}

const bridgePortOf = (device: Device, ifIndex: number): number =>
  device.ports.find((p) => p.ifIndex === ifIndex)?.bridgePort ?? 0;

function qBridge(sheet: Sheet, device: Device): void {
  const q = `${DOT1D}.7.1`;
  sheet.put(`${q}.1.1.0`, 1);
  sheet.put(`${q}.1.4.0`, gauge32(device.vlans.length));
  for (const { mac, ifIndex, vlan } of device.fdb) {
    sheet.row(`${q}.2.2.1`, `${vlan}.${macBytes(mac).join('.')}`, {
      2: bridgePortOf(device, ifIndex),
      3: LEARNED,
    });
  }
  const bridging = device.ports.filter((p) => p.bridgePort !== undefined);
  const width = Math.ceil(Math.max(0, ...bridging.map((p) => p.bridgePort ?? 0)) / 8);
  for (const { id, name } of device.vlans) {
    const egress = list(
      bridging.filter((p) => p.trunk || p.vlan === id),
      width,
    );
    const untagged = list(
      bridging.filter((p) => p.vlan === id),
      width,
    );
    sheet.row(`${q}.4.2.1`, `0.${id}`, { 3: gauge32(id), 4: egress, 5: untagged, 6: 2, 7: timeticks(0) });
    sheet.row(`${q}.4.3.1`, id, { 1: name, 2: egress, 3: Buffer.alloc(width), 4: untagged, 5: 1 });
  }
  for (const port of bridging)
    sheet.row(`${q}.4.5.1`, port.bridgePort ?? 0, { 1: gauge32(port.vlan), 2: 1, 3: 2 });
}

/** PortList: bit 0 is port 1. */
const list = (ports: Port[], width: number): Buffer =>
  bits(
    ports.map((p) => (p.bridgePort ?? 1) - 1),
    width,
  );

/** CISCO-DHCP-SNOOPING-MIB: AddrType ipv4(1), IpAddress, Interface, LeasedTime, Status active(1), Hostname. */
export function dhcpSnooping(sheet: Sheet, device: Device): void {
  for (const { mac, ifIndex, vlan, address, hostname } of device.bindings)
    sheet.row('1.3.6.1.4.1.9.9.380.1.4.1.1', `${vlan}.${macBytes(mac).join('.')}`, {
      3: 1,
      4: addressBytes(address),
      5: ifIndex,
      6: gauge32(86_400),
      7: 1,
      8: hostname,
    });
}

/** CISCO-VTP-MIB and CISCO-VLAN-MEMBERSHIP-MIB: VLANs of a box that has an instance for each, its trunks and access ports. */
export function vtp(sheet: Sheet, device: Device): void {
  if (!device.features.includes('vlan-contexts')) return;
  const vtpVlanEntry = '1.3.6.1.4.1.9.9.46.1.3.1.1';
  for (const { id, name } of device.vlans)
    sheet.row(vtpVlanEntry, `1.${id}`, { 2: 1, 3: 1, 4: name, 5: 1500 });
  for (const port of device.ports) {
    if (port.bridgePort === undefined) continue;
    const trunking = port.trunk ? 1 : 2;
    // vlanTrunkPortEntry: VlansEnabled, NativeVlan, VlansEnabled2k to 4k, DynamicState on(1) or off(2), DynamicStatus.
    sheet.row('1.3.6.1.4.1.9.9.46.1.6.1.1', port.ifIndex, {
      4: Buffer.concat([Buffer.from([0x7f]), Buffer.alloc(127, 0xff)]),
      5: port.vlan,
      13: trunking,
      14: port.oper === 'up' ? trunking : 2,
      17: Buffer.alloc(128, 0xff),
      18: Buffer.alloc(128, 0xff),
      19: Buffer.concat([Buffer.alloc(127, 0xff), Buffer.from([0xfe])]),
    });
    // vmMembershipEntry: VlanType static(1), Vlan, PortStatus.
    if (!port.trunk)
      sheet.row('1.3.6.1.4.1.9.9.68.1.2.2.1', port.ifIndex, {
        1: 1,
        2: port.vlan,
        3: port.oper === 'up' ? 2 : 1,
      });
  }
}
