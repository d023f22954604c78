/** LLDP-MIB (IEEE 802.1AB-2005) and its second version LLDP-V2-MIB (IEEE 802.1AB-2009). */
import { type Device, type Neighbour, type Port, reachable } from '../device.ts';
import { bits, macBytes, oid } from '../value.ts';
import type { Sheet } from './sheet.ts';

const V1 = '1.0.8802.1.1.2.1';
const V2 = '1.3.111.2.802.1.1.13.1';
const CHASSIS_MAC = 4;
/** lldpPortIdSubtype. */
const PORT_ID = { mac: 3, name: 5, index: 7 } as const;

export function lldp(sheet: Sheet, device: Device): void {
  if (!device.features.includes('lldp') && !device.features.includes('lldp-v2')) return;
  const second = device.features.includes('lldp-v2');
  const base = second ? V2 : V1;
  sheet.put(`${base}.3.1.0`, CHASSIS_MAC);
  sheet.put(`${base}.3.2.0`, macBytes(device.mac));
  sheet.put(`${base}.3.3.0`, device.sysName);
  sheet.put(`${base}.3.4.0`, device.sysDescr);
  sheet.put(`${base}.3.5.0`, capabilities(device));
  sheet.put(`${base}.3.6.0`, capabilities(device));
  for (const port of device.ports.filter((p) => p.type === 6)) {
    sheet.row(`${base}.3.7.1`, second ? port.ifIndex : portNumber(device, port), {
      2: PORT_ID[device.lldp.portId],
      3: portId(device, port),
      4: device.lldp.portId === 'name' ? port.descr : port.name,
    });
  }
  device.neighbours
    .filter((n) => n.protocol === 'lldp')
    .forEach((n, i) => {
      remote(sheet, device, n, i + 1);
    });
}

/** A row of the remote table and of its management addresses; the second version has one index and one column more. */
function remote(
  sheet: Sheet,
  device: Device,
  { ifIndex, remote, remotePort }: Neighbour,
  serial: number,
): void {
  const second = device.features.includes('lldp-v2');
  const port = device.ports.find((p) => p.ifIndex === ifIndex);
  const local = second ? `${ifIndex}.1` : `${port ? portNumber(device, port) : ifIndex}`;
  const [base, first] = second ? [V2, 5] : [V1, 4];
  const index = `0.${local}.${serial}`;
  const columns = [
    CHASSIS_MAC,
    macBytes(remote.mac),
    PORT_ID[remote.lldp.portId],
    portId(remote, remotePort),
    remotePort.descr,
    remote.sysName,
    remote.sysDescr,
    capabilities(remote),
    capabilities(remote),
  ];
  sheet.row(`${base}.4.1.1`, index, Object.fromEntries(columns.map((value, i) => [first + i, value])));
  const address = managementAddress(remote);
  if (!address) return;
  sheet.row(`${base}.4.2.1`, `${index}.1.4.${address.address}`, { 3: 2, 4: address.ifIndex, 5: oid('0.0') });
}

const portNumber = (device: Device, port: Port): number =>
  device.lldp.portNumber === 'bridgePort' ? (port.bridgePort ?? port.ifIndex) : port.ifIndex;

function portId(device: Device, port: Port): Buffer | string {
  if (device.lldp.portId === 'mac') return macBytes(port.mac);
  return device.lldp.portId === 'index' ? String(port.ifIndex) : port.name;
}

/** The first IPv4 address the box answers on. */
export const managementAddress = (device: Device) => {
  const first = reachable(device)[0];
  return device.addresses.find((a) => a.address === first);
};

/** LldpSystemCapabilitiesMap: 2 bridge, 3 access point, 4 router, 5 telephone, 7 station. */
function capabilities(device: Device): Buffer {
  if (device.class === 'wireless') return bits([3], 2);
  if (device.class === 'phone') return bits([5], 2);
  const set = [];
  if (device.sysServices & 2) set.push(2);
  if (device.sysServices & 4) set.push(4);
  return bits(set.length ? set : [7], 2);
}
