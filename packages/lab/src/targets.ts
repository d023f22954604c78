/** Writes a set of IPv4 addresses as the `targets` of a scan. */

/** An IPv4 address as a number. */
export const toNumber = (address: string): number =>
  address.split('.').reduce((n, part) => n * 256 + Number(part), 0);
const toAddress = (n: number): string => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.');

/**
 * The shortest list that scans exactly `addresses`. A scan skips the first and the last address of a range larger
 * than /31, so a range is used where all between those two are in the set, whether they themselves are or not.
 */
export function coverOf(addresses: Iterable<string>): string {
  const left = new Set([...addresses].map(toNumber));
  const parts: { first: number; text: string }[] = [];
  for (let length = 16; length <= 31; length++) {
    const size = 2 ** (32 - length);
    const margin = length === 31 ? 0 : 1;
    const blocks = new Set([...left].map((n) => Math.floor(n / size) * size));
    for (const first of blocks) {
      const inside = Array.from({ length: size - 2 * margin }, (_, i) => first + margin + i);
      if (!inside.every((n) => left.has(n))) continue;
      for (const n of inside) left.delete(n);
      parts.push({ first, text: `${toAddress(first)}/${length}` });
    }
  }
  for (const n of left) parts.push({ first: n, text: toAddress(n) });
  return parts
    .sort((a, b) => a.first - b.first)
    .map((p) => p.text)
    .join(', ');
}
