/** Secrets that callers hold: API tokens and session ids. Only their SHA-256 is ever stored. */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 34 × log2(62) = 202 bits. */
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const SECRET = /^[a-z]{3}_([0-9A-Za-z]{34})([0-9A-Za-z]{6})$/;
/** What a token (of a person, or a collector's to join) looks like inside other text, perhaps cut or lengthened. */
const TOKEN_WITHIN = /(svc|rcj)_[0-9A-Za-z]{20,}/g;

/** CRC-32 (ISO 3309) as six base62 digits: tells a mistyped token from a wrong one without asking the database. */
function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text); digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62))
    digits = BASE62[rest % 62] + digits;
  return digits;
}

/** SHA-256. A secret of 160 random bits and more needs no slow hash (ASVS 6.5.2). */
export const hashOf = (secret: string): Buffer<ArrayBuffer> => createHash('sha256').update(secret).digest();

/** A new secret: a prefix that says of what, 34 random base62 characters, 6 of checksum. */
export function mintSecret(prefix: 'svc_' | 'rcj_'): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join('');
  return prefix + random + checksum(random);
}

/** Whether a text has the form of such a secret and its checksum fits. */
export function isSecret(prefix: 'svc_' | 'rcj_', text: string): boolean {
  const [, random = '', sum] = SECRET.exec(text) ?? [];
  return text.startsWith(prefix) && checksum(random) === sum;
}

/** A new API token. */
export function mintToken(): { plaintext: string; hash: Buffer<ArrayBuffer>; hint: string } {
  const plaintext = mintSecret('svc_');
  return { plaintext, hash: hashOf(plaintext), hint: plaintext.slice(-4) };
}

export const isToken = (text: string): boolean => isSecret('svc_', text);

export const containsToken = (text: string): boolean => text.search(TOKEN_WITHIN) >= 0;

/** Second net under the logs; the first is that nobody hands a token to them. */
export const withoutTokens = (text: string): string => text.replace(TOKEN_WITHIN, '$1_***');

/** A new session id: 256 random bits, opaque. */
export const mintSessionId = (): string => randomBytes(32).toString('base64url');
const SESSION_ID = /^[A-Za-z0-9_-]{43}$/;
export const isSessionId = (text: string): boolean => SESSION_ID.test(text);
