/** Short makers of SNMP values, so that device descriptions read as data. */
import { parseAddress } from '@rollcall/shared/ip';
import type { Value } from '@rollcall/snmp/message/pdu';

/** What a description may write down: text and bytes are OCTET STRING, plain numbers INTEGER. */
export type Plain = Value | string | number | Buffer;

export const integer = (value: number): Value => ({ type: 'integer', value });
export const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value, 'utf8') });
export const octets = (value: Buffer): Value => ({ type: 'octets', value });
export const oid = (value: string): Value => ({ type: 'oid', value });
export const ipAddress = (value: string): Value => ({ type: 'ipaddress', value });
/** A Counter32: modulo 2³², as a real one wraps. */
export const counter32 = (value: number): Value => ({
  type: 'counter32',
  value: Math.floor(value) % 0x1_0000_0000,
});
export const gauge32 = (value: number): Value => ({
  type: 'gauge32',
  value: Math.min(Math.floor(value), 0xffff_ffff),
});
/** Hundredths of a second, modulo 2³²: wraps after 497 days. */
export const timeticks = (value: number): Value => ({
  type: 'timeticks',
  value: Math.floor(value) % 0x1_0000_0000,
});
export const counter64 = (value: bigint | number): Value => ({
  type: 'counter64',
  value: typeof value === 'bigint' ? value : BigInt(Math.floor(value)),
});

export const asValue = (plain: Plain): Value => {
  if (typeof plain === 'string') return text(plain);
  if (typeof plain === 'number') return integer(plain);
  return Buffer.isBuffer(plain) ? octets(plain) : plain;
};

/** The six octets of a hardware address in colon form. */
export const macBytes = (mac: string): Buffer => Buffer.from(mac.replaceAll(':', ''), 'hex');
/** An IPv4 or IPv6 address as InetAddress octets (RFC 4001). */
export const addressBytes = (address: string): Buffer => {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new RangeError(`${address}: ${parsed.reason}`);
  const { family, value } = parsed.value;
  return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
};

/** A BITS value of `octetCount` octets with the given bits set; bit 0 is the highest of the first octet (RFC 2578). */
export const bits = (set: Iterable<number>, octetCount: number): Buffer => {
  const bytes = Buffer.alloc(octetCount);
  for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return bytes;
};
