/** Numbers that look random and follow from a name, so that every run of the lab is the same site. */

/** A whole number in [0, below) out of `text` (FNV-1a, mixed). */
export function digest(text: string, below: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) % below;
}

export const chance = (text: string, probability: number): boolean =>
  digest(text, 1_000_000) < probability * 1e6;

const SIGNS = 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789';

/** `#` becomes a digit, `@` a letter or digit; the rest stays. */
export const fillPattern = (pattern: string, seed: string): string =>
  pattern.replace(/[#@]/g, (sign, at: number) => {
    const n = digest(`${seed} ${at}`, sign === '#' ? 10 : SIGNS.length);
    return sign === '#' ? String(n) : (SIGNS[n] ?? 'A');
  });

/** The hardware address `n` behind `mac`. */
export function macPlus(mac: string, n: number): string {
  const value = (BigInt(`0x${mac.replaceAll(':', '')}`) + BigInt(n)).toString(16).padStart(12, '0');
  return value.match(/../g)?.join(':') ?? mac;
}
