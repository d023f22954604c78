/** CISCO-CDP-MIB: what a Cisco-like box says of itself and hears from its neighbours. */
import type { Device } from '../device.ts';
import { addressBytes } from '../value.ts';
import { managementAddress } from './lldp.ts';
import type { Sheet } from './sheet.ts';

const CDP = '1.3.6.1.4.1.9.9.23.1';
/** CiscoNetworkProtocol ip. */
const PROTOCOL_IP = 1;

export function cdp(sheet: Sheet, device: Device): void {
  if (!device.features.includes('cdp')) return;
  sheet.put(`${CDP}.3.1.0`, 1);
  sheet.put(`${CDP}.3.4.0`, device.sysName);
  for (const port of device.ports.filter((p) => p.type === 6)) {
    sheet.row(`${CDP}.1.1.1`, port.ifIndex, { 2: 1, 6: port.descr });
  }
  device.neighbours
    .filter((n) => n.protocol === 'cdp')
    .forEach(({ ifIndex, remote, remotePort }, i) => {
      const address = managementAddress(remote)?.address;
      sheet.row(`${CDP}.2.1.1`, `${ifIndex}.${i + 1}`, {
        3: PROTOCOL_IP,
        4: address ? addressBytes(address) : Buffer.alloc(0),
        5: remote.sysDescr,
        6: remote.sysName,
        7: remotePort.descr,
        8: platform(remote),
        9: capabilities(remote),
        11: remotePort.vlan,
        12: 3,
      });
    });
}

const platform = ({ vendor, model }: Device): string =>
  vendor === 'Cisco' ? `cisco ${model ?? ''}` : `${vendor ?? ''} ${model ?? ''}`.trim();

/** Bit 0 router, 3 switch, 4 host, 7 phone (from the low end, as CDP carries it). */
function capabilities(device: Device): Buffer {
  let map = device.class === 'phone' ? 0x90 : 0;
  if (device.sysServices & 4) map |= 0x01;
  if (device.sysServices & 2) map |= 0x08;
  return Buffer.of(0, 0, 0, map === 0 ? 0x10 : map);
}
