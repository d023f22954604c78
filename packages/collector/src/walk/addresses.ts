/** The agent's own addresses: IP-MIB of RFC 4293, its older forms, and what some vendors offer instead. */
import { canonicalAddress } from '@rollcall/shared/ip';
import type { AddressRow } from '@rollcall/shared/observation';
import type { WalkedTable } from '@rollcall/snmp/walk';
import { columnsOf, defined, type Row, rowsOf } from './row.ts';
import { addressOf, octetsOf } from './text.ts';

const ipAddressEntry = '1.3.6.1.2.1.4.34.1';
const ipAddress = { ifIndex: 3, type: 4, prefix: 5 };
const ipAddrEntry = '1.3.6.1.2.1.4.20.1';
const ipAddr = { address: 1, ifIndex: 2, netMask: 3 };
const ipv6AddrEntry = '1.3.6.1.2.1.55.1.8.1';
const ipv6Addr = { pfxLength: 2 };
/** CISCO-IETF-IP-MIB: the draft of RFC 4293 that older IOS speaks for IPv6. */
const cIpAddressEntry = '1.3.6.1.4.1.9.10.86.1.1.2.1';
const cIpAddress = { ifIndex: 3, type: 4, prefix: 5 };
const CISCO = '1.3.6.1.4.1.9';
/** TPLINK-IPV6ADDR-MIB: TP-Link's switches report IPv6 addresses nowhere else. */
const tplinkIpv6Entry = '1.3.6.1.4.1.11863.6.50.1.1.1';
const tplinkIpv6 = { address: 4, prefixLength: 5 };
const TPLINK = '1.3.6.1.4.1.11863';

export const addressColumns = (sysObjectId: string | undefined): string[] => [
  ...columnsOf(ipAddressEntry, Object.values(ipAddress)),
  ...columnsOf(ipAddrEntry, Object.values(ipAddr)),
  ...columnsOf(ipv6AddrEntry, Object.values(ipv6Addr)),
  ...(sysObjectId?.startsWith(`${CISCO}.`) ? columnsOf(cIpAddressEntry, Object.values(cIpAddress)) : []),
  ...(sysObjectId?.startsWith(`${TPLINK}.`) ? columnsOf(tplinkIpv6Entry, Object.values(tplinkIpv6)) : []),
];

/** An interface without an address is listed with these by some agents. */
const UNSPECIFIED = new Set(['0.0.0.0', '::']);

/** Addresses, each once; where several tables list one, the newer table counts and older ones fill its gaps. */
export function addressesOf(walked: WalkedTable): AddressRow[] {
  const found = new Map<string, AddressRow>();
  // Net-SNMP lists the broadcast addresses of its networks too: no address of the device.
  const add = (row: AddressRow | undefined) => {
    if (row && row.type !== 'broadcast' && !UNSPECIFIED.has(row.address))
      found.set(row.address, { ...row, ...found.get(row.address) });
  };
  for (const row of rowsOf(walked, ipAddressEntry)) add(fromInetIndex(row, ipAddress));
  for (const row of rowsOf(walked, cIpAddressEntry)) add(fromInetIndex(row, cIpAddress));
  for (const row of rowsOf(walked, ipAddrEntry)) add(fromIpAddr(row));
  for (const row of rowsOf(walked, ipv6AddrEntry)) add(fromIpv6Addr(row));
  for (const row of rowsOf(walked, tplinkIpv6Entry)) add(fromTplinkIpv6(row));
  return [...found.values()];
}

const TYPES = { 1: 'unicast', 2: 'anycast', 3: 'broadcast' } as const;

/** Index: InetAddressType, length, octets. Agents exist that leave the length out. */
function fromInetIndex(row: Row, column: typeof ipAddress): AddressRow | undefined {
  const [, length = 0, ...rest] = row.index;
  const octets = octetsOf(rest.length === length ? rest : row.index.slice(1));
  const address = octets && addressOf(octets);
  if (!address) return undefined;
  const type = row.int(column.type);
  return defined({
    address,
    prefixLength: prefixOf(row.oid(column.prefix), address),
    ifIndex: row.int(column.ifIndex),
    type: type === 1 || type === 2 || type === 3 ? TYPES[type] : undefined,
  }) as AddressRow;
}

/** ipAddressPrefix points at a row of ipAddressPrefixTable, whose last sub-identifier is the length. */
function prefixOf(pointer: string | undefined, address: string): number | undefined {
  const length = Number(pointer?.slice(pointer.lastIndexOf('.') + 1));
  return Number.isInteger(length) && length >= 0 && length <= (address.includes(':') ? 128 : 32)
    ? length
    : undefined;
}

function fromIpAddr(row: Row): AddressRow | undefined {
  const ifIndex = row.int(ipAddr.ifIndex);
  const address = indexedAddress(row.index, ifIndex) ?? row.address(ipAddr.address);
  if (!address) return undefined;
  return defined({ address, prefixLength: maskLength(row.address(ipAddr.netMask)), ifIndex }) as AddressRow;
}

/**
 * The index is the address. FortiOS puts an arc behind it to list one twice, some agents put ifIndex in front of it, and
 * others number their rows: then only ipAdEntAddr has the address.
 */
function indexedAddress(index: readonly number[], ifIndex: number | undefined): string | undefined {
  const arcs = index.length === 5 && index[0] === ifIndex ? index.slice(1) : index.slice(0, 4);
  const octets = arcs.length === 4 ? octetsOf(arcs) : undefined;
  return octets && addressOf(octets);
}

/** Length of a contiguous mask; undefined for any other. */
export function maskLength(mask: string | undefined): number | undefined {
  if (mask === undefined) return undefined;
  const bits = mask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(bits) && bits.length === 32 ? bits.lastIndexOf('1') + 1 : undefined;
}

/** Index: ipv6IfIndex, 16 octets (some agents put a length between them, others the address as text). */
function fromIpv6Addr(row: Row): AddressRow | undefined {
  const [ifIndex, ...rest] = row.index;
  const octets = octetsOf(rest);
  const text = octets ? Buffer.from(octets).toString('latin1') : '';
  const address = /^[\da-f]*:[\da-f:.]+(\/\d+)?$/i.test(text)
    ? canonicalAddress(text.replace(/\/.*/, ''))
    : octets && addressOf(octets.subarray(-16));
  if (!address?.includes(':')) return undefined;
  return defined({ address, prefixLength: row.int(ipv6Addr.pfxLength), ifIndex }) as AddressRow;
}

/** Index: ifIndex, address type, kind, 16 octets. */
function fromTplinkIpv6(row: Row): AddressRow | undefined {
  const octets = row.octets(tplinkIpv6.address);
  const address = octets?.length === 16 ? addressOf(octets) : undefined;
  if (!address) return undefined;
  const prefixLength = row.int(tplinkIpv6.prefixLength);
  return defined({ address, prefixLength, ifIndex: row.index[0] }) as AddressRow;
}
