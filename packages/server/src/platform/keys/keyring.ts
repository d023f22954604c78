/**
 * Seals secrets for the database: AES-256-GCM with a key from outside it, so that a dump of the database alone tells
 * nothing. A sealed value is bound to its table and row: moved elsewhere it does not open.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from '@rollcall/host/synced-file';
import { StartError } from '../ops/config.ts';

const FORMAT = 1;
const NONCE = 12;
const TAG = 16;
const KEY = 32;
const MAC = 32;
const FILE = 'credential.keys';

/** A value that could not be opened, and why; never with a part of it. */
export class SealBroken extends Error {
  override name = 'SealBroken';
}

/** The row a sealed value belongs to. */
export interface Place {
  table: string;
  row: string;
}

export interface Keyring {
  /** Id of the key that seals. */
  readonly keyId: string;
  seal(place: Place, plain: string): { sealed: Buffer<ArrayBuffer>; keyId: string };
  /** @throws SealBroken when the key is unknown, the value was altered, or it stood in another row. */
  open(place: Place, keyId: string, sealed: Uint8Array): string;
  /** Eight hex digits that are equal for equal texts under the present key, and of no use without it. */
  fingerprint(text: string): string;
  /** A MAC over bytes for one purpose, under the present key. */
  sign(purpose: string, bytes: Buffer): Buffer;
  /** Whether a key of the ring signed it. */
  isSigned(purpose: string, bytes: Buffer, mac: Buffer): boolean;
}

const additional = ({ table, row }: Place): Buffer => Buffer.from(`rollcall\0${table}\0${row}`);
/** HMAC-SHA-256 under a key of the purpose alone. */
const mac = (key: Buffer, purpose: string, bytes: Buffer): Buffer =>
  createHmac('sha256', createHmac('sha256', key).update(`rollcall ${purpose}`).digest())
    .update(bytes)
    .digest();
const idOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

/** A ring of keys, 32 bytes each: the first seals, all open. */
export function keyring(keys: readonly Buffer[]): Keyring {
  const [present] = keys;
  if (!present || keys.some((key) => key.length !== KEY)) throw new Error(`a key has ${KEY} bytes`);
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const keyId = idOf(present);
  const printKey = createHmac('sha256', present).update('rollcall fingerprint').digest();
  return {
    keyId,
    seal: (place, plain) => {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', present, nonce).setAAD(additional(place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return { sealed: Buffer.concat([Buffer.of(FORMAT), nonce, body, cipher.getAuthTag()]), keyId };
    },
    open: (place, id, sealed) => {
      const key = byId.get(id);
      if (!key) throw new SealBroken(`sealed with key ${id}, which is not in the key file`);
      const bytes = Buffer.from(sealed);
      if (bytes[0] !== FORMAT || bytes.length < 1 + NONCE + TAG) throw new SealBroken('not a sealed value');
      const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + NONCE));
      opener.setAAD(additional(place)).setAuthTag(bytes.subarray(-TAG));
      try {
        return opener.update(bytes.subarray(1 + NONCE, -TAG), undefined, 'utf8') + opener.final('utf8');
      } catch {
        throw new SealBroken('altered, or moved from another row');
      }
    },
    sign: (purpose, bytes) => mac(present, purpose, bytes),
    isSigned: (purpose, bytes, given) =>
      given.length === MAC && keys.some((key) => timingSafeEqual(mac(key, purpose, bytes), given)),
    fingerprint: (text) => createHmac('sha256', printKey).update(text).digest('hex').slice(0, 8),
  };
}

export interface KeySource {
  /** Where a key file is made when none is named. */
  folder: string;
  /** A key file by name: must exist. */
  file?: string | undefined;
  /** `CREDENTIALS_DIRECTORY` of the unit: its file `credential.keys` is taken when it is there. */
  credentialsDirectory?: string | undefined;
}

/**
 * Reads the key file, or makes it in the data folder, mode 0600. One base64 key of 32 bytes per line, the newest
 * first; `#` begins a comment. To change the key: `rotate` (reseal.ts).
 */
export function openKeyring({ folder, file, credentialsDirectory }: KeySource): Keyring {
  const given = credentialsDirectory === undefined ? undefined : join(credentialsDirectory, FILE);
  if (file !== undefined) return keyring(readKeys(file));
  if (given !== undefined && exists(given)) return keyring(readKeys(given));
  const own = join(folder, FILE);
  if (!exists(own)) {
    mkdirSync(folder, { recursive: true });
    makeOnce(own, `${randomBytes(KEY).toString('base64')}\n`, 0o600);
  }
  if (process.platform !== 'win32' && (statSync(own).mode & 0o077) !== 0)
    throw new StartError(`${own} can be read by others; make it yours alone: chmod 600 ${own}`);
  return keyring(readKeys(own));
}

const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;

const readKeys = (file: string): Buffer[] => readKeyLines(file).map((line) => Buffer.from(line, 'base64'));

/** The keys of a file as they stand in it, the newest first, without comments. @throws StartError */
export function readKeyLines(file: string): string[] {
  const lines = textOf(file)
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.some((line) => Buffer.from(line, 'base64').length !== KEY))
    throw new StartError(
      `the key file ${file} must hold base64 keys of ${KEY} bytes, one per line: put the right file there`,
    );
  return lines;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `cannot read the key file ${file} (${code}), which opens the stored SNMP credentials: put it back and make it ` +
        'readable for this user, or name another in ROLLCALL_KEY_FILE (keyFile in server.yaml)',
      error,
    );
  }
}
