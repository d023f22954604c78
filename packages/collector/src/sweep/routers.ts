/**
 * The router on the way to an address, and whether it is there: silence behind a router that answers nobody says nothing
 * about the silent. By the kernel's table of routes (proc(5), /proc/self/net/route; IPv4 only).
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '@rollcall/shared/clock';
import { parseAddress } from '@rollcall/shared/ip';

/** The kernel's routes are read again when they are older than this. */
const FRESH_MS = 1000;
/** A router of the Internet has more; it is no host for a collector. */
const MOST_ROUTES = 10_000;
/** RTF_UP and RTF_GATEWAY (linux/route.h). */
const UP = 1;
const GATEWAY = 2;

export interface Route {
  network: number;
  mask: number;
  /** Dotted decimal, null on the link itself. */
  router: string | null;
}

export class Routers {
  readonly #clock: Clock;
  readonly #isSilent: (router: string) => boolean;
  readonly #file: string;
  #routes: Route[] = [];
  #readAt = Number.NEGATIVE_INFINITY;

  /** `isSilent`: whether an address on a link of ours was looked for and answers nobody. */
  constructor(clock: Clock, isSilent: (router: string) => boolean, file = '/proc/self/net/route') {
    this.#clock = clock;
    this.#isSilent = isSilent;
    this.#file = file;
  }

  /** The router towards an address when it does not answer on its link; undefined: it does, there is none, or it is not known. */
  silentTowards(address: string): string | undefined {
    const now = this.#clock.monotonic();
    if (now - this.#readAt > FRESH_MS) {
      this.#readAt = now;
      this.#routes = read(this.#file);
    }
    const parsed = parseAddress(address);
    if (!parsed.ok || parsed.value.family !== 4) return undefined;
    const value = Number(parsed.value.value);
    const route = this.#routes.find(({ network, mask }) => (value & mask) >>> 0 === network);
    return route?.router && this.#isSilent(route.router) ? route.router : undefined;
  }
}

function read(file: string): Route[] {
  try {
    return parseRoutes(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

/** Columns: interface, destination, gateway, flags, two counters, metric, mask, …; hexadecimal, octets reversed. Best first. */
function parseRoutes(text: string): Route[] {
  return text
    .split('\n', MOST_ROUTES + 1)
    .slice(1)
    .flatMap((line): (Route & { metric: number })[] => {
      const [, destination = '', gateway = '', flags = '', , , metric, mask = ''] = line.trim().split(/\s+/);
      const bits = Number.parseInt(flags, 16);
      if (!(bits & UP) || ![destination, gateway, mask].every((hex) => /^[0-9A-F]{8}$/.test(hex))) return [];
      const octets = Buffer.from(gateway, 'hex').reverse();
      return [
        {
          network: numberOf(destination),
          mask: numberOf(mask),
          router: bits & GATEWAY ? octets.join('.') : null,
          metric: Number(metric),
        },
      ];
    })
    .sort((a, b) => b.mask - a.mask || a.metric - b.metric)
    .map(({ network, mask, router }) => ({ network, mask, router }));
}

const numberOf = (hex: string): number => Buffer.from(hex, 'hex').readUInt32LE();
