/** What is plugged in at the demonstration site and answers nobody: PCs, telephones with a PC behind, wireless clients. */
import type { Station } from '../network.ts';

/** Prefixes of Dell, HP, Apple, Raspberry Pi, Hikvision and Intel; the last is made up, as telephones do for privacy. */
const PREFIXES = ['d4:be:d9', '3c:52:82', '3c:22:fb', 'b8:27:eb', 'c0:56:e3', '00:1b:21', '02:5c:1a'];
/** What each of them calls itself, with a number. */
const NAMES = ['DESKTOP', 'PC', 'macbook', 'raspberrypi', 'camera', 'LAPTOP', 'iphone'];

/** One on each of some desks, seven behind a switch under a table, four behind each access point. */
export function stations(): Station[] {
  const ports = [
    ...numbered(12, (n) => `access-3:Gi1/0/${16 + n}`),
    ...numbered(7, () => 'access-3:Gi1/0/30'),
    ...numbered(8, (n) => `access-9:ge-0/0/${n}`),
    ...numbered(5, (n) => `access-1:Gi1/0/${n + 1}`).flatMap((port) => numbered(4, () => port)),
  ];
  return ports.map((at, n) => ({
    at,
    mac: `${PREFIXES[n % PREFIXES.length]}:4e:${octet(n >> 4)}:${octet((n * 37) % 256)}`,
    // Every fifth has said nothing that a router heard.
    ...(n % 5 !== 4 && { address: `127.20.50.${100 + n}`, name: `${NAMES[n % NAMES.length]}-${100 + n}` }),
  }));
}

const octet = (n: number): string => n.toString(16).padStart(2, '0');
const numbered = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
