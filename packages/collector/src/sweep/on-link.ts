/** Hardware addresses of hosts on our own links, from the kernel's ARP table (proc(5), /proc/self/net/arp; IPv4 only). */
import { readFileSync } from 'node:fs';
import type { Clock } from '@rollcall/shared/clock';

const FRESH_MS = 250;
const COMPLETE = 0x2;

export class OnLink {
  readonly #clock: Clock;
  readonly #file: string;
  #table = new Map<string, string>();
  #readAt = Number.NEGATIVE_INFINITY;

  // Not /proc/net, which a unit with ProcSubset=pid has not.
  constructor(clock: Clock, file = '/proc/self/net/arp') {
    this.#clock = clock;
    this.#file = file;
  }

  /** Lower-case colon form, or undefined: not on a link of ours, or not known. */
  macOf(address: string): string | undefined {
    const now = this.#clock.monotonic();
    if (!this.#table.has(address) && now - this.#readAt > FRESH_MS) {
      this.#readAt = now;
      this.#table = read(this.#file);
    }
    return this.#table.get(address);
  }
}

function read(file: string): Map<string, string> {
  try {
    return parseArp(readFileSync(file, 'utf8'));
  } catch {
    return new Map();
  }
}

/** Columns: address, hardware type, flags, hardware address, mask, device. */
export function parseArp(text: string): Map<string, string> {
  const entries = text
    .split('\n')
    .slice(1)
    .flatMap((line): [string, string][] => {
      const [address = '', type, flags, mac = ''] = line.trim().split(/\s+/);
      const known =
        type === '0x1' && (Number(flags) & COMPLETE) !== 0 && /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac);
      return known && mac !== '00:00:00:00:00:00' ? [[address, mac.toLowerCase()]] : [];
    });
  return new Map(entries);
}
