/**
 * Keys of the User-based Security Model: from pass phrase to a key that one engine alone can use (RFC 3414 appendix
 * A.2; longer privacy keys by Blumenthal's and by Reeder's draft), and the message digest (RFC 3414, RFC 7860).
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@rollcall/shared/secret';

const AUTH = {
  md5: { hash: 'md5', key: 16, digest: 12 },
  sha1: { hash: 'sha1', key: 20, digest: 12 },
  sha224: { hash: 'sha224', key: 28, digest: 16 },
  sha256: { hash: 'sha256', key: 32, digest: 24 },
  sha384: { hash: 'sha384', key: 48, digest: 32 },
  sha512: { hash: 'sha512', key: 64, digest: 48 },
} as const;

/** Octets of key that each privacy protocol needs; for DES the second half is its pre-IV. */
const PRIV_KEY = { des: 16, aes128: 16, aes192: 24, aes256: 32, aes192r: 24, aes256r: 32 } as const;

export type DigestProtocol = keyof typeof AUTH;
export type CipherProtocol = keyof typeof PRIV_KEY;
export type AuthProtocol = 'none' | DigestProtocol;
/** `aes192` and `aes256` extend keys by Blumenthal's draft, those with `r` by Reeder's (Cisco). */
export type PrivProtocol = 'none' | CipherProtocol;

/** A user of SNMPv3. Privacy without authentication does not exist (RFC 3411 section 3.4.3). */
export interface UsmUser {
  name: string;
  authProtocol: AuthProtocol;
  authKey?: Secret | undefined;
  privProtocol: PrivProtocol;
  privKey?: Secret | undefined;
}

/** Keys of one user at one engine. */
export interface LocalKeys {
  auth: { protocol: DigestProtocol; key: Buffer } | null;
  priv: { protocol: CipherProtocol; key: Buffer } | null;
}

const PHRASE_OCTETS = 1_048_576;
/** Engines whose keys are kept per user; the one used longest ago goes first. */
const KEPT_ENGINES = 4096;

const masters = new WeakMap<Secret, Map<DigestProtocol, Buffer>>();
const localised = new WeakMap<UsmUser, Map<string, LocalKeys>>();

/** Length of the digest in a message, octets (RFC 3414 section 6, RFC 7860 section 4). */
export const digestLength = (protocol: DigestProtocol): number => AUTH[protocol].digest;

/** Keys of `user` at the engine; kept for the next message, as long as the user object lives. */
export function localKeys(user: UsmUser, engineId: Buffer): LocalKeys {
  let engines = localised.get(user);
  if (!engines) {
    engines = new Map();
    localised.set(user, engines);
  }
  const id = engineId.toString('latin1');
  const known = engines.get(id);
  if (known) {
    engines.delete(id);
    engines.set(id, known);
    return known;
  }
  const keys = deriveKeys(user, engineId);
  engines.set(id, keys);
  if (engines.size > KEPT_ENGINES) {
    const [oldest] = engines.keys();
    if (oldest !== undefined) engines.delete(oldest);
  }
  return keys;
}

function deriveKeys(user: UsmUser, engineId: Buffer): LocalKeys {
  const { authProtocol, privProtocol, authKey, privKey } = user;
  if (authProtocol === 'none' || !authKey) return { auth: null, priv: null };
  const auth = {
    protocol: authProtocol,
    key: localise(authProtocol, masterKey(authProtocol, authKey), engineId),
  };
  if (privProtocol === 'none' || !privKey) return { auth, priv: null };
  const first = localise(authProtocol, masterKey(authProtocol, privKey), engineId);
  const extend = privProtocol.endsWith('r') ? extendReeder : extendBlumenthal;
  const key = extend(authProtocol, first, engineId, PRIV_KEY[privProtocol]);
  return { auth, priv: { protocol: privProtocol, key } };
}

/**
 * The digest of the pass phrase repeated to one mebibyte. It depends on no engine, so it is made once per phrase:
 * 1–2 ms, against microseconds for everything that follows.
 */
function masterKey(protocol: DigestProtocol, phrase: Secret): Buffer {
  let keys = masters.get(phrase);
  if (!keys) {
    keys = new Map();
    masters.set(phrase, keys);
  }
  let key = keys.get(protocol);
  if (!key) {
    key = stretch(protocol, Buffer.from(phrase.reveal(), 'utf8'));
    keys.set(protocol, key);
  }
  return key;
}

const stretch = (protocol: DigestProtocol, phrase: Buffer): Buffer =>
  createHash(AUTH[protocol].hash).update(Buffer.alloc(PHRASE_OCTETS, phrase)).digest();

const localise = (protocol: DigestProtocol, master: Buffer, engineId: Buffer): Buffer =>
  createHash(AUTH[protocol].hash).update(master).update(engineId).update(master).digest();

/** draft-blumenthal-aes-usm-04 section 3.1.2.1: append the digest of all there is until it is enough. */
function extendBlumenthal(
  protocol: DigestProtocol,
  first: Buffer,
  _engineId: Buffer,
  length: number,
): Buffer {
  let key = first;
  while (key.length < length) {
    key = Buffer.concat([key, createHash(AUTH[protocol].hash).update(key).digest()]);
  }
  return key.subarray(0, length);
}

/** draft-reeder-snmpv3-usm-3desede-00 section 2.1: the last key is the pass phrase of the next. */
function extendReeder(protocol: DigestProtocol, first: Buffer, engineId: Buffer, length: number): Buffer {
  let key = first;
  let last = first;
  while (key.length < length) {
    last = localise(protocol, stretch(protocol, last), engineId);
    key = Buffer.concat([key, last]);
  }
  return key.subarray(0, length);
}

const ZEROS = Buffer.alloc(64);

/** The digest of `message`, whose digest field is `length` octets at `offset` and counts as zeros. */
function digestOf(auth: NonNullable<LocalKeys['auth']>, message: Buffer, offset: number): Buffer {
  const { hash, digest } = AUTH[auth.protocol];
  return createHmac(hash, auth.key)
    .update(message.subarray(0, offset))
    .update(ZEROS.subarray(0, digest))
    .update(message.subarray(offset + digest))
    .digest()
    .subarray(0, digest);
}

/** Writes the digest into `message` at `offset`, where `digestLength` octets are reserved. */
export function sign(auth: NonNullable<LocalKeys['auth']>, message: Buffer, offset: number): void {
  digestOf(auth, message, offset).copy(message, offset);
}

/** Whether `digest`, a view of `message`, is right; takes the same time whatever is wrong with it. */
export function verify(auth: NonNullable<LocalKeys['auth']>, message: Buffer, digest: Buffer): boolean {
  if (digest.length !== AUTH[auth.protocol].digest) return false;
  return timingSafeEqual(digestOf(auth, message, digest.byteOffset - message.byteOffset), digest);
}
