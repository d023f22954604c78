/** Object identifiers as dotted decimal without a leading dot: `1.3.6.1.2.1.1.5.0`. */

const MAX_ARC = 0xffff_ffff;
const MOST_ARCS = 128;
const DOT = 46;
const ZERO = 48;

/**
 * Parses `oid` into `into` and returns how many sub-identifiers there are; −1 when it is no OID that BER can carry
 * (X.660: first arc 0–2, second below 40 under 0 and 1; RFC 2578 section 3.5: 128 sub-identifiers of 32 bits).
 */
export function writeOidArcs(oid: string, into: number[]): number {
  let count = 0;
  let arc = -1;
  for (let i = 0; i <= oid.length; i++) {
    const code = i === oid.length ? DOT : oid.charCodeAt(i);
    if (code === DOT) {
      if (arc < 0 || count === MOST_ARCS) return -1;
      into[count++] = arc;
      arc = -1;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9) return -1;
    arc = arc < 0 ? digit : arc * 10 + digit;
    if (arc > MAX_ARC) return -1;
  }
  const first = into[0] ?? 0;
  const second = into[1] ?? 0;
  if (count < 2 || first > 2 || (first < 2 && second > 39) || second > MAX_ARC - 80) return -1;
  return count;
}

/** The sub-identifiers, or null when the text is no OID. */
export function parseOid(oid: string): number[] | null {
  const arcs: number[] = [];
  return writeOidArcs(oid, arcs) < 0 ? null : arcs;
}

/**
 * Lexicographic order of two OIDs by sub-identifier: negative when `a` comes first (RFC 3416 section 4.2.2).
 * Both must be well-formed; works on the text without allocating.
 */
export function compareOid(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  const shortest = Math.min(a.length, b.length);
  while (i < shortest && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  // Equal up to here: go back to the start of the sub-identifier in which they differ.
  while (i > 0 && a.charCodeAt(i - 1) !== DOT) i -= 1;
  const left = arcAt(a, i);
  const right = arcAt(b, i);
  if (left !== right) return left - right;
  // The differing sub-identifiers are equal only when one text ends and the other goes on.
  return a.length - b.length;
}

/** Whether `oid` is `prefix` or lies under it. */
export function isUnder(oid: string, prefix: string): boolean {
  return oid.startsWith(prefix) && (oid.length === prefix.length || oid.charCodeAt(prefix.length) === DOT);
}

function arcAt(oid: string, start: number): number {
  let arc = start < oid.length ? 0 : -1;
  for (let i = start; i < oid.length; i++) {
    const digit = oid.charCodeAt(i) - ZERO;
    if (digit < 0) break;
    arc = arc * 10 + digit;
  }
  return arc;
}
