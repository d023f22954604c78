/** Encryption of scoped PDUs: AES in CFB mode (RFC 3826) and DES in CBC mode (RFC 3414 section 8). */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
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

/** Encrypts a scoped PDU under a fresh salt. */
export function encrypt(priv: Priv, scoped: Buffer, engine: EngineState): { payload: Buffer; salt: Buffer } {
  if (priv.protocol === 'des') return encryptDes(priv.key, scoped, engine);
  const salt = randomBytes(SALT);
  const cipher = createCipheriv(AES[priv.protocol], priv.key, aesVector(engine, salt));
  return { payload: Buffer.concat([cipher.update(scoped), cipher.final()]), salt };
}

/** The plain scoped PDU, with DES perhaps followed by padding; null when it cannot be a ciphertext of this cipher. */
export function decrypt(priv: Priv, payload: Buffer, salt: Buffer, engine: EngineState): Buffer | null {
  if (salt.length !== SALT) return null;
  if (priv.protocol === 'des') return decryptDes(priv.key, payload, salt);
  if (!isUnsigned32(engine.engineBoots) || !isUnsigned32(engine.engineTime)) return null;
  const decipher = createDecipheriv(AES[priv.protocol], priv.key, aesVector(engine, salt));
  return Buffer.concat([decipher.update(payload), decipher.final()]);
}

/** RFC 3826 section 3.1.2.1. */
function aesVector({ engineBoots, engineTime }: EngineState, salt: Buffer): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeUInt32BE(engineBoots, 0);
  vector.writeUInt32BE(engineTime, 4);
  salt.copy(vector, 8);
  return vector;
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
