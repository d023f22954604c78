/** The rows of the address map: each is 256 addresses that share their first three bytes. IPv4 only. */

export const BAND = 256;

/** IPv4 address as a number; null for anything else. */
export function ipv4(text: string): number | null {
  const parts = text.split('.');
  if (parts.length !== 4) return null;
  let value = 0;
  for (const part of parts) {
    const byte = Number(part);
    if (!/^\d{1,3}$/.test(part) || byte > 255) return null;
    value = value * 256 + byte;
  }
  return value;
}

export const dotted = (value: number): string =>
  [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join('.');

/** First and last address of `a/n`, `a-b` or `a`; null for IPv6. */
function range(text: string): [first: number, last: number] | null {
  const [from = '', to] = text.split('-');
  if (to !== undefined) {
    const [first, last] = [ipv4(from.trim()), ipv4(to.trim())];
    return first === null || last === null ? null : [first, last];
  }
  const [address = '', length] = from.split('/');
  const value = ipv4(address);
  if (value === null) return null;
  const size = length === undefined ? 1 : 2 ** (32 - Number(length));
  const first = Math.floor(value / size) * size;
  return [first, first + size - 1];
}

function bandsWithin(ranges: readonly string[]): Set<number> {
  const bands = new Set<number>();
  for (const text of ranges) {
    const found = range(text);
    if (!found) continue;
    const [first, last] = found;
    for (let band = Math.floor(first / BAND); band <= Math.floor(last / BAND); band += 1)
      bands.add(band * BAND);
  }
  return bands;
}

/**
 * First addresses of the bands that a scan touches, in order: a job spans from its first address to its last, of which
 * `targets` may name a few only.
 */
export function bandsOf(jobs: readonly { cidr: string }[], targets: string): number[] {
  const wanted = bandsWithin(targets.split(/[\s,]+/).filter((target) => !target.startsWith('!')));
  const planned = bandsWithin(jobs.map(({ cidr }) => cidr));
  return [...planned].filter((band) => wanted.has(band)).sort((a, b) => a - b);
}
