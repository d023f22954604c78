/**
 * Join tokens: `rcj_`, 34 random base62 characters (202 bits), 6 of checksum; where the server has a certificate that
 * nobody vouches for, a dot and its SHA-256 in base64url follow, so that the collector can tell it from any other.
 */
import { randomInt } from 'node:crypto';
import { BASE62, checksum } from '../../platform/access/token.ts';

const RANDOM_LENGTH = 34;
const FORM = /^rcj_([0-9A-Za-z]{34})([0-9A-Za-z]{6})(?:\.[A-Za-z0-9_-]{43})?$/;

/** A new secret, and the text to hand over. @param fingerprint SHA-256 of the certificate (DER). */
export function mintJoinToken(fingerprint?: Uint8Array): { secret: string; plaintext: string } {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join('');
  const secret = `rcj_${random}${checksum(random)}`;
  const pin = fingerprint === undefined ? '' : `.${Buffer.from(fingerprint).toString('base64url')}`;
  return { secret, plaintext: secret + pin };
}

/** The secret part of a text that has the form of a join token and whose checksum fits; undefined otherwise. */
export function joinSecret(text: string): string | undefined {
  const [, random = '', sum = ''] = FORM.exec(text) ?? [];
  return random !== '' && checksum(random) === sum ? `rcj_${random}${sum}` : undefined;
}
