/**
 * Who this collector is: the files `identity.json` and `key.pem` of the state folder. The key never leaves it; the
 * generation is written down before it is confirmed, so that a copied folder betrays itself at the server.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile, syncFolder, writeNew } from '@rollcall/host/synced-file';
import { z } from 'zod';
import { Refusal, systemReason } from '../platform/refusal.ts';

const identity = z.object({
  format: z.literal(1),
  /** Base address of the server, without a slash at its end. */
  server: z.url({ protocol: /^https?$/ }),
  /** Where the link is opened. */
  path: z.string().startsWith('/').max(200),
  collector: z.uuid(),
  name: z.string().max(255),
  site: z.object({ id: z.uuid(), name: z.string().max(255) }),
  generation: z.int().min(0),
  /** Certificate (PEM) that vouches for the server, where the join token named it by fingerprint. */
  ca: z.string().max(65_536).optional(),
});
export type Identity = z.infer<typeof identity>;

const FILE = 'identity.json';
const KEY = 'key.pem';
const NEXT_KEY = 'key.next.pem';

/** Makes the state folder, readable by nobody else, and proves that it can be written. Throws a Refusal. */
export function prepareFolder(folder: string): void {
  const probe = join(folder, '.writable');
  try {
    makeFolder(folder);
    replaceFile(probe, '', 0o600);
    rmSync(probe);
  } catch (error) {
    throw new Refusal(
      `cannot write to the state folder ${folder}: ${systemReason(error)}; give another with --state, or make it ` +
        `with "install -d -m 700 -o USER ${folder}"`,
    );
  }
}

/** Not `recursive`: that never ends where a file system answers ENOENT to mkdir, as /proc does (Node 20). */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** The identity in a state folder and its key; null when the collector has not joined yet. Throws a Refusal. */
export function loadIdentity(folder: string): { identity: Identity; key: KeyObject } | null {
  const text = readIfThere(join(folder, FILE));
  if (text === null) return null;
  const parsed = identity.safeParse(jsonOf(text));
  if (!parsed.success) {
    const what = parsed.error.issues[0];
    throw new Refusal(
      `${join(folder, FILE)} is damaged (${what?.path.join('.') || 'not JSON'}): restore it, or move the state folder ` +
        'away and join again',
    );
  }
  return { identity: parsed.data, key: loadKey(folder) };
}

function loadKey(folder: string): KeyObject {
  const key = keyIn(join(folder, KEY));
  if (key) return key;
  throw new Refusal(
    `${join(folder, KEY)} is missing: restore it, or move the state folder away and join again`,
  );
}

/** The key in a file, null when there is none. Refuses one that others could have read. */
function keyIn(file: string): KeyObject | null {
  const text = readIfThere(file);
  if (text === null) return null;
  const mode = statSync(file).mode & 0o777;
  if (mode & 0o077) {
    throw new Refusal(
      `${file} can be read by others (mode ${mode.toString(8)}): "chmod 600 ${file}", and if it may have been copied, ` +
        'revoke this collector at the server and join again',
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw new Refusal(`${file} holds no key: restore it, or move the state folder away and join again`);
  }
}

/** A new key in the state folder, replacing one that has no identity yet. */
export function makeKey(folder: string): KeyObject {
  return writeKey(join(folder, KEY));
}

/** Nobody took the key. */
export const dropKey = (folder: string): void => rmSync(join(folder, KEY), { force: true });

/**
 * The key is read back from its text: one that shares its lock with the job that made it hangs for ever where Node
 * (20.20.2, seen) collects that job while the key is exported, because the job takes the lock once more.
 */
function writeKey(file: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  replaceFile(file, privateKey, 0o600);
  return createPrivateKey(privateKey);
}

/**
 * The key of this collector, and while it is being changed the next one. Both stay on disk until the server took one
 * of them: whatever dies in between, one of the two is good.
 */
export class Keys {
  readonly #folder: string;
  #key: KeyObject;
  #next: KeyObject | null;
  #useNext = false;

  constructor(folder: string, key: KeyObject) {
    this.#folder = folder;
    this.#key = key;
    this.#next = keyIn(join(folder, NEXT_KEY));
  }

  /** Signs the next hello. */
  get current(): KeyObject {
    return this.#useNext && this.#next ? this.#next : this.#key;
  }

  /** Makes the next key; the present one goes on signing until `useNext`. */
  makeNext(): KeyObject {
    this.#next = writeKey(join(this.#folder, NEXT_KEY));
    this.#useNext = false;
    return this.#next;
  }

  useNext(): void {
    this.#useNext = this.#next !== null;
  }

  /** The current key was not accepted: the other one's turn, where there is one. */
  tryOther(): void {
    this.#useNext = this.#next !== null && !this.#useNext;
  }

  /** The server took this key: the next one becomes the key. A next one that was not used stays, unused. */
  works(key: KeyObject): void {
    if (key !== this.#next) return;
    renameSync(join(this.#folder, NEXT_KEY), join(this.#folder, KEY));
    // Lasting before the server hears of it: the old key would pass for a copy's from then on.
    syncFolder(this.#folder);
    this.#key = key;
    this.#next = null;
    this.#useNext = false;
  }
}

/**
 * Writes the identity so that after a crash the old or the new one is there, whole. The file before it stays as the
 * place of the next one: a disk without a free block, full of an outbox that waits for the link, lets the link come back.
 */
export function saveIdentity(folder: string, value: Identity): void {
  const file = join(folder, FILE);
  const [next, last] = [`${file}.new`, `${file}.old`];
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (!overwritten(next, text)) writeNew(next, text, 0o600);
  rmSync(last, { force: true });
  if (existsSync(file)) linkSync(file, last);
  renameSync(next, file);
  if (existsSync(last)) renameSync(last, next);
  syncFolder(folder);
}

/** The 32 raw bytes of the public key (the end of its SubjectPublicKeyInfo, RFC 8410), base64. */
export const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64');

/** Ed25519 signature, base64. */
export const signed = (text: string, key: KeyObject): string =>
  sign(null, Buffer.from(text, 'utf8'), key).toString('base64');

/** Writes over a file of ours in the blocks that it has; false when it is not there. */
function overwritten(file: string, text: string): boolean {
  let handle: number;
  try {
    handle = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    ftruncateSync(handle, writeSync(handle, text, 0));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return true;
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Refusal(
      `cannot read ${file}: ${systemReason(error)}; run as the user that owns the state folder`,
    );
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
