/**
 * Join tokens: a secret (`rcj_`); where the server has a certificate that nobody vouches for, a dot and its SHA-256 in
 * base64url follow, so that the collector can tell it from any other.
 */
import { isSecret, mintSecret } from '../../platform/access/token.ts';

const PIN = /\.[A-Za-z0-9_-]{43}$/;

/** A new secret, and the text to hand over. @param fingerprint SHA-256 of the certificate (DER). */
export function mintJoinToken(fingerprint?: Uint8Array): { secret: string; plaintext: string } {
  const secret = mintSecret('rcj_');
  const pin = fingerprint === undefined ? '' : `.${Buffer.from(fingerprint).toString('base64url')}`;
  return { secret, plaintext: secret + pin };
}

/** The secret part of a text that has the form of a join token and whose checksum fits; undefined otherwise. */
export function joinSecret(text: string): string | undefined {
  const secret = text.replace(PIN, '');
  return isSecret('rcj_', secret) ? secret : undefined;
}
