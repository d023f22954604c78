/** Octets from devices as text and addresses, by the meaning that MIBs give them. */
import { isAscii, isUtf8 } from 'node:buffer';
import { isIPv6 } from 'node:net';
import { canonicalAddress } from '@rollcall/shared/ip';

/** Longest text kept of one value, characters; DisplayString ends at 255, but sysDescr of some devices does not. */
export const TEXT_MOST = 4096;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder('windows-1252');

/** Control characters but tab and line breaks, and the marks that reverse text: shown as escapes, never obeyed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Text of an octet string: UTF-8 where it is valid, else windows-1252 (what old agents send); padding NULs cut off,
 * other control characters made visible as `\x1b`. Ends at TEXT_MOST with `…`.
 */
export function textOf(octets: Buffer): string {
  let end = octets.length;
  while (end > 0 && octets[end - 1] === 0) end -= 1;
  const bytes = octets.subarray(0, end);
  const text = decoded(bytes);
  const shown = text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return shown.length > TEXT_MOST ? `${cut(shown, TEXT_MOST - 1)}…` : shown;
}

function decoded(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return utf8.decode(bytes);
  } catch {
    return latin1.decode(bytes);
  }
}

/** Cuts without tearing a surrogate pair, which PostgreSQL would refuse. */
const cut = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
};

const MAC_TEXT = /^[0-9a-f]{1,2}([:-][0-9a-f]{1,2}){5}$/i;

/** Hardware address in lower-case colon form, or undefined when the octets are none of 6 (or its text, as some agents send). */
export function macOf(octets: Buffer): string | undefined {
  if (octets.length === 6) return octets.toString('hex').replace(PAIRS, '$&:');
  if (octets.length >= 11 && octets.length <= 17) {
    const text = octets.toString('latin1');
    if (MAC_TEXT.test(text))
      return text
        .toLowerCase()
        .split(/[:-]/)
        .map((part) => part.padStart(2, '0'))
        .join(':');
  }
  return undefined;
}

/** Two digits that others follow. */
const PAIRS = /..(?=.)/g;

/** An address that identifies a device: not zero, not all ones, not multicast. */
export const isUnicastMac = (mac: string): boolean =>
  mac !== '00:00:00:00:00:00' && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;

/** ifPhysAddress: colon form of 6 octets, hex of any other length, undefined when empty. */
export function physAddressOf(octets: Buffer): string | undefined {
  if (octets.length === 0) return undefined;
  return macOf(octets) ?? octets.subarray(0, 64).toString('hex');
}

/** InetAddress (RFC 4001) from its octets: 4 or 16, with 4 octets of zone id ignored; undefined for all else. */
export function addressOf(octets: Uint8Array): string | undefined {
  if (octets.length === 4 || octets.length === 8) return octets.subarray(0, 4).join('.');
  if (octets.length !== 16 && octets.length !== 20) return undefined;
  const words = Array.from({ length: 8 }, (_, i) =>
    (((octets[i * 2] ?? 0) << 8) | (octets[i * 2 + 1] ?? 0)).toString(16),
  );
  const text = words.join(':');
  return isIPv6(text) ? (canonicalAddress(text) ?? undefined) : undefined;
}

/** Sub-identifiers of an index as octets; undefined when one is no octet. */
export function octetsOf(arcs: readonly number[]): Uint8Array | undefined {
  return arcs.every((arc) => arc >= 0 && arc <= 255) ? Uint8Array.from(arcs) : undefined;
}

/**
 * Printable as text, or hex with 0x in front: for values whose meaning only a rule knows. Text of an old code page has
 * few octets above 0x7f; a hardware address may have nothing else.
 */
export function textOrHex(octets: Buffer): string {
  const high = octets.filter((byte) => byte >= 0x80).length;
  const printable =
    octets.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d || byte === 0) &&
    (high * 2 <= octets.length || isUtf8(octets));
  return printable ? textOf(octets) : `0x${octets.subarray(0, 512).toString('hex')}`;
}
