/**
 * Who of a site's collectors watches what: rendezvous hashing (Thaler and Ravishankar, 1998). Every instance of the
 * server comes to the same answer without asking another, and a collector that comes or goes moves only its own share.
 * Pure.
 */

/** The collector that watches a device; undefined when there is none. */
export function watcherOf(deviceId: string, collectors: readonly string[]): string | undefined {
  const device = hash(deviceId);
  let best: string | undefined;
  let highest = -1;
  for (const collector of collectors) {
    const score = mix(device ^ Math.imul(hash(collector), 0x9e37_79b1));
    if (score > highest || (score === highest && best !== undefined && collector < best)) {
      best = collector;
      highest = score;
    }
  }
  return best;
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c_9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x0100_0193);
  return value;
}

/** The finalizer of MurmurHash3: every bit of the input moves every bit of the answer. */
function mix(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85eb_ca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2_ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
