/** Secrets that callers hold: API tokens and session ids. Only their SHA-256 is ever stored. */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'svc_';
/** 34 × log2(62) = 202 bits. */
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const TOKEN = /^svc_[0-9A-Za-z]{40}$/;
/** What a token (of a person, or a collector's to join) looks like inside other text, perhaps cut or lengthened. */
const TOKEN_WITHIN = /(svc|rcj)_[0-9A-Za-z]{20,}/g;

/** CRC-32 (ISO 3309) as six base62 digits: tells a mistyped token from a wrong one without asking the database. */
export function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text); digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62))
    digits = BASE62[rest % 62] + digits;
  return digits;
}

/** SHA-256. A secret of 160 random bits and more needs no slow hash (ASVS 6.5.2). */
export const hashOf = (secret: string): Buffer<ArrayBuffer> => createHash('sha256').update(secret).digest();

/** A new API token: `svc_`, 34 random base62 characters, 6 of checksum. */
export function mintToken(): { plaintext: string; hash: Buffer<ArrayBuffer>; hint: string } {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join('');
  const plaintext = PREFIX + random + checksum(random);
  return { plaintext, hash: hashOf(plaintext), hint: plaintext.slice(-4) };
}

/** Whether a text has the form of a token and its checksum fits. */
export function isToken(text: string): boolean {
  if (!TOKEN.test(text)) return false;
  const end = PREFIX.length + RANDOM_LENGTH;
  return checksum(text.slice(PREFIX.length, end)) === text.slice(end);
}

export const containsToken = (text: string): boolean => text.search(TOKEN_WITHIN) >= 0;

/** Second net under the logs; the first is that nobody hands a token to them. */
export const withoutTokens = (text: string): string => text.replace(TOKEN_WITHIN, '$1_***');

/** A new session id: 256 random bits, opaque. */
export const mintSessionId = (): string => randomBytes(32).toString('base64url');
const SESSION_ID = /^[A-Za-z0-9_-]{43}$/;
export const isSessionId = (text: string): boolean => SESSION_ID.test(text);
