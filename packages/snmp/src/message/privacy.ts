/**
 * Encryption of scoped PDUs: AES in CFB mode (RFC 3826) by net-snmp, DES in CBC mode (RFC 3414 section 8).
 *
 * net-snmp's ciphers take pass phrases and localise them anew for every message. Its table of ciphers takes new
 * entries, so ours have a localisation that hands back the key it is given. net-snmp is loaded with the first
 * message that needs it: it costs 60 ms and 16 MB that a sweep without v3 does not pay.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type NetSnmp from 'net-snmp';
import type { CipherProtocol, LocalKeys } from './keys.ts';

type Priv = NonNullable<LocalKeys['priv']>;

/** The authoritative engine's state as it stands in the message: part of the initialisation vector. */
export interface EngineState {
  engineId: Buffer;
  engineBoots: number;
  engineTime: number;
}

const AES = {
  aes128: 'aes-128-cfb',
  aes192: 'aes-192-cfb',
  aes256: 'aes-256-cfb',
  aes192r: 'aes-192-cfb',
  aes256r: 'aes-256-cfb',
} as const satisfies Record<Exclude<CipherProtocol, 'des'>, string>;

const DES_BLOCK = 8;
const SALT = 8;

let loaded: (typeof NetSnmp)['Encryption'] | undefined;

function netSnmp(): (typeof NetSnmp)['Encryption'] {
  if (loaded) return loaded;
  const { Encryption } = createRequire(import.meta.url)('net-snmp') as typeof NetSnmp;
  for (const [protocol, algorithm] of Object.entries(AES)) {
    Encryption.algorithms[`keyed-${protocol}`] = {
      CRYPTO_ALGORITHM: algorithm,
      KEY_LENGTH: Number(algorithm.slice(4, 7)) / 8,
      BLOCK_LENGTH: 16,
      encryptPdu: Encryption.encryptPduAes,
      decryptPdu: Encryption.decryptPduAes,
      localizationAlgorithm: (_cipher, _auth, key) => key,
    };
  }
  loaded = Encryption;
  return Encryption;
}

/** Encrypts a scoped PDU under a fresh salt. */
export function encrypt(priv: Priv, scoped: Buffer, engine: EngineState): { payload: Buffer; salt: Buffer } {
  if (priv.protocol === 'des') return encryptDes(priv.key, scoped, engine);
  const { encryptedPdu, msgPrivacyParameters } = netSnmp().encryptPduAes(
    scoped,
    `keyed-${priv.protocol}`,
    priv.key,
    null,
    { engineID: engine.engineId, engineBoots: engine.engineBoots, engineTime: engine.engineTime },
  );
  return { payload: encryptedPdu, salt: msgPrivacyParameters };
}

/** The plain scoped PDU, with DES perhaps followed by padding; null when it cannot be a ciphertext of this cipher. */
export function decrypt(priv: Priv, payload: Buffer, salt: Buffer, engine: EngineState): Buffer | null {
  if (salt.length !== SALT) return null;
  if (priv.protocol === 'des') return decryptDes(priv.key, payload, salt);
  if (!isUnsigned32(engine.engineBoots) || !isUnsigned32(engine.engineTime)) return null;
  return netSnmp().decryptPduAes(payload, `keyed-${priv.protocol}`, salt, priv.key, null, {
    engineID: engine.engineId,
    engineBoots: engine.engineBoots,
    engineTime: engine.engineTime,
  });
}

// OpenSSL 3 has single DES only in its legacy provider. Triple DES with one key three times is single DES.
const desKey = (key: Buffer): Buffer =>
  Buffer.concat([key.subarray(0, 8), key.subarray(0, 8), key.subarray(0, 8)]);

const desVector = (key: Buffer, salt: Buffer): Buffer =>
  Buffer.from(salt.map((octet, i) => octet ^ (key[DES_BLOCK + i] ?? 0)));

function encryptDes(key: Buffer, scoped: Buffer, engine: EngineState): { payload: Buffer; salt: Buffer } {
  const salt = Buffer.alloc(SALT);
  salt.writeUInt32BE(engine.engineBoots >>> 0, 0);
  randomBytes(4).copy(salt, 4);
  const cipher = createCipheriv('des-ede3-cbc', desKey(key), desVector(key, salt)).setAutoPadding(false);
  const padding = Buffer.alloc((DES_BLOCK - (scoped.length % DES_BLOCK)) % DES_BLOCK);
  return { payload: Buffer.concat([cipher.update(scoped), cipher.update(padding), cipher.final()]), salt };
}

function decryptDes(key: Buffer, payload: Buffer, salt: Buffer): Buffer | null {
  if (payload.length === 0 || payload.length % DES_BLOCK !== 0) return null;
  const decipher = createDecipheriv('des-ede3-cbc', desKey(key), desVector(key, salt)).setAutoPadding(false);
  return Buffer.concat([decipher.update(payload), decipher.final()]);
}

const isUnsigned32 = (n: number): boolean => n >= 0 && n <= 0xffff_ffff;
