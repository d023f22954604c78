/** Makers of hardware addresses, by the registry of the IEEE (`rules/catalogue/makers.txt`, derived by `npm run makers`). */
import { readFileSync } from 'node:fs';

export interface Makers {
  /** The maker of an address in lower-case colon form; null where none is registered. */
  of(mac: string): string | null;
  /** Prefixes, in hexadecimal digits, of the makers whose names have this text in them. */
  prefixes(text: string): string[];
}

/** Hexadecimal digits of a prefix, the most exact first: blocks of 36, 28 and 24 bits (MA-S, MA-M, MA-L). */
export const PREFIX_LENGTHS = [9, 7, 6] as const;

/** An address that no maker assigned: the second lowest bit of its first octet is set (IEEE 802, U/L bit). */
export const isLocal = (mac: string): boolean => (Number.parseInt(mac.slice(0, 2), 16) & 2) !== 0;

/** Reads the registry when it is first asked. */
export function openMakers(file: string | URL): Makers {
  let read: Map<string, string> | undefined;
  const registry = () => {
    read ??= readMakers(readFileSync(file, 'utf8'));
    return read;
  };
  return {
    of: (mac) => {
      if (isLocal(mac)) return null;
      const digits = mac.replaceAll(':', '');
      for (const length of PREFIX_LENGTHS) {
        const maker = registry().get(digits.slice(0, length));
        if (maker !== undefined) return maker;
      }
      return null;
    },
    prefixes: (text) => {
      const wanted = text.toLowerCase();
      return [...registry()].flatMap(([prefix, name]) => (name.toLowerCase().includes(wanted) ? prefix : []));
    },
  };
}

/** Lines of a name, a tab and prefixes between blanks. */
function readMakers(text: string): Map<string, string> {
  const prefixes = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [name = '', list] = line.split('\t');
    for (const prefix of list?.split(' ') ?? []) prefixes.set(prefix, name);
  }
  return prefixes;
}
