/**
 * Hardware addresses of hosts on our own links, from the kernel's ARP table (proc(5), /proc/self/net/arp; IPv4 only), and of
 * our own host, which that does not list: one for all of its addresses, because they are of one device.
 */
import { readFileSync } from 'node:fs';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { Clock } from '@rollcall/shared/clock';

/** The kernel's ARP table is read again when it is older than this. */
const FRESH_MS = 250;
const COMPLETE = 0x2;

export class OnLink {
  readonly #clock: Clock;
  readonly #file: string;
  #table: ArpTable = new Map();
  #readAt = Number.NEGATIVE_INFINITY;

  readonly #interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]>;

  // Not /proc/net, which a unit with ProcSubset=pid has not.
  constructor(clock: Clock, file = '/proc/self/net/arp', interfaces = networkInterfaces) {
    this.#clock = clock;
    this.#file = file;
    this.#interfaces = interfaces;
  }

  /** Lower-case colon form, or undefined: not on a link of ours, or not known. */
  macOf(address: string): string | undefined {
    return this.#entry(address) ?? undefined;
  }

  /** It was asked for its hardware address, and nobody answered. */
  isSilent(address: string): boolean {
    return this.#entry(address) === null;
  }

  #entry(address: string): string | null | undefined {
    const now = this.#clock.monotonic();
    if (!this.#table.get(address) && now - this.#readAt > FRESH_MS) {
      this.#readAt = now;
      this.#table = new Map([...read(this.#file), ...readOwn(this.#interfaces)]);
    }
    return this.#table.get(address);
  }
}

/** Address → hardware address; null: nobody answers there. */
type ArpTable = Map<string, string | null>;

function read(file: string): ArpTable {
  try {
    return parseArp(readFileSync(file, 'utf8'));
  } catch {
    return new Map();
  }
}

function readOwn(interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]>): ArpTable {
  try {
    return ownTable(interfaces());
  } catch {
    // A sandbox without netlink sockets.
    return new Map();
  }
}

/** Our own addresses, all with the hardware address that is likeliest to stay: one of its maker, else the lowest. */
function ownTable(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): ArpTable {
  const own = Object.values(interfaces).flatMap((each) => each ?? []);
  const macs = own.map(({ mac }) => mac.toLowerCase()).filter((mac) => mac !== '00:00:00:00:00:00');
  const [mac] = macs.sort((a, b) => isLocal(a) - isLocal(b) || (a < b ? -1 : 1));
  return new Map(
    own.flatMap(({ address }): [string, string][] =>
      mac && identifiesADevice(address) ? [[address, mac]] : [],
    ),
  );
}

/** 1 where software made it up (IEEE 802, the U/L bit). */
const isLocal = (mac: string): number => (Number.parseInt(mac.slice(0, 2), 16) >> 1) & 1;

/** Columns: address, hardware type, flags, hardware address, mask, device. */
function parseArp(text: string): ArpTable {
  const entries = text
    .split('\n')
    .slice(1)
    .flatMap((line): [string, string | null][] => {
      const [address = '', type, flags, mac = ''] = line.trim().split(/\s+/);
      if (type !== '0x1' || !/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac)) return [];
      if ((Number(flags) & COMPLETE) === 0) return [[address, null]];
      return mac === '00:00:00:00:00:00' ? [] : [[address, mac.toLowerCase()]];
    });
  return new Map(entries);
}
