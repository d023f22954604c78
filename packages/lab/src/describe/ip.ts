/** IP-MIB: ipAddrTable and ipNetToMediaTable (RFC 1213), ipAddressTable, prefixes and ipNetToPhysicalTable (RFC 4293). */
import type { Address, Device } from '../device.ts';
import { addressBytes, ipAddress, macBytes, oid, timeticks } from '../value.ts';
import type { Sheet } from './sheet.ts';

const IP = '1.3.6.1.2.1.4';
const ORIGIN_MANUAL = 2;
const ROW_ACTIVE = 1;

/** `vrf` shows one VRF's addresses; without it those of none. */
export function ip(sheet: Sheet, device: Device, vrf?: string): void {
  const shown = device.addresses.filter((a) => a.listed !== false && a.vrf === vrf);
  sheet.put(`${IP}.1.0`, (device.sysServices & 4) !== 0 ? 1 : 2);
  for (const entry of shown) {
    if (!entry.address.includes(':')) addrRow(sheet, entry);
    if (device.features.includes('ip-address-table')) addressRow(sheet, entry);
  }
  if (vrf === undefined && device.features.includes('arp')) arp(sheet, device);
}

function addrRow(sheet: Sheet, { address, ifIndex, prefixLength }: Address): void {
  sheet.row(`${IP}.20.1`, address, {
    1: ipAddress(address),
    2: ifIndex,
    3: ipAddress(maskOf(prefixLength)),
    4: 1,
    5: 65_535,
  });
}

function addressRow(sheet: Sheet, { address, ifIndex, prefixLength }: Address): void {
  const bytes = addressBytes(address);
  const type = bytes.length === 4 ? 1 : 2;
  const index = `${type}.${bytes.length}.${bytes.join('.')}`;
  const network = networkOf(bytes, prefixLength);
  const prefix = `${ifIndex}.${type}.${bytes.length}.${network.join('.')}.${prefixLength}`;
  sheet.row(`${IP}.34.1`, index, {
    3: ifIndex,
    4: 1,
    5: oid(`${IP}.32.1.5.${prefix}`),
    6: ORIGIN_MANUAL,
    7: 1,
    8: timeticks(0),
    9: timeticks(0),
    10: ROW_ACTIVE,
    11: 2,
  });
  sheet.row(`${IP}.32.1`, prefix, { 5: ORIGIN_MANUAL, 6: 1, 7: 1, 8: 0, 9: 0 });
}

function arp(sheet: Sheet, device: Device): void {
  for (const { ifIndex, address, mac } of device.arp) {
    sheet.row(`${IP}.22.1`, `${ifIndex}.${address}`, {
      1: ifIndex,
      2: macBytes(mac),
      3: ipAddress(address),
      4: 3,
    });
    if (!device.features.includes('ip-address-table')) continue;
    sheet.row(`${IP}.35.1`, `${ifIndex}.1.4.${address}`, {
      4: macBytes(mac),
      5: timeticks(0),
      6: 3,
      7: 1,
      8: 1,
    });
  }
}

const maskOf = (prefixLength: number): string => networkOf(Buffer.alloc(4, 0xff), prefixLength).join('.');

function networkOf(bytes: Buffer, prefixLength: number): Buffer {
  return Buffer.from(
    bytes.map((byte, i) => byte & (0xff00 >> Math.max(0, Math.min(8, prefixLength - i * 8))) & 0xff),
  );
}
