/** One-time codes (RFC 6238: SHA-1, six digits, 30 s, as every authenticator app takes them) and recovery codes. */
import { RECOVERY_CODES } from '@rollcall/shared/api/second-factor';
import { Secret, TOTP } from 'otpauth';
import { hashOf } from '../../platform/access/token.ts';
import { generatePassword } from '../password.ts';

/** A code counts in the interval before and after its own as well: clocks of phones differ. */
const WINDOW = 1;

const totpOf = (secret: Secret, label: string) => new TOTP({ issuer: 'Rollcall', label, secret });

/** A new secret of 160 bits, in base32 and as the address that a QR code holds. */
export function newSecret(account: string): { secret: string; uri: string } {
  const secret = new Secret({ size: 20 });
  return { secret: secret.base32, uri: totpOf(secret, account).toString() };
}

/** The interval of 30 s that a code belongs to; null where it is none of these. */
export function stepOf(secret: string, code: string, now: number): number | null {
  const totp = totpOf(Secret.fromBase32(secret), '');
  const token = code.replace(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totp.validate({ token, timestamp: now, window: WINDOW });
  return delta === null ? null : totp.counter({ timestamp: now }) + delta;
}

/** New recovery codes of 99 bits, and what is stored of them: so many bits need no slow hash. */
export function newRecoveryCodes(): { codes: string[]; hashes: Buffer<ArrayBuffer>[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, generatePassword);
  return { codes, hashes: codes.map(recoveryHash) };
}

/** However it was typed: with other dashes, or in capitals. */
export const recoveryHash = (code: string): Buffer<ArrayBuffer> =>
  hashOf(`recovery ${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`);
